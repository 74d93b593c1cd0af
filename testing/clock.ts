// Time that passes only when a test says so.
// Knows no network and no server; whoever takes an Environment can live in it. Reads the host's clock only to give up.
// For the tests of users and for ours.

import { type Environment, hostEnvironment } from "../protocol/environment.ts";
import { Agenda } from "./agenda.ts";
import { Random } from "./random.ts";

/** Promises settle in turns of their own: chains of up to so many get to their end before time moves on. */
const turns = 500;

/** In until(), time moves so often before the host gets a turn: a turn of it costs about 1 ms. */
const movesPerHostTurn = 20;

/** In until(), so long, in ms of real time, the host gets turns when nothing else is left to happen. */
const patience = 1000;

/**
 * Clocks, timers and randomness for a test: hours pass in milliseconds, and each
 * run is the same. Pass it as `environment` to connect() and to
 * `TestServer.start()`, together with the server's `transport`: what comes
 * over a real network does not wait for a virtual clock.
 *
 * Time stands still unless pass() or until() is at work, so whatever needs time
 * waits for ever if it is awaited alone: write `await clock.until(zk.close())`,
 * not `await zk.close()`, and no `await using` for a client or a lock.
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
  readonly #timers = new Agenda();
  readonly #random: Random;
  #now = 0;
  #wall = 1_700_000_000_000;

  /**
   * A clock that shows 0, and on the wall a day in November 2023.
   *
   * @param seed Of the randomness; any integer.
   */
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

  /** As in every Environment. Throws a RangeError if `ms` is no number. */
  after(ms: number, run: () => void): () => void {
    if (Number.isNaN(ms)) throw new RangeError(`Cannot set a timer: ${ms} ms`);
    return this.#timers.add(this.#now + Math.max(0, ms), run);
  }

  /** As in every Environment, but the same in each run. */
  random(bytes: Uint8Array): void {
    this.#random.fill(bytes);
  }

  /**
   * Number of timers that are set: what is closed leaves none. What is on its
   * way through the `transport` of a TestServer counts until it has arrived,
   * also behind a close(): `pass(0)` lets it.
   */
  get pending(): number {
    return this.#timers.size;
  }

  /** The wall clock alone moves: somebody set it, or the machine slept. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  /**
   * So many ms pass, with every timer in them. Before each timer, promises
   * settle that wait for nothing but one another; none waits for the host, e.g.
   * for `setTimeout` or `crypto.subtle`: only until() does. Rejects with a
   * RangeError if `ms` is negative or not finite.
   */
  async pass(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity)) {
      throw new RangeError(`Cannot let ${ms} ms pass`);
    }
    const end = this.#now + ms;
    await settle();
    while (this.#step(end)) await settle();
    this.#moveTo(end);
  }

  /**
   * Time passes until a promise is settled; rejects if that takes longer than
   * `limit` ms. What the host does meanwhile, e.g. in `crypto.subtle`, takes no
   * time but its own: other timers may run before it is done. When none is left
   * within `limit` it is waited for, up to a second of real time.
   */
  async until<T>(promise: Promise<T>, limit = 600_000): Promise<T> {
    let isSettled = false;
    const done = () => void (isSettled = true);
    promise.then(done, done);
    const end = this.#now + limit;
    await settle();
    let moves = 0;
    while (!isSettled) {
      const isMove = this.#isDue(end) && this.#timers.next > this.#now;
      if (isMove && moves++ % movesPerHostTurn === 0) {
        await hostTurn();
        await settle();
        if (isSettled) break;
      }
      if (this.#step(end)) await settle();
      else if (!await this.#hostActs(end, () => isSettled)) {
        throw new Error(
          `Cannot wait for a promise: not settled after ${limit} ms`,
        );
      }
    }
    return await promise;
  }

  /** Whether the host, given time, settles something or sets a timer that is due by then. */
  async #hostActs(end: number, isSettled: () => boolean): Promise<boolean> {
    const giveUp = hostEnvironment.monotonic() + patience;
    while (!isSettled() && !this.#isDue(end)) {
      if (hostEnvironment.monotonic() > giveUp) return false;
      await hostTurn();
      await settle();
    }
    return true;
  }

  #isDue(end: number): boolean {
    const { next } = this.#timers;
    return next <= end && next !== Infinity;
  }

  /** Runs the next timer, if it is due by then. */
  #step(end: number): boolean {
    if (!this.#isDue(end)) return false;
    this.#moveTo(this.#timers.next);
    const run = this.#timers.take()!;
    run();
    return true;
  }

  #moveTo(time: number): void {
    if (time <= this.#now) return;
    this.#wall += time - this.#now;
    this.#now = time;
  }
}

/** Lets everything run that waits for nothing but its turn. */
async function settle(): Promise<void> {
  for (let i = 0; i < turns; i++) await null;
}

/** Lets the host run what it has finished: timers of its own, cryptography, files. */
function hostTurn(): Promise<void> {
  return new Promise((resolve) => void hostEnvironment.after(0, resolve));
}
