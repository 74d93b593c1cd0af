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

export const ConnectRequest: Type<
  {
    protocolVersion: number;
    lastZxidSeen: bigint;
    timeOut: number;
    sessionId: bigint;
    passwd: Uint8Array | null;
    readOnly: boolean | undefined;
  }
> = record("ConnectRequest", {
  protocolVersion: int,
  lastZxidSeen: long,
  timeOut: int,
  sessionId: long,
  passwd: buffer,
  readOnly: trailing(boolean),
});

export const ConnectResponse: Type<
  {
    protocolVersion: number;
    timeOut: number;
    sessionId: bigint;
    passwd: Uint8Array | null;
    readOnly: boolean | undefined;
  }
> = record("ConnectResponse", {
  protocolVersion: int,
  timeOut: int,
  sessionId: long,
  passwd: buffer,
  readOnly: trailing(boolean),
});

export const RequestHeader: Type<{ xid: number; type: number }> = record(
  "RequestHeader",
  { xid: int, type: int },
);

export const ReplyHeader: Type<{ xid: number; zxid: bigint; err: number }> =
  record("ReplyHeader", {
    xid: int,
    zxid: long,
    err: int,
  });

export const MultiHeader: Type<{ type: number; done: boolean; err: number }> =
  record("MultiHeader", {
    type: int,
    done: boolean,
    err: int,
  });

export const AuthPacket: Type<
  { type: number; scheme: string; auth: Uint8Array | null }
> = record("AuthPacket", {
  type: int,
  scheme: ustring,
  auth: buffer,
});

/** GetSASLRequest and SetSASLResponse: the same both ways. */
export const SaslToken: Type<{ token: Uint8Array | null }> = record(
  "SaslToken",
  { token: buffer },
);

export const WatcherEvent: Type<{ type: number; state: number; path: string }> =
  record("WatcherEvent", {
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

export const PathRequest: Type<{ path: string }> = record("PathRequest", {
  path: ustring,
});

export const PathWatchRequest: Type<{ path: string; watch: boolean }> = record(
  "PathWatchRequest",
  {
    path: ustring,
    watch: boolean,
  },
);

export const PathVersionRequest: Type<{ path: string; version: number }> =
  record("PathVersionRequest", {
    path: ustring,
    version: int,
  });

export const PathTypeRequest: Type<{ path: string; type: number }> = record(
  "PathTypeRequest",
  {
    path: ustring,
    type: int,
  },
);

export const CreateRequest: Type<
  {
    path: string;
    data: Uint8Array | null;
    acl: readonly znode.Acl[];
    flags: number;
  }
> = record("CreateRequest", {
  path: ustring,
  data: buffer,
  acl: vector(Acl),
  flags: int,
});

export const CreateTtlRequest: Type<
  {
    path: string;
    data: Uint8Array | null;
    acl: readonly znode.Acl[];
    flags: number;
    ttl: bigint;
  }
> = record("CreateTTLRequest", {
  path: ustring,
  data: buffer,
  acl: vector(Acl),
  flags: int,
  ttl: long,
});

export const SetDataRequest: Type<
  { path: string; data: Uint8Array | null; version: number }
> = record("SetDataRequest", {
  path: ustring,
  data: buffer,
  version: int,
});

export const SetAclRequest: Type<
  { path: string; acl: readonly znode.Acl[]; version: number }
> = record("SetACLRequest", {
  path: ustring,
  acl: vector(Acl),
  version: int,
});

export const AddWatchRequest: Type<{ path: string; mode: number }> = record(
  "AddWatchRequest",
  {
    path: ustring,
    mode: int,
  },
);

export const SetWatches: Type<
  {
    relativeZxid: bigint;
    dataWatches: readonly string[];
    existWatches: readonly string[];
    childWatches: readonly string[];
  }
> = record("SetWatches", {
  relativeZxid: long,
  dataWatches: vector(ustring),
  existWatches: vector(ustring),
  childWatches: vector(ustring),
});

export const SetWatches2: Type<
  {
    relativeZxid: bigint;
    dataWatches: readonly string[];
    existWatches: readonly string[];
    childWatches: readonly string[];
    persistentWatches: readonly string[];
    persistentRecursiveWatches: readonly string[];
  }
> = record("SetWatches2", {
  relativeZxid: long,
  dataWatches: vector(ustring),
  existWatches: vector(ustring),
  childWatches: vector(ustring),
  persistentWatches: vector(ustring),
  persistentRecursiveWatches: vector(ustring),
});

export const GetEphemeralsRequest: Type<{ prefixPath: string }> = record(
  "GetEphemeralsRequest",
  {
    prefixPath: ustring,
  },
);

export const ReconfigRequest: Type<
  {
    joiningServers: string | null;
    leavingServers: string | null;
    newMembers: string | null;
    curConfigId: bigint;
  }
> = record("ReconfigRequest", {
  joiningServers: nullableUstring,
  leavingServers: nullableUstring,
  newMembers: nullableUstring,
  curConfigId: long,
});

// Replies

export const PathResponse: Type<{ path: string }> = record("PathResponse", {
  path: ustring,
});

export const StatResponse: Type<{ stat: znode.Stat }> = record("StatResponse", {
  stat: Stat,
});

export const Create2Response: Type<{ path: string; stat: znode.Stat }> = record(
  "Create2Response",
  {
    path: ustring,
    stat: Stat,
  },
);

export const GetDataResponse: Type<
  { data: Uint8Array | null; stat: znode.Stat }
> = record("GetDataResponse", {
  data: buffer,
  stat: Stat,
});

export const GetAclResponse: Type<
  { acl: readonly znode.Acl[]; stat: znode.Stat }
> = record("GetACLResponse", {
  acl: vector(Acl),
  stat: Stat,
});

export const GetChildrenResponse: Type<{ children: readonly string[] }> =
  record("GetChildrenResponse", {
    children: vector(ustring),
  });

export const GetChildren2Response: Type<
  { children: readonly string[]; stat: znode.Stat }
> = record("GetChildren2Response", {
  children: vector(ustring),
  stat: Stat,
});

export const GetAllChildrenNumberResponse: Type<{ totalNumber: number }> =
  record(
    "GetAllChildrenNumberResponse",
    { totalNumber: int },
  );

export const GetEphemeralsResponse: Type<{ ephemerals: readonly string[] }> =
  record("GetEphemeralsResponse", {
    ephemerals: vector(ustring),
  });

export const WhoAmIResponse: Type<{ clientInfo: readonly znode.ClientInfo[] }> =
  record("WhoAmIResponse", {
    clientInfo: vector(ClientInfo),
  });

export const ErrorResponse: Type<{ err: number }> = record("ErrorResponse", {
  err: int,
});
