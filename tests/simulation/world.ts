// A world in which everything happens one after the other, by an agenda and one seed.
// Knows no ZooKeeper: time, chance, and a record of what happened.
// Used by everybody in the simulation.

import { setImmediate } from "node:timers";
import { Agenda } from "../../testing/agenda.ts";
import { Random } from "../../testing/random.ts";

/** Time, chance and history. All times in ms of the world's own clock, which is right. */
export class World {
  readonly seed: number;
  now = 0;
  /** Steps taken. */
  steps = 0;
  /** Called when a step in which programs ran is over, and nothing more can happen without the next. */
  onStep: () => void = () => {};
  /** Called with each line of the history, if anybody reads along. */
  onNote: ((line: string) => void) | undefined;
  readonly #agenda = new Agenda();
  readonly #streams = new Map<string, Random>();
  #hash = 0x811c9dc5;
  #isStopped = false;
  #isStirred = false;

  constructor(seed: number) {
    this.seed = seed;
  }

  /** Numbers for one purpose. */
  random(purpose: string): Random {
    let stream = this.#streams.get(purpose);
    if (stream === undefined) {
      this.#streams.set(purpose, stream = new Random(this.seed, purpose));
    }
    return stream;
  }

  /** Something is to happen at a time; answers how to prevent it. */
  at(time: number, run: () => void): () => void {
    return this.#agenda.add(Math.max(time, this.now), run);
  }

  /** Something is to happen in so many ms. */
  after(ms: number, run: () => void): () => void {
    return this.at(this.now + ms, run);
  }

  /** Some program runs in this step: what it leaves to promises runs before the next. */
  stir(): void {
    this.#isStirred = true;
  }

  /** Nothing more is to happen. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Time passes. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    await drained();
    while (this.#agenda.next <= end && !this.#isStopped) await this.#step();
    this.now = end;
    if (!this.#isStopped) this.onStep();
  }

  /** Time passes until a promise is settled, at most so many ms. Answers whether it is. */
  async until(promise: Promise<unknown>, limit: number): Promise<boolean> {
    let isSettled = false;
    const done = () => void (isSettled = true);
    promise.then(done, done);
    const end = this.now + limit;
    await drained();
    while (!isSettled && !this.#isStopped && this.#agenda.next <= end) {
      await this.#step();
    }
    return isSettled;
  }

  /** Adds to the history. */
  note(text: string): void {
    const line = `${this.now.toFixed(3)} ${text}`;
    let hash = this.#hash;
    for (let i = 0; i < line.length; i++) {
      hash = Math.imul(hash ^ line.charCodeAt(i), 0x01000193);
    }
    this.#hash = hash;
    this.onNote?.(line);
  }

  /** A number for the whole history: two runs that differ anywhere differ in it. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  async #step(): Promise<void> {
    this.now = this.#agenda.next;
    this.steps++;
    this.#isStirred = false;
    this.#agenda.take()!();
    if (!this.#isStirred) return;
    await drained();
    this.onStep();
  }
}

function drained(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
