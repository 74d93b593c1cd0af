// Things that are to happen later, in the order in which they came.
// Knows neither packets nor sockets.
// Used by relay.ts and rough_line.ts, one for each direction of a connection.

import type { Environment } from "../protocol/environment.ts";

/** Delays, and keeps the order whatever the delays are. */
export class DelayQueue {
  /** What is due earlier than something before it waits for that. */
  #waiting: { due: number; run: () => void }[] = [];
  #cancel: (() => void) | undefined;
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Runs this in so many ms, but not before what came before it; at once if nothing is in the way. */
  add(ms: number, run: () => void): void {
    if (ms === 0 && this.#waiting.length === 0) return run();
    this.#waiting.push({ due: this.#environment.monotonic() + ms, run });
    this.#arm();
  }

  /** Runs everything now. */
  flush(): void {
    this.#runUntil(Infinity);
  }

  /** Forgets everything. */
  clear(): void {
    this.#waiting = [];
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Looks at the queue anew each time: what runs may add to it or clear it. */
  #runUntil(time: number): void {
    while (this.#waiting.length > 0 && this.#waiting[0].due <= time) {
      this.#waiting.shift()!.run();
    }
    if (this.#waiting.length === 0) this.clear();
    else this.#arm();
  }

  #arm(): void {
    if (this.#cancel !== undefined) return;
    const ms = this.#waiting[0].due - this.#environment.monotonic();
    this.#cancel = this.#environment.after(Math.max(0, Math.ceil(ms)), () => {
      this.#cancel = undefined;
      this.#runUntil(this.#environment.monotonic());
    });
  }
}
