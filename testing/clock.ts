// Time that passes only when a test says so.
// Knows no network and no server; whoever takes an Environment can live in it.
// For the tests of users and for ours.

import type { Environment } from "../protocol/environment.ts";
import { Random } from "./random.ts";

/** Promises settle in turns of their own; a chain of them is not longer than this. */
const turns = 50;

interface Timer {
  at: number;
  /** Timers of the same time run in the order in which they were set. */
  order: number;
  run: () => void;
  isCancelled: boolean;
}

/**
 * Clocks, timers and randomness for a test: hours pass in milliseconds, and each
 * run is the same. Pass it as `environment` to connect() and to
 * `TestServer.start()`, together with the server's `transport`: what comes
 * over a real network does not wait for a virtual clock.
 *
 * @example A lock is lost while its holder is cut off
 * ```ts
 * import { connect, SequentialLock } from "@zklock/zklock";
 * import { TestServer, VirtualClock } from "@zklock/zklock/testing";
 *
 * const clock = new VirtualClock();
 * const server = await TestServer.start({ environment: clock, listen: false });
 * const zk = await clock.until(
 *   connect(server.servers, { environment: clock, transport: server.transport }),
 * );
 * const held = await clock.until(new SequentialLock(zk, "/lock").acquire());
 * server.freeze();
 * await clock.pass(60_000); // a minute, at once
 * console.log(held.state); // lost
 * server.thaw();
 * await clock.until(zk.close());
 * await server.close();
 * ```
 */
export class VirtualClock implements Environment {
  /** A heap: the next one is first. */
  readonly #timers: Timer[] = [];
  readonly #random: Random;
  #order = 0;
  #cancelled = 0;
  #now = 0;
  #wall = 1_700_000_000_000;

  /** Time begins. @param seed Of the randomness; any integer. */
  constructor(seed = 1) {
    this.#random = new Random(seed, "environment");
  }

  /** In ms since this clock was made. */
  monotonic(): number {
    return this.#now;
  }

  /** In ms since 1970. */
  wall(): number {
    return this.#wall;
  }

  /** As in every Environment. */
  after(ms: number, run: () => void): () => void {
    const at = this.#now + Math.max(0, ms);
    const timer = { at, order: this.#order++, run, isCancelled: false };
    this.#timers.push(timer);
    this.#rise(this.#timers.length - 1);
    return () => {
      if (!timer.isCancelled) this.#cancelled++;
      timer.isCancelled = true;
    };
  }

  /** As in every Environment, but the same in each run. */
  random(bytes: Uint8Array): void {
    this.#random.fill(bytes);
  }

  /** Number of timers that are set: what is closed leaves none. */
  get pending(): number {
    return this.#timers.length - this.#cancelled;
  }

  /** The wall clock alone moves: somebody set it, or the machine slept. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  /** So many ms pass, with every timer in them. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    while (this.#step(end)) await settle();
    this.#moveTo(end);
  }

  /** Time passes until a promise is settled; rejects if that takes longer than `limit` ms. */
  async until<T>(promise: Promise<T>, limit = 600_000): Promise<T> {
    let isSettled = false;
    const done = () => void (isSettled = true);
    promise.then(done, done);
    const end = this.#now + limit;
    await settle();
    while (!isSettled) {
      if (!this.#step(end)) {
        throw new Error(
          `Cannot wait for a promise: not settled after ${limit} ms`,
        );
      }
      await settle();
    }
    return await promise;
  }

  /** Runs the next timer, if it is due by then. */
  #step(end: number): boolean {
    const timer = this.#next();
    if (timer === undefined || timer.at > end) return false;
    this.#take();
    // One that is run cannot be cancelled any more.
    timer.isCancelled = true;
    this.#moveTo(timer.at);
    timer.run();
    return true;
  }

  #moveTo(time: number): void {
    if (time <= this.#now) return;
    this.#wall += time - this.#now;
    this.#now = time;
  }

  // The heap

  #next(): Timer | undefined {
    while (this.#timers[0]?.isCancelled) {
      this.#take();
      this.#cancelled--;
    }
    return this.#timers[0];
  }

  #take(): void {
    const last = this.#timers.pop()!;
    if (this.#timers.length === 0) return;
    this.#timers[0] = last;
    this.#sink();
  }

  #rise(at: number): void {
    const heap = this.#timers;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(heap[at], heap[above])) return;
      [heap[at], heap[above]] = [heap[above], heap[at]];
      at = above;
    }
  }

  #sink(): void {
    const heap = this.#timers;
    for (let at = 0;;) {
      let least = at;
      for (const below of [2 * at + 1, 2 * at + 2]) {
        if (below < heap.length && isBefore(heap[below], heap[least])) {
          least = below;
        }
      }
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least], heap[at]];
      at = least;
    }
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Lets everything run that waits for nothing but its turn. */
async function settle(): Promise<void> {
  for (let i = 0; i < turns; i++) await null;
}
