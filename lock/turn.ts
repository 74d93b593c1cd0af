// One acquire(): who waits, until when, and what becomes of it. Exactly one of granted, cancelled, failed.
// Knows no znodes.
// Made by lock.ts for each call; the loops of the locks run inside one.

import {
  type Client,
  type Data,
  internalsOf,
  type Session,
} from "../protocol/mod.ts";
import type { HeldLock, HeldLockState } from "./held_lock.ts";
import { answerTime } from "./patience.ts";

/** Options of `acquire()`, `tryAcquire()` and `run()`. */
export interface AcquireOptions {
  /** Gives up waiting: acquire() rejects with its reason. Changes nothing once the lock is held. */
  signal?: AbortSignal;
  /** Gives up waiting after so many ms, with a TimeoutError. 0: unless the first reply grants it. */
  timeout?: number;
  /** Data of the znode, for people who look at the queue. */
  data?: Data;
  /** Called when it has to wait, with the number of contenders ahead; again if it loses its place. */
  onQueued?: (ahead: number) => void;
  /** Called when the state of the lock changes after it is held. */
  onState?: (state: HeldLockState) => void;
}

/** The outcome of one attempt to take a lock. */
export class Turn {
  readonly client: Client;
  readonly options: AcquireOptions;
  /** Do not wait behind others: null at the first reply that shows one. */
  readonly trying: boolean;
  readonly result: Promise<HeldLock | null>;
  #over = false;
  #settle!: { resolve(held: HeldLock | null): void; reject(e: unknown): void };
  readonly #stop = new Set<() => void>();
  #wake: (() => void) | undefined;
  #awake = false;
  #leave: (() => void) | undefined;

  constructor(client: Client, options: AcquireOptions, trying: boolean) {
    this.client = client;
    this.options = options;
    this.trying = trying;
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#begin();
  }

  /** True once nobody waits for it any more; a lock granted now must be given back. */
  get over(): boolean {
    return this.#over;
  }

  /** The lock is ours, or for a try: it is not. */
  grant(held: HeldLock | null): void {
    if (this.#end()) this.#settle.resolve(held);
  }

  /** It cannot be had. What stands for us in the queue goes. */
  fail(reason: unknown): void {
    if (!this.#end()) return;
    this.#settle.reject(reason);
    this.leave();
    this.wake();
  }

  /** Something on the server stands for us now, and this deletes it: at once when the turn fails, whatever the loop waits for. */
  entered(leave: () => void): void {
    this.#leave = leave;
  }

  /** Deletes it, if there still is something. */
  leave(): void {
    const leave = this.#leave;
    this.#leave = undefined;
    leave?.();
  }

  /** It is the holder's from now on, or gone. */
  left(): void {
    this.#leave = undefined;
  }

  /** There may be news. Kept until somebody sleeps. */
  wake(): void {
    this.#awake = true;
    this.#wake?.();
  }

  /** Resolves at the next wake(), at once if there was one since the last sleep. */
  async sleep(): Promise<void> {
    if (!this.#awake && !this.#over) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    this.#wake = undefined;
    this.#awake = false;
  }

  /** Resolves after so many ms, or when nobody waits any more. */
  rest(ms: number): Promise<void> {
    if (this.#over || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#stop.delete(end);
        resolve();
      };
      const { environment } = this.client;
      const cancel = environment.after(Math.ceil(ms), end, false);
      this.#stop.add(end);
    });
  }

  /**
   * False while to ask would only be to wait, and perhaps to be given up: sleep
   * then. True when this session can be read and written, or nobody waits any
   * more. Throws when the session is over.
   */
  ready(session: Session): boolean {
    if (this.#over || session.state === "connected") return true;
    if (internalsOf(this.client).eager()) return true;
    session.signal.throwIfAborted();
    return false;
  }

  /** Tells the caller that it has to wait. */
  queued(ahead: number): void {
    if (this.options.timeout === 0) return this.fail(timedOut(0));
    internalsOf(this.client).guard(() => this.options.onQueued?.(ahead));
  }

  // Inside

  #begin(): void {
    const { client } = this;
    const { signal, timeout } = this.options;
    if (client.signal.aborted) return this.fail(client.signal.reason);
    if (signal?.aborted) return this.fail(signal.reason);
    if (timeout === 0 && !this.ready(client.session)) {
      return this.fail(timedOut(0));
    }
    if (signal) this.#listen(signal);
    this.#stop.add(internalsOf(client).onDetach((reason) => this.fail(reason)));
    this.#stop.add(client.on("state", ({ state }) => {
      if (client.signal.aborted) this.fail(client.signal.reason);
      else if (timeout === 0 && state !== "connected") this.fail(timedOut(0));
      // While there is no connection there is no news.
      else if (state !== "disconnected") this.wake();
    }));
    if (timeout !== undefined) {
      const { environment, session } = client;
      const late = () => this.fail(timedOut(timeout));
      // 0 is "by the first reply", which a sick server may never send.
      const wait = timeout || answerTime(session);
      this.#stop.add(environment.after(wait, late, false));
    }
  }

  #listen(signal: AbortSignal): void {
    const abort = () => this.fail(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    this.#stop.add(() => signal.removeEventListener("abort", abort));
  }

  /** False if it had ended before. */
  #end(): boolean {
    if (this.#over) return false;
    this.#over = true;
    for (const stop of this.#stop) stop();
    this.#stop.clear();
    return true;
  }
}

function timedOut(timeout: number): DOMException {
  return new DOMException(
    `Cannot lock within ${timeout} ms: somebody else holds it, or no server answers`,
    "TimeoutError",
  );
}

/** Checks options before anything is sent. Throws a TypeError or RangeError. */
export function checkAcquireOptions(options: AcquireOptions): void {
  const { timeout, signal } = options;
  if (timeout !== undefined && !(timeout >= 0 && timeout < Infinity)) {
    throw new RangeError(
      `Cannot use timeout: not a number of ms from 0 on: ${timeout}`,
    );
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError(`Cannot use signal: not an AbortSignal: ${signal}`);
  }
  for (const name of ["onQueued", "onState"] as const) {
    const listener = options[name];
    if (listener !== undefined && typeof listener !== "function") {
      throw new TypeError(`Cannot use ${name}: not a function: ${listener}`);
    }
  }
}
