// Every record of the protocol as a table in wire order, and the types readers see.
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

/** What a server keeps about a znode besides its data. Zxids are transaction ids; times are the server's clock. */
export interface Stat {
  /** Transaction that created the znode: unique, and growing over the life of the ensemble. */
  czxid: bigint;
  /** Transaction that last set the data. */
  mzxid: bigint;
  /** When it was created, in ms since 1970. */
  ctime: bigint;
  /** When its data was last set, in ms since 1970. */
  mtime: bigint;
  /** How often the data was set. */
  version: number;
  /** Creates plus deletes of children, in 32 bits: not the counter of sequential znodes. */
  cversion: number;
  /** How often the ACL was set. */
  aversion: number;
  /** Session an ephemeral znode belongs to; 0n for all others. */
  ephemeralOwner: bigint;
  /** Size of the data in bytes; 0 for null. */
  dataLength: number;
  /** Number of direct children. */
  numChildren: number;
  /** Transaction that last created or deleted a child. */
  pzxid: bigint;
}

/** The wire form of {@linkcode Stat}. */
export const Stat: Type<Stat> = record("Stat", {
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

/** Grants `perms` to whoever `scheme` and `id` name. */
export interface Acl {
  /** A sum of {@linkcode permissions}. */
  perms: number;
  /** How the identity was proved: `world`, `auth`, `digest`, `ip`, `x509`, `sasl`. */
  scheme: string;
  /** Who: `anyone` for world, empty for auth, `user:base64(sha1(user:password))` for digest. */
  id: string;
}

/** The wire form of {@linkcode Acl}; jute has the last two fields in a record Id of their own, which has the same bytes. */
export const Acl: Type<Acl> = record("ACL", {
  perms: int,
  scheme: ustring,
  id: ustring,
});

/** One identity the server knows a connection by. */
export interface ClientInfo {
  /** How it was proved, e.g. `ip` or `digest`. */
  authScheme: string;
  /** Who it is, without any secret. */
  user: string | null;
}

/** The wire form of {@linkcode ClientInfo}. */
export const ClientInfo: Type<ClientInfo> = record("ClientInfo", {
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
