// The public surface. No logic.

/**
 * Distributed locks on ZooKeeper, and the ZooKeeper client below them, without
 * dependencies, for Deno, Bun and Node.
 *
 * {@linkcode connect} makes a {@linkcode Client}; {@linkcode SequentialLock} is
 * the fair lock, {@linkcode ExclusiveLock} the simple one. A lock that is held is
 * a {@linkcode HeldLock}: its `signal` tells when it is lost, its `token` and
 * `guard()` protect against holders that have not noticed.
 *
 * @example
 * ```ts
 * import { connect, SequentialLock } from "@zklock/zklock";
 *
 * const zk = await connect("zk1:2181,zk2:2181,zk3:2181");
 * const lock = new SequentialLock(zk, "/locks/billing");
 * await lock.run((held) => console.log(`mine, token ${held.token}`));
 * await zk.close();
 * ```
 *
 * @module
 */

export {
  acl,
  AuthFailedError,
  ClientClosedError,
  connect,
  ConnectionLossError,
  digestId,
  MultiError,
  permissions,
  ProtocolError,
  ServerError,
  SessionExpiredError,
  TlsError,
  ZooKeeperError,
} from "./protocol/mod.ts";
export type {
  Acl,
  AddWatchMode,
  Auth,
  CallOptions,
  Client,
  ClientInfo,
  ConnectOptions,
  CreateMode,
  CreateOptions,
  Data,
  DetachedSession,
  Environment,
  ErrorCode,
  FailedOp,
  Op,
  OpResult,
  Outcome,
  Packet,
  ReadOp,
  ReadResult,
  SaslOptions,
  ServerErrorInit,
  ServerEventType,
  Session,
  SessionKey,
  SessionState,
  Socket,
  SocketHandlers,
  Stat,
  StateChange,
  TlsErrorCode,
  TlsOptions,
  Transport,
  UsualAcls,
  VersionOptions,
  Warning,
  Watcher,
  WatcherType,
  WatchEvent,
  WatchOptions,
} from "./protocol/mod.ts";
export * from "./lock/mod.ts";
