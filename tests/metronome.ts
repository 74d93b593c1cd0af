// Timers for a server that outlives single tests: all of them run on one interval, set when the process began.
// Knows no server.
// Used by targets.ts: a leak check takes any other timer that it sees come or go for the test's own.

import { type Environment, hostEnvironment } from "../protocol/environment.ts";
import { Agenda } from "../testing/agenda.ts";

/** In ms; what is due is late by no more. */
const beat = 5;

/** The host's clocks, with timers of its own. */
export class Metronome implements Environment {
  readonly #agenda = new Agenda();

  constructor() {
    const interval: unknown = setInterval(() => this.#run(), beat);
    (interval as { unref?(): void }).unref?.();
  }

  monotonic(): number {
    return hostEnvironment.monotonic();
  }

  wall(): number {
    return hostEnvironment.wall();
  }

  after(ms: number, run: () => void): () => void {
    if (ms > 0) return this.#agenda.add(this.monotonic() + ms, run);
    // What only waits for its turn: bytes in memory.
    let isWanted = true;
    queueMicrotask(() => isWanted && run());
    return () => void (isWanted = false);
  }

  random(bytes: Uint8Array): void {
    hostEnvironment.random(bytes);
  }

  #run(): void {
    const now = this.monotonic();
    while (this.#agenda.next <= now) this.#agenda.take()!();
  }
}
