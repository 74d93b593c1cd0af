// The experiment: one contender after the other gets in line, then each has its turn.
// Knows no kind of lock, prints nothing: it tells.
// Run by show.ts once for each kind of lock.

import { setTimeout as sleep } from "node:timers/promises";
import type { Lock } from "../../mod.ts";
import type { Meter, Traffic } from "./traffic.ts";

/** One contender's turn. Times are ms since the experiment began, by the monotonic clock. */
export interface Turn {
  /** Its number, from 1, in the order in which they got in line. */
  contender: number;
  askedAt: number;
  grantedAt: number;
  /** When it began to give the lock back. */
  releasedAt: number;
  token: bigint;
}

/** What came of it. */
export interface Findings {
  /** In the order in which they got the lock. */
  turns: Turn[];
  /** Getting in line; then one from each release to the next. */
  phases: Traffic[];
}

/** Something happened, at so many ms. */
export type Tell = (at: number, contender: number, what: string) => void;

/** What the experiment needs. */
export interface Setup {
  /** One for each contender, all of the same path. */
  locks: readonly Lock[];
  /** Counts the traffic of their clients. */
  meter: Meter;
  /** How long each keeps the lock, in ms. */
  hold: number;
  tell: Tell;
  signal: AbortSignal;
}

/** Nobody waits longer than all holds together and this, in ms. */
const patience = 20_000;

/** Runs it. Rejects with what went wrong first; then nobody holds or waits any more. */
export async function experiment(setup: Setup): Promise<Findings> {
  const { locks, meter } = setup;
  const stop = new AbortController();
  const signal = AbortSignal.any([setup.signal, stop.signal]);
  const everybodyWaits = Promise.withResolvers<void>();
  const turns: Turn[] = [];
  const start = performance.now();
  const run = new Run(
    { ...setup, signal },
    everybodyWaits.promise,
    turns,
    () => performance.now() - start,
  );
  const running: Promise<void>[] = [];
  meter.restart();
  try {
    // One after the other, so that it is known who came first.
    for (const i of locks.keys()) {
      const inLine = Promise.withResolvers<void>();
      const turn = run.take(i, () => inLine.resolve());
      running.push(turn);
      turn.catch((error) => stop.abort(error));
      await Promise.race([inLine.promise, turn]);
      // Answered after all this client asked before, so its watch is set now.
      await locks[i].client.ping({ signal });
    }
    everybodyWaits.resolve();
    await Promise.all(running);
    return { turns, phases: meter.restart() };
  } catch (error) {
    stop.abort(error);
    everybodyWaits.resolve();
    await Promise.allSettled(running);
    throw error;
  }
}

class Run {
  readonly #setup: Setup;
  readonly #everybodyWaits: Promise<void>;
  readonly #turns: Turn[];
  readonly #now: () => number;

  constructor(
    setup: Setup,
    everybodyWaits: Promise<void>,
    turns: Turn[],
    now: () => number,
  ) {
    this.#setup = setup;
    this.#everybodyWaits = everybodyWaits;
    this.#turns = turns;
    this.#now = now;
  }

  /** Waits for the lock, keeps it for a while, gives it back. */
  async take(index: number, inLine: () => void): Promise<void> {
    const { locks, meter, hold, tell, signal } = this.#setup;
    const contender = index + 1;
    const askedAt = this.#now();
    await using held = await locks[index].acquire({
      signal,
      timeout: locks.length * hold + patience,
      data: `contender ${contender}`,
      onQueued: inLine,
    });
    const turn = {
      contender,
      askedAt,
      grantedAt: this.#now(),
      releasedAt: Infinity,
      token: held.token,
    };
    this.#turns.push(turn);
    tell(turn.grantedAt, contender, `got it, token ${held.token}`);
    inLine();
    // Only matters to the first: nobody is to miss its release.
    await this.#everybodyWaits;
    const end = AbortSignal.any([signal, held.signal]);
    await sleep(hold, undefined, { signal: end }).catch(() => {});
    signal.throwIfAborted();
    held.assertHeld();
    turn.releasedAt = this.#now();
    tell(turn.releasedAt, contender, "releases it");
    meter.split();
    if (!await held.release()) {
      throw new Error(`Contender ${contender} released what it had lost`);
    }
  }
}
