// The numbers of the wire, as const tables: errors, events, create modes, permissions.
// Knows no records, no classes and no I/O.
// Read by every other file of protocol/.

/** The name of an error the server answered; "Unknown" for a number this client has never heard of. */
export type ErrorCode =
  | "SystemError"
  | "RuntimeInconsistency"
  | "DataInconsistency"
  | "ConnectionLoss"
  | "MarshallingError"
  | "Unimplemented"
  | "OperationTimeout"
  | "BadArguments"
  | "UnknownSession"
  | "NewConfigNoQuorum"
  | "ReconfigInProgress"
  | "ApiError"
  | "NoNode"
  | "NoAuth"
  | "BadVersion"
  | "NoChildrenForEphemerals"
  | "NodeExists"
  | "NotEmpty"
  | "SessionExpired"
  | "InvalidCallback"
  | "InvalidAcl"
  | "AuthFailed"
  | "SessionMoved"
  | "NotReadOnly"
  | "EphemeralOnLocalSession"
  | "NoWatcher"
  | "RequestTimeout"
  | "ReconfigDisabled"
  | "SessionClosedRequireSaslAuth"
  | "QuotaExceeded"
  | "ThrottledOp"
  | "Unknown";

/**
 * Name and number of every error code a ZooKeeper server, of any version up to
 * 3.10, can put into a reply. Source: `KeeperException.Code`.
 */
export const errorNumbers: Readonly<
  Record<Exclude<ErrorCode, "Unknown">, number>
> = {
  SystemError: -1,
  RuntimeInconsistency: -2,
  DataInconsistency: -3,
  ConnectionLoss: -4,
  MarshallingError: -5,
  Unimplemented: -6,
  OperationTimeout: -7,
  BadArguments: -8,
  UnknownSession: -12,
  NewConfigNoQuorum: -13,
  ReconfigInProgress: -14,
  ApiError: -100,
  NoNode: -101,
  NoAuth: -102,
  BadVersion: -103,
  NoChildrenForEphemerals: -108,
  NodeExists: -110,
  NotEmpty: -111,
  SessionExpired: -112,
  InvalidCallback: -113,
  InvalidAcl: -114,
  AuthFailed: -115,
  SessionMoved: -118,
  NotReadOnly: -119,
  EphemeralOnLocalSession: -120,
  NoWatcher: -121,
  RequestTimeout: -122,
  ReconfigDisabled: -123,
  SessionClosedRequireSaslAuth: -124,
  QuotaExceeded: -125,
  ThrottledOp: -127,
};

const errorNames: ReadonlyMap<number, ErrorCode> = new Map(
  Object.entries(errorNumbers).map((
    [name, number],
  ) => [number, name as ErrorCode]),
);

/** The name of an error number; "Unknown" if no server of ours used it so far. */
export function errorName(number: number): ErrorCode {
  return errorNames.get(number) ?? "Unknown";
}

/** What a server tells a watcher. */
export type ServerEventType =
  | "created"
  | "deleted"
  | "data-changed"
  | "children-changed";

/** Kinds of watch event on the wire. Numbers 5 to 7 never are: clients make them themselves. */
export const eventTypes: Readonly<Record<ServerEventType, number>> = {
  created: 1,
  deleted: 2,
  "data-changed": 3,
  "children-changed": 4,
};

const eventNames: ReadonlyMap<number, ServerEventType> = new Map(
  Object.entries(eventTypes).map(([name, number]) => [
    number,
    name as ServerEventType,
  ]),
);

/** The name of an event number, or undefined for one that no server should send. */
export function eventName(number: number): ServerEventType | undefined {
  return eventNames.get(number);
}

/** Create modes and their flags. Containers and TTL nodes need an operation of their own as well. */
export const createFlags: Readonly<Record<CreateMode, number>> = {
  "persistent": 0,
  "ephemeral": 1,
  "persistent-sequential": 2,
  "ephemeral-sequential": 3,
  "container": 4,
  "persistent-ttl": 5,
  "persistent-sequential-ttl": 6,
};

/**
 * How a znode lives and how it is named.
 *
 * - `ephemeral`: gone when the session that made it ends; it can have no children.
 * - `…-sequential`: the server appends a ten-digit number that grows with every child of the parent.
 * - `container` (3.5+): removed by the server some time after its last child went.
 * - `…-ttl` (3.5.5+, must be enabled on the server): removed when unmodified and childless for that long.
 */
export type CreateMode =
  | "persistent"
  | "ephemeral"
  | "persistent-sequential"
  | "ephemeral-sequential"
  | "container"
  | "persistent-ttl"
  | "persistent-sequential-ttl";

/** Rights in an ACL entry; add them up. CREATE and DELETE are checked on the parent. */
export const permissions = {
  read: 1,
  write: 2,
  create: 4,
  delete: 8,
  admin: 16,
  all: 31,
} as const;

/** Modes of `addWatch` (3.6+). */
export const addWatchModes: Readonly<Record<AddWatchMode, number>> = {
  "persistent": 0,
  "persistent-recursive": 1,
};

/** Whether a watch of `addWatch` looks at one znode and its children's names, or at a whole subtree. */
export type AddWatchMode = "persistent" | "persistent-recursive";

/** Kinds of watch that `removeWatches` and `checkWatches` tell apart. */
export const watcherTypes: Readonly<Record<WatcherType, number>> = {
  children: 1,
  data: 2,
  any: 3,
};

/** Which watches are meant: those on children, those on data and existence, or all. */
export type WatcherType = "children" | "data" | "any";

/** Transaction ids the protocol reserves; requests of users count from 1 to 2^31-1 and start again at 1. */
export const specialXids = {
  event: -1,
  ping: -2,
  auth: -4,
  setWatches: -8,
} as const;

/** Largest request body a server takes by default (`jute.maxbuffer`), in bytes. */
export const maxRequestBytes = 0xfffff;

/** The number of a name in one of these tables; throws a TypeError for a name that is not in it. */
export function numberOf<T extends Record<string, number>>(
  table: T,
  key: string,
  what: string,
): number {
  if (Object.hasOwn(table, key)) return table[key];
  throw new TypeError(`Cannot use ${what}: unknown ${what}: ${key}`);
}
