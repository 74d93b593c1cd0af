// The client: connect(), and methods that ask what questions.ts makes.
// Knows no packets and no connection.
// connect() is what users call first; lock/ gets the Client it makes.

import type {
  CallOptions,
  Client,
  ConnectOptions,
  CreateOptions,
  Data,
  Op,
  OpResult,
  ReadOp,
  ReadResult,
  VersionOptions,
  WatchOptions,
} from "./api.ts";
import type { Session, StateChange, Warning } from "./news.ts";
import type { Scope } from "./arguments.ts";
import type { AddWatchMode, WatcherType } from "./codes.ts";
import type { Auth } from "./credentials.ts";
import { detach } from "./detach.ts";
import type { DetachedSession } from "./detached.ts";
import type { Environment } from "./environment.ts";
import { codeOf, ConnectionLossError } from "./errors.ts";
import { fourLetterWord, versionIn } from "./four_letter.ts";
import { type Internals, keepInternals } from "./internals.ts";
import { multi, multiRead } from "./multi.ts";
import {
  addressesIn,
  credentialOf,
  keepCredential,
  readOptions,
  type Settings,
} from "./options.ts";
import { addChroot, parentPath, stripChroot, validatePath } from "./path.ts";
import * as questions from "./questions.ts";
import type { Acl, ClientInfo, Stat } from "./znode.ts";
import type { Ask } from "./requests.ts";
import { Sessions } from "./sessions.ts";
import type { Watcher, WatchKind } from "./watches.ts";

/**
 * Connects to a ZooKeeper ensemble.
 *
 * Rejects with a ConnectionLossError if no server was reached within
 * `connectTimeout`, an AuthFailedError if a credential was refused, a TlsError if
 * TLS is at odds with the configuration of every server, the reason of `signal`, or a TypeError or RangeError for arguments that cannot be.
 *
 * @param servers `host[:port],…[/chroot]`, or a list of `host[:port]`.
 *
 * @example
 * ```ts
 * import { connect } from "@zklock/zklock";
 *
 * const zk = await connect("zk1:2181,zk2:2181,zk3:2181/app");
 * const { path } = await zk.create("/hello", "world", { mode: "ephemeral" });
 * console.log(path, await zk.getData(path));
 * await zk.close();
 * ```
 */
export async function connect(
  servers: string | readonly string[],
  options: ConnectOptions = {},
): Promise<Client> {
  const settings = readOptions(servers, options);
  options.signal?.throwIfAborted();
  const client = new ZooKeeperClient(settings);
  const opened = client.opened(settings.connectTimeout, options.signal);
  // Otherwise it shows in the first call that something is wrong.
  if (options.eager) opened.catch(() => {});
  else await opened;
  return client;
}

class ZooKeeperClient implements Client {
  readonly #settings: Settings;
  readonly #scope: Scope;
  readonly #sessions: Sessions;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#scope = settings.scope;
    const inward = (path: string) => stripChroot(settings.scope.chroot, path);
    this.#sessions = new Sessions({ ...settings, inward });
    keepInternals(this, this.#internals());
  }

  get session(): Session {
    return this.#sessions.current;
  }

  get signal(): AbortSignal {
    return this.#sessions.signal;
  }

  get environment(): Environment {
    return this.#sessions.environment;
  }

  opened(timeout: number, signal?: AbortSignal): Promise<void> {
    return this.#sessions.opened(timeout, signal);
  }

  create(
    path: string,
    data?: Data,
    options: CreateOptions = {},
  ): Promise<{ path: string; zxid: bigint }> {
    return this.#withParents(
      path,
      options,
      () => questions.create(this.#scope, path, data, options),
    );
  }

  create2(
    path: string,
    data?: Data,
    options: CreateOptions = {},
  ): Promise<{ path: string; zxid: bigint; stat: Stat }> {
    return this.#withParents(
      path,
      options,
      () => questions.create2(this.#scope, path, data, options),
    );
  }

  delete(path: string, options: VersionOptions = {}): Promise<void> {
    return this.#ask(() => questions.remove(this.#scope, path, options));
  }

  exists(path: string, options: WatchOptions = {}): Promise<Stat | null> {
    return this.#ask(() => questions.exists(this.#scope, path, options));
  }

  getData(
    path: string,
    options: WatchOptions = {},
  ): Promise<{ data: Uint8Array | null; stat: Stat }> {
    return this.#ask(() => questions.getData(this.#scope, path, options));
  }

  setData(
    path: string,
    data: Data,
    options: VersionOptions = {},
  ): Promise<Stat> {
    return this.#ask(() => questions.setData(this.#scope, path, data, options));
  }

  getChildren(path: string, options: WatchOptions = {}): Promise<string[]> {
    return this.#ask(() => questions.getChildren(this.#scope, path, options));
  }

  getChildren2(
    path: string,
    options: WatchOptions = {},
  ): Promise<{ children: string[]; stat: Stat }> {
    return this.#ask(() => questions.getChildren2(this.#scope, path, options));
  }

  getAcl(
    path: string,
    options: CallOptions = {},
  ): Promise<{ acl: Acl[]; stat: Stat }> {
    return this.#ask(() => questions.getAcl(this.#scope, path, options));
  }

  setAcl(
    path: string,
    acl: readonly Acl[],
    options: VersionOptions = {},
  ): Promise<Stat> {
    return this.#ask(() => questions.setAcl(this.#scope, path, acl, options));
  }

  addWatch(
    path: string,
    watcher: Watcher,
    options: CallOptions & { mode?: AddWatchMode } = {},
  ): Promise<void> {
    return this.#ask(() =>
      questions.addWatch(this.#scope, path, watcher, options)
    );
  }

  removeWatches(
    path: string,
    options: CallOptions & { type?: WatcherType } = {},
  ): Promise<void> {
    const session = this.#sessions.current;
    const drop = (kinds: readonly WatchKind[], full: string) =>
      session.dropWatches(kinds, full);
    return this.#ask(() =>
      questions.removeWatches(this.#scope, path, options, drop)
    );
  }

  checkWatches(
    path: string,
    options: CallOptions & { type?: WatcherType } = {},
  ): Promise<boolean> {
    return this.#ask(() => questions.checkWatches(this.#scope, path, options));
  }

  getEphemerals(prefix = "/", options: CallOptions = {}): Promise<string[]> {
    return this.#ask(() =>
      questions.getEphemerals(this.#scope, prefix, options)
    );
  }

  getAllChildrenNumber(
    path: string,
    options: CallOptions = {},
  ): Promise<number> {
    return this.#ask(() =>
      questions.getAllChildrenNumber(this.#scope, path, options)
    );
  }

  whoAmI(options: CallOptions = {}): Promise<ClientInfo[]> {
    return this.#ask(() => questions.whoAmI(options));
  }

  getConfig(
    options: WatchOptions = {},
  ): Promise<{ data: Uint8Array | null; stat: Stat }> {
    return this.#ask(() => questions.getConfig(options));
  }

  reconfig(
    change: {
      joining?: string;
      leaving?: string;
      members?: string;
      version?: bigint;
    },
    options: CallOptions = {},
  ): Promise<{ data: Uint8Array | null; stat: Stat }> {
    return this.#ask(() => questions.reconfig(change, options));
  }

  multi(
    ops: readonly Op[],
    options: CallOptions = {},
  ): Promise<{ zxid: bigint; results: OpResult[] }> {
    return this.#ask(() => multi(this.#scope, ops, options));
  }

  multiRead(
    reads: readonly ReadOp[],
    options: CallOptions = {},
  ): Promise<ReadResult[]> {
    return this.#ask(() => multiRead(this.#scope, reads, options));
  }

  async ensurePath(
    path: string,
    { acl, signal }: CallOptions & { acl?: readonly Acl[] } = {},
  ): Promise<void> {
    validatePath(path);
    const full = addChroot(this.#scope.chroot, path);
    if (full !== "/") await this.#ensure(full, acl ?? this.#scope.acl, signal);
  }

  sync(path: string, options: CallOptions = {}): Promise<void> {
    return this.#ask(() => questions.sync(this.#scope, path, options));
  }

  addAuth(auth: Auth): Promise<void> {
    return new Promise((resolve, reject) => {
      this.signal.throwIfAborted();
      const credential = credentialOf(auth, false);
      credential.settle = (error) => error ? reject(error) : resolve();
      keepCredential(this.#settings.session.credentials, credential);
      this.#sessions.current.authenticate(credential);
    });
  }

  async ping(options: CallOptions = {}): Promise<number> {
    const { environment } = this;
    const ask = () => this.#ask(() => questions.ping(options));
    // The time until there is a connection is no round trip.
    if (!this.#sessions.current.ready) await ask();
    const start = environment.monotonic();
    await ask();
    return environment.monotonic() - start;
  }

  async serverVersion({ signal }: CallOptions = {}): Promise<string | null> {
    this.signal.throwIfAborted();
    const { address } = this.#sessions.connection;
    if (address === undefined) {
      throw new ConnectionLossError("serverVersion", null, "not-sent");
    }
    const patience = this.session.timeout / 3;
    return versionIn(
      await fourLetterWord("srvr", address, this.#settings, patience, signal),
    );
  }

  updateServers(servers: string | readonly string[]): void {
    this.signal.throwIfAborted();
    const { chroot } = this.#scope;
    this.#sessions.connection.useServers(addressesIn(servers, chroot));
  }

  on(type: "state", listener: (change: StateChange) => void): () => void;
  on(type: "warning", listener: (warning: Warning) => void): () => void;
  on(type: "state" | "warning", listener: (news: never) => void): () => void {
    return this.#sessions.on(type as "state", listener as () => void);
  }

  ref(): void {
    this.#sessions.keepAlive(true);
  }

  unref(): void {
    this.#sessions.keepAlive(false);
  }

  detach(): Promise<DetachedSession> {
    return detach(this.#sessions);
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // Inside

  /** Bad arguments reject like everything else that goes wrong. */
  #ask<T>(
    question: () => Ask<T>,
  ): Promise<T> {
    try {
      return this.#sessions.ask(question());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #withParents<T>(
    path: string,
    { parents, acl, signal }: CreateOptions,
    create: () => Ask<T>,
  ): Promise<T> {
    const made = this.#ask(create);
    if (!parents) return made;
    return made.catch(async (error) => {
      if (codeOf(error) !== "NoNode") throw error;
      // A sequential path may end in a slash: its parent is what stands before.
      await this.ensurePath(parentPath(path + "x"), { acl, signal });
      return await this.#ask(create);
    });
  }

  /** Makes a full path; deepest first, so that rights are only needed where something is missing. */
  async #ensure(
    full: string,
    acl: readonly Acl[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (;;) {
      try {
        return await this.#sessions.ask(
          questions.createFull(this.#scope, full, acl, signal),
        );
      } catch (error) {
        const code = codeOf(error);
        if (code === "NodeExists") return;
        if (code === "NoNode" && parentPath(full) !== "/") {
          await this.#ensure(parentPath(full), acl, signal);
        } else if (code === "NoAuth") {
          const there = questions.present(full, signal);
          if (await this.#sessions.ask(there)) return;
          throw error;
        } else if (code !== "ConnectionLoss") throw error;
      }
    }
  }

  #internals(): Internals {
    const sessions = this.#sessions;
    const { chroot } = this.#scope;
    return {
      attachedAt: () => sessions.current.pulse.attachedAt,
      sentBefore: (mono) => sessions.current.pulse.sentBefore(mono),
      sentAfter: (mono) => sessions.current.pulse.sentAfter(mono),
      eager: () => sessions.current.eager,
      onDetach: (run) => sessions.onDetach(run),
      onAttached: (run) => sessions.onAttached(run),
      delete: (path, marks) =>
        this.#ask(() => questions.remove(this.#scope, path, marks)),
      multi: (ops, marks) => this.#ask(() => multi(this.#scope, ops, marks)),
      forget: (kind, path, watcher) =>
        sessions.current.watches.forget(
          kind === "data" ? ["data", "exist"] : ["child"],
          addChroot(chroot, path),
          watcher,
        ),
      warn: (warning) => sessions.warn(warning),
      guard: (listener, path) => sessions.guard(listener, path),
      password: () => sessions.current.password,
    };
  }
}
