// A lock that is held: its token, its signal, its end.
// Knows no queue; how a kind of lock proves and ends its hold comes in as a Tenure.
// Made by contend.ts and seize.ts, given to users.

import {
  type Client,
  codeOf,
  goodbye,
  internalsOf,
  momentOf,
  MultiError,
  type Op,
  type OpResult,
  type Session,
  SessionExpiredError,
} from "../protocol/mod.ts";
import type { WatchEvent } from "../protocol/mod.ts";
import { LockLostError } from "./errors.ts";
import { type Hold, type Lease, leaseOf, overdue } from "./lease.ts";
import { warnOfOrphan } from "./patience.ts";

/**
 * Whether a lock may be relied on.
 *
 * - `held`: it is ours.
 * - `suspended`: there is no news from the server; it is ours for `remaining` ms more.
 * - `lost`: it is not ours any more, or might not be.
 * - `released`: we gave it back.
 */
export type HeldLockState = "held" | "suspended" | "lost" | "released";

/**
 * A lock that is held.
 *
 * `signal` aborts before the server can give the lock to somebody else, if this
 * session ends by silence. If an administrator deletes the znode or ends the
 * session, it aborts as soon as this client is told; the next holder may hear
 * first, and then only `token` and `guard()` protect.
 */
export interface HeldLock extends AsyncDisposable {
  /** The znode that stands for this hold. */
  readonly path: string;
  /**
   * Fencing token: grows from holder to holder, also when the lock's parent was
   * deleted in between. Let whatever the lock protects refuse smaller ones.
   */
  readonly token: bigint;
  /** Aborts with a LockLostError when the lock is lost, with an AbortError when it is released. */
  readonly signal: AbortSignal;
  /** Read from the clock, not from a timer that may be late. */
  readonly state: HeldLockState;
  /** For how many ms it may still be believed without news from the server; read from the clock. */
  readonly remaining: number;
  /** Throws a LockLostError unless it is held; by the clock, so also right after the event loop stood still. */
  assertHeld(): void;
  /** Operations for the beginning of a multi() of yours: it happens only if the lock is still held. Throws like assertHeld(). */
  check(): readonly Op[];
  /**
   * Does these operations as one transaction, if the lock is still held.
   * Rejects with a LockLostError if it is not, otherwise like multi();
   * results do not count the checks.
   *
   * @example
   * ```ts
   * import { connect, SequentialLock } from "@zklock/zklock";
   *
   * const zk = await connect("zk1:2181");
   * const held = await new SequentialLock(zk, "/locks/orders").acquire();
   * await held.guard([{ op: "setData", path: "/orders/17", data: "paid" }]);
   * await held.release();
   * ```
   */
  guard(
    ops: readonly Op[],
  ): Promise<{ zxid: bigint; results: OpResult[] }>;
  /**
   * Gives the lock back: at once for this process, and for others when the
   * server deletes the znode, which is seen to for as long as the session lives.
   * True if it was ours until now. Rejects only with a ServerError such as
   * NoAuth. Called again it answers the same.
   */
  release(): Promise<boolean>;
}

/** How one kind of lock proves that it is held, and how it lets go. */
export interface Tenure {
  readonly path: string;
  readonly token: bigint;
  /** True for as long as it is held. */
  readonly checks: readonly Op[];
  /**
   * Lets go in the session it was taken in, again after each reconnect until
   * answered. False if the server says that it was not ours any more.
   */
  letGo(): Promise<boolean>;
}

/** The hold behind a {@linkcode HeldLock}. */
export class Holding implements HeldLock, Hold {
  readonly path: string;
  readonly token: bigint;
  readonly checks: readonly Op[];
  readonly #client: Client;
  readonly #session: Session;
  readonly #tenure: Tenure;
  readonly #lease: Lease;
  readonly #onState: ((state: HeldLockState) => void) | undefined;
  readonly #abort = new AbortController();
  readonly #since: number;
  #told: HeldLockState = "held";
  #end: "lost" | "released" | undefined;
  #releasing: Promise<boolean> | undefined;
  #watcher: ((event: WatchEvent) => void) | undefined;

  /** @param session The session it was taken in, which is the client's current one. */
  constructor(
    client: Client,
    session: Session,
    tenure: Tenure,
    onState?: (state: HeldLockState) => void,
  ) {
    this.path = tenure.path;
    this.token = tenure.token;
    this.checks = tenure.checks;
    this.#client = client;
    this.#session = session;
    this.#tenure = tenure;
    this.#onState = onState;
    this.#since = client.environment.monotonic();
    this.#lease = leaseOf(client);
    this.#lease.add(this);
    if (session.signal.aborted) this.lose(session.signal.reason);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get state(): HeldLockState {
    if (this.#end === undefined && this.#lease.remaining <= 0) {
      this.lose(overdue());
    }
    return this.#end ?? (this.#lease.doubtful ? "suspended" : "held");
  }

  get remaining(): number {
    return this.#end === undefined ? Math.max(0, this.#lease.remaining) : 0;
  }

  assertHeld(): void {
    const { state } = this;
    if (state === "held" || state === "suspended") return;
    const { reason } = this.signal;
    if (reason instanceof LockLostError) throw reason;
    throw new LockLostError(this.path, this.token, { cause: reason });
  }

  check(): readonly Op[] {
    this.assertHeld();
    return this.checks;
  }

  async guard(
    ops: readonly Op[],
  ): Promise<{ zxid: bigint; results: OpResult[] }> {
    const checks = this.check();
    const since = momentOf(this.#client.environment);
    try {
      const done = await this.#client.multi([...checks, ...ops]);
      this.#lease.committed(this.#session, since);
      return { ...done, results: done.results.slice(checks.length) };
    } catch (error) {
      throw this.#guardError(error);
    }
  }

  release(): Promise<boolean> {
    if (this.#releasing === undefined) {
      let settle: (released: Promise<boolean>) => void = () => {};
      // Set before anybody is told: who is told may call release() again.
      this.#releasing = new Promise((resolve) => settle = resolve);
      settle(this.#release());
    }
    return this.#releasing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // What the body of the block threw matters more.
    await this.release().catch((cause) => this.#orphan(cause));
  }

  // What the lease says

  lose(cause: Error): void {
    if (this.#end !== undefined) return;
    this.#finish("lost", new LockLostError(this.path, this.token, { cause }));
    // By the clock it is lost, but the server may keep it, and it would block others.
    this.#tenure.letGo().catch((cause) => this.#orphan(cause));
  }

  refresh(): void {
    this.#tell(this.state);
  }

  beat(): void {
    const age = this.#client.environment.monotonic() - this.#since;
    if (this.#watcher === undefined && age >= this.#lease.period / 2) {
      void this.#watch();
    }
  }

  // Inside

  async #release(): Promise<boolean> {
    if (this.state === "lost") return false;
    this.#finish("released", new DOMException("Released", "AbortError"));
    const { environment } = this.#client;
    const gone = this.#tenure.letGo();
    return await new Promise((resolve, reject) => {
      const giveUp = environment.after(goodbye(this.#session.timeout), () => {
        resolve(true);
        gone.catch((cause) => this.#orphan(cause));
      }, false);
      gone.then(resolve, reject).finally(giveUp);
    });
  }

  #orphan(cause: unknown): void {
    warnOfOrphan(this.#client, this.path, cause);
  }

  #finish(end: "lost" | "released", reason: Error): void {
    this.#end = end;
    this.#lease.remove(this);
    if (this.#watcher) {
      internalsOf(this.#client).forget("data", this.path, this.#watcher);
    }
    this.#abort.abort(reason);
    this.#tell(end);
  }

  #tell(state: HeldLockState): void {
    if (state === this.#told || this.#onState === undefined) return;
    this.#told = state;
    internalsOf(this.#client).guard(() => this.#onState!(state), this.path);
  }

  /** Watches the own znode, so that its deletion by an operator is known within a round trip. */
  async #watch(): Promise<void> {
    const watcher = this.#watcher = ({ type }: WatchEvent) => {
      this.#watcher = undefined;
      if (this.#end !== undefined || type === "session-lost") return;
      if (type === "deleted") {
        this.lose(new Error(`Somebody deleted ${this.path}`));
      } else void this.#watch();
    };
    try {
      await this.#client.getData(this.path, { watch: watcher });
      if (this.#end !== undefined) {
        internalsOf(this.#client).forget("data", this.path, watcher);
      }
    } catch (error) {
      this.#watcher = undefined;
      if (codeOf(error) === "NoNode") this.lose(error as Error);
    }
  }

  #guardError(error: unknown): unknown {
    const { path, token } = this;
    if (error instanceof SessionExpiredError) {
      return new LockLostError(path, token, { cause: error });
    }
    if (!(error instanceof MultiError)) return error;
    const own = this.checks.length;
    if (error.index >= own) {
      return new MultiError(
        error.index - own,
        error.results.slice(own),
        error.zxid,
        { cause: error },
      );
    }
    this.lose(error);
    return new LockLostError(path, token, { cause: error });
  }
}
