// What all locks have in common: acquire, try, run, contenders; options and their checks.
// Knows no algorithm: each kind of lock brings its own.
// Extended by sequential_lock.ts and exclusive_lock.ts.

import {
  type Acl,
  aclOf,
  type Client,
  internalsOf,
  type Session,
  validatePath,
} from "../protocol/mod.ts";
import type { HeldLock, Tenure } from "./held_lock.ts";
import { leaseOf } from "./lease.ts";
import { type Claim, type Finder, resume } from "./resume.ts";
import { checkWork, giveBack, runHeld } from "./run.ts";
import { type AcquireOptions, checkAcquireOptions, Turn } from "./turn.ts";

/** Options of a lock. */
export interface LockOptions {
  /** For the znodes of the lock and those above it that are missing; must let this client read. Default: that of connect(). */
  acl?: readonly Acl[];
  /**
   * tickTime of the ensemble in ms, where you know it: a lock can then be
   * believed for longer without news. Default assumption: half the timeout.
   */
  serverTick?: number;
  /**
   * What a waiter does whose session ends, or whose znode somebody deletes:
   * enter again at the end of the queue (default), or reject. Holders are always
   * told that they lost.
   */
  onSessionLoss?: "requeue" | "reject";
}

/** Options of {@linkcode Lock.resume}, as in {@linkcode AcquireOptions}. */
export type ResumeOptions = Pick<
  AcquireOptions,
  "signal" | "timeout" | "onState"
>;

/** Somebody who wants the lock, or has it. */
export interface Contender {
  /** Its znode. */
  path: string;
  /** Its number; null where there are none. */
  sequence: number | null;
  /** Who made it, as far as can be told. */
  id: string | null;
  /** What it wants: `lock`, or what another client calls it. */
  kind: string;
  /** True if it is of this client. */
  mine: boolean;
  /** True if it has the lock, as far as the server knows. */
  holder: boolean;
}

/**
 * A distributed lock. It has no state of its own: it may be shared, used many
 * times at once, and only a {@linkcode HeldLock} can release.
 *
 * Its znodes are ephemeral: an ensemble with `localSessionsEnabled` must let
 * sessions be upgraded, or it refuses them (EphemeralOnLocalSession).
 */
export abstract class Lock {
  /** The client it asks. */
  readonly client: Client;
  /** Where it lies. */
  readonly path: string;
  /** Its options, checked. */
  protected readonly options: Readonly<LockOptions>;

  /** Throws a TypeError or RangeError for arguments that cannot be. Sends nothing. */
  constructor(client: Client, path: string, options: LockOptions = {}) {
    internalsOf(client); // Throws for what connect() did not make.
    validatePath(path);
    if (path === "/") {
      throw new TypeError('Cannot lock "/": choose a path below it');
    }
    const { acl, serverTick, onSessionLoss = "requeue" } = options;
    if (acl !== undefined) aclOf(acl);
    if (serverTick !== undefined && !(serverTick > 0 && serverTick < 1e9)) {
      throw new RangeError(
        `Cannot use serverTick: not a number of ms above 0: ${serverTick}`,
      );
    }
    if (onSessionLoss !== "requeue" && onSessionLoss !== "reject") {
      throw new TypeError(
        `Cannot use onSessionLoss: unknown: ${onSessionLoss}`,
      );
    }
    this.client = client;
    this.path = path;
    this.options = { acl, serverTick, onSessionLoss };
    if (serverTick !== undefined) leaseOf(client).useTick(serverTick);
  }

  /**
   * Waits until the lock is ours, also while no server answers: only `signal`,
   * `timeout` and close() end that. When it rejects, its znode is gone or surely
   * going. Rejects with the signal's reason, a TimeoutError (DOMException), a
   * ClientClosedError, a ServerError such as NoAuth, a SequenceExhaustedError,
   * or by option with what ended the session.
   */
  acquire(options: AcquireOptions = {}): Promise<HeldLock> {
    return this.#begin(options, false) as Promise<HeldLock>;
  }

  /**
   * The lock if nobody is ahead, else null: after one round trip, but for the
   * first use of a path, whose znodes are made then. While there is no connection
   * it waits for one. Rejects like acquire().
   */
  tryAcquire(options: AcquireOptions = {}): Promise<HeldLock | null> {
    return this.#begin(options, true);
  }

  /**
   * Acquires, works, releases; settles as `work` did. Rejects with a
   * LockLostError if the lock was lost by then (its `cause` is what `work` threw,
   * if it did). The server is asked, so it waits for the answer to the release,
   * for min(timeout/3, 5 s); without a connection it does not wait: then the
   * lock was held by the clock, and the znode goes when the server can be reached.
   */
  async run<T>(
    work: (held: HeldLock) => T | Promise<T>,
    options: AcquireOptions = {},
  ): Promise<T> {
    checkWork(work);
    const held = await this.acquire(options);
    return await runHeld(held, work, () => giveBack(this.client, held));
  }

  /**
   * Goes on holding what was held in this session before {@linkcode Client.detach},
   * by its `path` and `token`. The queue is not entered: rejects with a
   * LockLostError if the lock is not held by this session any more, and otherwise
   * like acquire(). Given up, it leaves the lock as it is.
   */
  resume(
    path: string,
    token: bigint,
    options: ResumeOptions = {},
  ): Promise<HeldLock> {
    try {
      checkAcquireOptions(options);
      this.checkClaim(path);
      if (typeof token !== "bigint") {
        throw new TypeError(`Cannot resume ${path}: no token: ${token}`);
      }
    } catch (error) {
      return Promise.reject(error);
    }
    const turn = new Turn(this.client, options, false);
    const find: Finder = (session, claim) => this.find(session, claim);
    if (!turn.over) void resume(turn, { path, token }, find);
    return turn.result as Promise<HeldLock>;
  }

  /** Who can be seen to want the lock, in order, the holder first. Empty if nobody does. */
  abstract contenders(): Promise<Contender[]>;

  /** @ignore Throws a TypeError for a path that cannot be held of this lock. For the library only. */
  protected abstract checkClaim(path: string): void;

  /** @ignore What this session holds of it; null if it does not. For the library only. */
  protected abstract find(
    session: Session,
    claim: Claim,
  ): Promise<Tenure | null>;

  /** @ignore Runs until the turn is over, and never rejects. For the library only. */
  protected abstract take(turn: Turn): Promise<void>;

  #begin(options: AcquireOptions, trying: boolean): Promise<HeldLock | null> {
    try {
      checkAcquireOptions(options);
    } catch (error) {
      return Promise.reject(error);
    }
    const turn = new Turn(this.client, options, trying);
    if (!turn.over) void this.take(turn);
    return turn.result;
  }
}
