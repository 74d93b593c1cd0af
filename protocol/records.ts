// Every record of the protocol as a table in wire order.
// Knows no operation codes, no sessions and no I/O.
// Used by operations.ts, which says what each request and reply is made of, and by session.ts.
//
// Source of the field order: zookeeper-jute/src/main/resources/zookeeper.jute.

import {
  boolean,
  buffer,
  int,
  long,
  nullableUstring,
  record,
  trailing,
  type Type,
  ustring,
  vector,
} from "./jute.ts";
import type * as znode from "./znode.ts";

/** The wire form of {@linkcode Stat}. */
export const Stat: Type<znode.Stat> = record("Stat", {
  czxid: long,
  mzxid: long,
  ctime: long,
  mtime: long,
  version: int,
  cversion: int,
  aversion: int,
  ephemeralOwner: long,
  dataLength: int,
  numChildren: int,
  pzxid: long,
});

/** Some clients send null where the scheme needs no identity, as for `auth`. */
const nullAsEmpty: Type<string> = {
  name: "ustring",
  write: (to, value) => to.text(value),
  read: (from) => from.text() ?? "",
};

/** The wire form of {@linkcode Acl}; jute has the last two fields in a record Id of their own, which has the same bytes. */
export const Acl: Type<znode.Acl> = record("ACL", {
  perms: int,
  scheme: ustring,
  id: nullAsEmpty,
});

/** The wire form of {@linkcode ClientInfo}. */
export const ClientInfo: Type<znode.ClientInfo> = record("ClientInfo", {
  authScheme: ustring,
  user: nullableUstring,
});

// Connection and headers

export const ConnectRequest = record("ConnectRequest", {
  protocolVersion: int,
  lastZxidSeen: long,
  timeOut: int,
  sessionId: long,
  passwd: buffer,
  readOnly: trailing(boolean),
});

export const ConnectResponse = record("ConnectResponse", {
  protocolVersion: int,
  timeOut: int,
  sessionId: long,
  passwd: buffer,
  readOnly: trailing(boolean),
});

export const RequestHeader = record("RequestHeader", { xid: int, type: int });

export const ReplyHeader = record("ReplyHeader", {
  xid: int,
  zxid: long,
  err: int,
});

export const MultiHeader = record("MultiHeader", {
  type: int,
  done: boolean,
  err: int,
});

export const AuthPacket = record("AuthPacket", {
  type: int,
  scheme: ustring,
  auth: buffer,
});

/** GetSASLRequest and SetSASLResponse: the same both ways. */
export const SaslToken = record("SaslToken", { token: buffer });

export const WatcherEvent = record("WatcherEvent", {
  type: int,
  state: int,
  path: ustring,
});

// Requests

export const Empty: Type<null> = {
  name: "Empty",
  write() {},
  read: () => null,
};

export const PathRequest = record("PathRequest", { path: ustring });

export const PathWatchRequest = record("PathWatchRequest", {
  path: ustring,
  watch: boolean,
});

export const PathVersionRequest = record("PathVersionRequest", {
  path: ustring,
  version: int,
});

export const PathTypeRequest = record("PathTypeRequest", {
  path: ustring,
  type: int,
});

export const CreateRequest = record("CreateRequest", {
  path: ustring,
  data: buffer,
  acl: vector(Acl),
  flags: int,
});

export const CreateTtlRequest = record("CreateTTLRequest", {
  path: ustring,
  data: buffer,
  acl: vector(Acl),
  flags: int,
  ttl: long,
});

export const SetDataRequest = record("SetDataRequest", {
  path: ustring,
  data: buffer,
  version: int,
});

export const SetAclRequest = record("SetACLRequest", {
  path: ustring,
  acl: vector(Acl),
  version: int,
});

export const AddWatchRequest = record("AddWatchRequest", {
  path: ustring,
  mode: int,
});

export const SetWatches = record("SetWatches", {
  relativeZxid: long,
  dataWatches: vector(ustring),
  existWatches: vector(ustring),
  childWatches: vector(ustring),
});

export const SetWatches2 = record("SetWatches2", {
  relativeZxid: long,
  dataWatches: vector(ustring),
  existWatches: vector(ustring),
  childWatches: vector(ustring),
  persistentWatches: vector(ustring),
  persistentRecursiveWatches: vector(ustring),
});

export const GetEphemeralsRequest = record("GetEphemeralsRequest", {
  prefixPath: ustring,
});

export const ReconfigRequest = record("ReconfigRequest", {
  joiningServers: nullableUstring,
  leavingServers: nullableUstring,
  newMembers: nullableUstring,
  curConfigId: long,
});

// Replies

export const PathResponse = record("PathResponse", { path: ustring });

export const StatResponse = record("StatResponse", { stat: Stat });

export const Create2Response = record("Create2Response", {
  path: ustring,
  stat: Stat,
});

export const GetDataResponse = record("GetDataResponse", {
  data: buffer,
  stat: Stat,
});

export const GetAclResponse = record("GetACLResponse", {
  acl: vector(Acl),
  stat: Stat,
});

export const GetChildrenResponse = record("GetChildrenResponse", {
  children: vector(ustring),
});

export const GetChildren2Response = record("GetChildren2Response", {
  children: vector(ustring),
  stat: Stat,
});

export const GetAllChildrenNumberResponse = record(
  "GetAllChildrenNumberResponse",
  { totalNumber: int },
);

export const GetEphemeralsResponse = record("GetEphemeralsResponse", {
  ephemerals: vector(ustring),
});

export const WhoAmIResponse = record("WhoAmIResponse", {
  clientInfo: vector(ClientInfo),
});

export const ErrorResponse = record("ErrorResponse", { err: int });
