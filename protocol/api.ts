// What users see of a client: its interface, its options, what it reports.
// Types only, no behaviour.
// Implemented by client.ts, exported by mod.ts.

import type { AddWatchMode, CreateMode, WatcherType } from "./codes.ts";
import type { Auth, SaslOptions } from "./credentials.ts";
import type { Environment } from "./environment.ts";
import type { ServerError } from "./errors.ts";
import type { DetachedSession, SessionKey } from "./detached.ts";
import type { Session, StateChange, Warning } from "./news.ts";
import type { Acl, ClientInfo, Stat } from "./znode.ts";
import type { TlsOptions, Transport } from "./transport/mod.ts";
import type { Watcher } from "./watches.ts";

/** Data of a znode: text goes as UTF-8; null and empty are different. */
export type Data = string | Uint8Array | null;

/** One operation of a multi: all are done, as one transaction, or none. */
export type Op =
  | {
    op: "create";
    path: string;
    data?: Data;
    mode?: CreateMode;
    acl?: readonly Acl[];
    /** Lifetime in ms, for the modes with a ttl. */
    ttl?: number;
  }
  | { op: "delete"; path: string; version?: number }
  | { op: "setData"; path: string; data: Data; version?: number }
  | {
    /** Fails the multi unless the znode exists and has this version; -1, the default: any. */
    op: "check";
    path: string;
    version?: number;
  };

/** What one operation of a multi that succeeded did. */
export type OpResult =
  | {
    op: "create";
    path: string;
    /** Missing for plain creates, and for all creates up to 3.8. */
    stat?: Stat;
  }
  | { op: "delete" }
  | { op: "setData"; stat: Stat }
  | { op: "check" };

/** One read of a multiRead. */
export type ReadOp = { op: "getData" | "getChildren"; path: string };

/** What one read of a multiRead brought; one that failed does not spoil the others. */
export type ReadResult =
  | { op: "getData"; data: Uint8Array | null; stat: Stat }
  | { op: "getChildren"; children: string[] }
  | { op: "error"; error: ServerError };

/** Options of {@linkcode connect}. Durations are ms, sizes are bytes. */
export interface ConnectOptions {
  /**
   * How long the ensemble keeps the session without hearing of us; default
   * 30,000. This is asked for: the server decides (`client.session.timeout`).
   */
  sessionTimeout?: number;
  /** For connect() as a whole; default: `sessionTimeout`. */
  connectTimeout?: number;
  /** Put in front of every path; it is not made for you. Also as the end of the connect string. */
  chroot?: string;
  /** Shown to every server, also after a reconnect, before anything else. */
  auth?: readonly Auth[];
  /**
   * Proves by SASL DIGEST-MD5 who we are, and that the server knows our password
   * too, on every connection before anything else. If either fails, the client
   * is finished, with an AuthFailedError.
   */
  sasl?: SaslOptions;
  /** For znodes created without an ACL of their own; default: everybody may do everything. */
  acl?: readonly Acl[];
  /**
   * Take a server that is cut off from its ensemble, for reading; default false.
   * The client goes on looking for one that can write, and moves there; its
   * session ends then, since the ensemble never knew it, and a new one begins.
   */
  readOnly?: boolean;
  /**
   * Do not wait for the session: connect() resolves at once, and what is asked
   * meanwhile leaves in one write with the request for the session, which saves
   * a round trip; default false. If no session comes of it, calls reject with a
   * ClientClosedError whose cause says why; writes that were sent, with a
   * ConnectionLossError. A session lost in this way keeps its ephemeral znodes
   * for its timeout.
   */
  eager?: boolean;
  /** Connect by TLS, to `secureClientPort`; true trusts the authorities of the runtime. See docs/tls.md. */
  tls?: boolean | TlsOptions;
  /** Largest packet to accept; default 16 MiB. Requests may have 1,048,575 bytes. */
  maxPacket?: number;
  /**
   * Go on with a session that another client left by {@linkcode Client.detach}:
   * the same ephemeral znodes, the same locks (by `Lock.resume`); watches are
   * gone. Rejects with a SessionExpiredError if it is over. Never use one in two
   * places at once: each would take the connection from the other.
   */
  session?: SessionKey | string;
  /** How to reach a server; default: TCP by node:net. */
  transport?: Transport;
  /** Clocks, timers and randomness; default: those of the host. */
  environment?: Environment;
  /** Called with every packet that goes or comes, for tracing. */
  onPacket?: (packet: Packet) => void;
  /** Gives up connecting; connect() rejects with its reason. */
  signal?: AbortSignal;
}

/** One packet, for tracing. */
export interface Packet {
  /** Which way it went. */
  direction: "sent" | "received";
  /** Its transaction id; null for the handshake. */
  xid: number | null;
  /** The operation of a request, "connect" or "event"; null for replies: match them by `xid`. */
  op: string | null;
  /** The packet without its length prefix. Passwords and credentials are overwritten with asterisks; data is not. */
  bytes: Uint8Array;
}

/** Gives up waiting for a call. What was sent may happen all the same. */
export interface CallOptions {
  /** The call rejects with its reason once it aborts. */
  signal?: AbortSignal;
}

/** Options of calls that can leave a watch. */
export interface WatchOptions extends CallOptions {
  /** Called once, at the next change or when the session ends; only if the call resolved. */
  watch?: Watcher;
}

/** Options of calls that compare a version. */
export interface VersionOptions extends CallOptions {
  /** Only if the znode has this version; -1, the default: any. */
  version?: number;
}

/** Options of {@linkcode Client.create}. */
export interface CreateOptions extends CallOptions {
  /** Default `persistent`. */
  mode?: CreateMode;
  /** Default: that of connect(). */
  acl?: readonly Acl[];
  /** Lifetime in ms, for the modes with a ttl. */
  ttl?: number;
  /** Make missing parents first, as plain persistent znodes; default false. */
  parents?: boolean;
}

/**
 * A ZooKeeper client. Made by {@linkcode connect}.
 *
 * Calls go out in the order in which they are made, and all of one turn of the
 * event loop in one write. While there is no connection they wait. If the
 * connection is lost before the reply, reads are sent again by themselves;
 * writes reject with a ConnectionLossError, because they may have happened. If
 * the session ends, calls reject with a SessionExpiredError, and the client goes
 * on with a new session.
 *
 * Every call rejects with a ServerError if the server refused it, with a
 * ClientClosedError after close(), with a TypeError or RangeError, before
 * anything is sent, for arguments that cannot be.
 */
export interface Client extends AsyncDisposable {
  /** The current session; replaced by a new object when it has expired. */
  readonly session: Session;
  /** Aborts only when the client itself is finished: by close(), or because the credentials of connect() were refused. */
  readonly signal: AbortSignal;
  /** Where time, timers and randomness come from. */
  readonly environment: Environment;

  /**
   * Makes a znode. `zxid` is the transaction that made it, its czxid. Rejects
   * with NodeExists, NoNode (no parent), NoChildrenForEphemerals…
   *
   * @example
   * ```ts
   * import { connect } from "@zklock/zklock";
   *
   * const zk = await connect("zk1:2181");
   * await zk.create("/jobs/17", "new", { parents: true });
   * const mode = "ephemeral-sequential";
   * const { path } = await zk.create("/jobs/worker-", null, { mode });
   * console.log(path); // /jobs/worker-0000000001
   * ```
   */
  create(
    path: string,
    data?: Data,
    options?: CreateOptions,
  ): Promise<{ path: string; zxid: bigint }>;
  /** Like create(), and answers the Stat as well. Needs 3.5. */
  create2(
    path: string,
    data?: Data,
    options?: CreateOptions,
  ): Promise<{ path: string; zxid: bigint; stat: Stat }>;
  /** Removes a znode without children. Rejects with NoNode, NotEmpty, BadVersion… */
  delete(path: string, options?: VersionOptions): Promise<void>;
  /** The Stat of a znode, or null. A watch tells of its creation, deletion and change of data. */
  exists(path: string, options?: WatchOptions): Promise<Stat | null>;
  /**
   * Data and Stat of a znode. A watch tells of its deletion and change of data;
   * none is left if it rejects.
   *
   * @example
   * ```ts
   * import { connect } from "@zklock/zklock";
   *
   * const zk = await connect("zk1:2181");
   * const { data } = await zk.getData("/config", {
   *   watch: ({ type }) => console.log(`${type}: read it again`),
   * });
   * console.log(new TextDecoder().decode(data ?? undefined));
   * ```
   */
  getData(
    path: string,
    options?: WatchOptions,
  ): Promise<{ data: Uint8Array | null; stat: Stat }>;
  /** Replaces the data. Rejects with NoNode, BadVersion… */
  setData(path: string, data: Data, options?: VersionOptions): Promise<Stat>;
  /** Names of the children, in no order. A watch tells when one comes or goes, or the znode itself goes. */
  getChildren(path: string, options?: WatchOptions): Promise<string[]>;
  /** Like getChildren(), with the Stat of the parent. */
  getChildren2(
    path: string,
    options?: WatchOptions,
  ): Promise<{ children: string[]; stat: Stat }>;
  /** The ACL. Digests are shown only to those with the right to change it. */
  getAcl(
    path: string,
    options?: CallOptions,
  ): Promise<{ acl: Acl[]; stat: Stat }>;
  /** Replaces the ACL; `version` is compared with the Stat's aversion. */
  setAcl(
    path: string,
    acl: readonly Acl[],
    options?: VersionOptions,
  ): Promise<Stat>;
  /**
   * Watches until removed, with `persistent` the znode and its children's names,
   * with `persistent-recursive` the whole subtree. Needs 3.6. Below 3.9 do not
   * mix it with one-shot watches on the same path: one may replace the other
   * (ZOOKEEPER-4466). Changes during a reconnect are not reported: read again.
   *
   * @example
   * ```ts
   * import { connect } from "@zklock/zklock";
   *
   * const zk = await connect("zk1:2181");
   * const mode = "persistent-recursive";
   * await zk.addWatch("/app", ({ type, path }) => console.log(type, path), { mode });
   * ```
   */
  addWatch(
    path: string,
    watcher: Watcher,
    options?: CallOptions & { mode?: AddWatchMode },
  ): Promise<void>;
  /**
   * Takes away this client's watches on a path; their watchers hear
   * `watch-removed`. Needs 3.5. Rejects with NoWatcher. Before 3.9 the types
   * `data` and `children` take away that half of a watch of addWatch() as well,
   * unheard: there use the default, `any`.
   */
  removeWatches(
    path: string,
    options?: CallOptions & { type?: WatcherType },
  ): Promise<void>;
  /** Whether the server has such a watch of this client. Needs 3.5. */
  checkWatches(
    path: string,
    options?: CallOptions & { type?: WatcherType },
  ): Promise<boolean>;
  /** Paths of this session's ephemeral znodes that begin with these characters; default all. Needs 3.6. */
  getEphemerals(prefix?: string, options?: CallOptions): Promise<string[]>;
  /** Number of all znodes below a path. Needs 3.6. */
  getAllChildrenNumber(path: string, options?: CallOptions): Promise<number>;
  /** Whom the server takes us for. Needs 3.7. */
  whoAmI(options?: CallOptions): Promise<ClientInfo[]>;
  /** The ensemble's dynamic configuration. */
  getConfig(
    options?: WatchOptions,
  ): Promise<{ data: Uint8Array | null; stat: Stat }>;
  /** Changes the ensemble, by joining and leaving servers or by a new list. Needs 3.5 and rights. */
  reconfig(
    change: {
      joining?: string;
      leaving?: string;
      members?: string;
      version?: bigint;
    },
    options?: CallOptions,
  ): Promise<{ data: Uint8Array | null; stat: Stat }>;
  /**
   * Does all operations in one transaction. Rejects with a MultiError if one
   * failed: then none was done.
   *
   * @example
   * ```ts
   * import { connect } from "@zklock/zklock";
   *
   * const zk = await connect("zk1:2181");
   * await zk.multi([
   *   { op: "check", path: "/config", version: 3 },
   *   { op: "create", path: "/done/17", data: "paid" },
   *   { op: "delete", path: "/jobs/17" },
   * ]);
   * ```
   */
  multi(
    ops: readonly Op[],
    options?: CallOptions,
  ): Promise<{ zxid: bigint; results: OpResult[] }>;
  /** Reads several znodes in one request; each read fails by itself. Needs 3.6. */
  multiRead(
    reads: readonly ReadOp[],
    options?: CallOptions,
  ): Promise<ReadResult[]>;
  /** Makes a path and everything above it that is missing, the chroot too. */
  ensurePath(
    path: string,
    options?: CallOptions & { acl?: readonly Acl[] },
  ): Promise<void>;
  /** Lets the server catch up with its leader: later reads see all that was committed before. */
  sync(path: string, options?: CallOptions): Promise<void>;
  /** Shows one more credential, now and after each reconnect. Rejects with AuthFailedError: it is dropped, and the session goes on. */
  addAuth(auth: Auth): Promise<void>;
  /** Round trip to the server, in ms. */
  ping(options?: CallOptions): Promise<number>;
  /** Version of the server, asked by `srvr` on a connection of its own; null if it does not tell. */
  serverVersion(options?: CallOptions): Promise<string | null>;

  /**
   * Uses other servers from now on, as in connect(). The session goes on: if the
   * server at hand is not among them, on one of the new ones, at once. A chroot
   * may be left out, and cannot change. Throws a TypeError.
   */
  updateServers(servers: string | readonly string[]): void;

  /** Listens for changes of state, of this and later sessions; answers how to stop. */
  on(type: "state", listener: (change: StateChange) => void): () => void;
  /** Listens for warnings; answers how to stop. */
  on(type: "warning", listener: (warning: Warning) => void): () => void;
  /** Keeps the process alive, as is the default. */
  ref(): void;
  /** Lets the process end although the client is connected, or connects; an attempt that is under way may hold it for T/3. */
  unref(): void;
  /**
   * Ends this client and leaves its session alive, for `connect(…, { session })`
   * in another process, within the session's timeout. What was asked before is
   * answered first; whoever waits for a lock gives up and its znode goes; locks
   * that are held are lost to this client and stay held on the server. Rejects
   * with a ConnectionLossError, and stays connected, if the server does not
   * answer within min(timeout/3, 5 s).
   *
   * @example
   * ```ts
   * import { connect, SequentialLock } from "@zklock/zklock";
   *
   * const zk = await connect("zk1:2181", { sessionTimeout: 60_000 });
   * const { path, token } = await new SequentialLock(zk, "/locks/a").acquire();
   * const secret = (await zk.detach()).toSecret(); // keep it like a password
   *
   * const next = await connect("zk1:2181", { session: secret });
   * const held = await new SequentialLock(next, "/locks/a").resume(path, token);
   * await held.release();
   * await next.close();
   * ```
   */
  detach(): Promise<DetachedSession>;
  /**
   * Ends session and client: what was asked before is still sent, then the
   * server removes all ephemeral znodes. Tries for min(timeout/3, 5 s) if there
   * is no connection; never rejects; may be called twice.
   *
   * @example
   * ```ts
   * import { connect } from "@zklock/zklock";
   *
   * const zk = await connect("zk1:2181");
   * await zk.create("/online/host-17", null, { mode: "ephemeral" });
   * await zk.close(); // it is gone now, not a timeout later
   * ```
   */
  close(): Promise<void>;
}
