// What lock/ and users may import of the client.
// No logic.

export { acl, digestId, type UsualAcls } from "./acl.ts";
export { connect } from "./client.ts";
export type { Auth, SaslOptions } from "./credentials.ts";
export type {
  CallOptions,
  Client,
  ConnectOptions,
  CreateOptions,
  Data,
  Op,
  OpResult,
  Packet,
  ReadOp,
  ReadResult,
  VersionOptions,
  WatchOptions,
} from "./api.ts";
export type { Session, SessionState, StateChange, Warning } from "./news.ts";
export type { DetachedSession, SessionKey } from "./detached.ts";
export { permissions } from "./codes.ts";
export type {
  AddWatchMode,
  CreateMode,
  ErrorCode,
  ServerEventType,
  WatcherType,
} from "./codes.ts";
export { type Environment, momentOf } from "./environment.ts";
export * from "./errors.ts";
export { type Internals, internalsOf } from "./internals.ts";
export { elapsed, type Moment } from "./moment.ts";
export { aclOf } from "./arguments.ts";
export { baseName, joinPath, parentPath, validatePath } from "./path.ts";
export { goodbye } from "./pulse.ts";
export type { Acl, ClientInfo, Stat } from "./znode.ts";
export type {
  Socket,
  SocketHandlers,
  TlsOptions,
  Transport,
} from "./transport/mod.ts";
export type { Watcher, WatchEvent } from "./watches.ts";
