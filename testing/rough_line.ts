// A way to a client that can be made slow, crumbly or dead.
// Knows no packets: bytes only.
// Used by server.ts, one for each connection.

import type { Environment } from "../protocol/environment.ts";
import type { Line } from "./backend.ts";
import { DelayQueue } from "./queue.ts";

/** How rough it is at the moment. */
export interface Roughness {
  /** So long, in ms, everything is held back, both ways. */
  delay: number;
  /** Bytes leave in pieces of at most so many. */
  piece: number;
}

/** A line, and what is done to it. */
export class RoughLine implements Line {
  readonly remote: string;
  readonly #line: Line;
  readonly #roughness: Roughness;
  readonly #up: DelayQueue;
  readonly #down: DelayQueue;
  #isDead = false;

  constructor(line: Line, roughness: Roughness, environment: Environment) {
    this.remote = line.remote;
    this.#line = line;
    this.#roughness = roughness;
    this.#up = new DelayQueue(environment);
    this.#down = new DelayQueue(environment);
  }

  /** Neither side hears the other again, and neither is told. */
  die(): void {
    this.#isDead = true;
  }

  /** What was held back goes on. */
  flush(): void {
    this.#up.flush();
    this.#down.flush();
  }

  /** Nothing is held back any more: the connection is gone. */
  clear(): void {
    this.#up.clear();
    this.#down.clear();
  }

  /** Something came from the client. */
  fromClient(run: () => void): void {
    if (!this.#isDead) this.#up.add(this.#roughness.delay, run);
  }

  isBehind(): boolean {
    return this.#line.isBehind?.() ?? false;
  }

  write(bytes: Uint8Array): void {
    const { piece } = this.#roughness;
    for (let at = 0; at < bytes.length; at += piece) {
      const part = bytes.subarray(at, at + piece);
      this.#toClient(() => this.#line.write(part));
    }
  }

  finish(): void {
    this.#toClient(() => this.#line.finish());
  }

  reset(): void {
    this.#toClient(() => this.#line.reset());
  }

  /** Ends it, dead or not. */
  end(): void {
    this.clear();
    this.#line.reset();
  }

  #toClient(run: () => void): void {
    if (!this.#isDead) this.#down.add(this.#roughness.delay, run);
  }
}
