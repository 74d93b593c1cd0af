// Clocks, timers and randomness of the host: the only file that touches them.
// Knows nothing of ZooKeeper.
// Passed as a value; lock/ and users reach it as client.environment.

import { ZooKeeperError } from "./errors.ts";
import type { Moment } from "./moment.ts";

/** Where time and randomness come from. Tests pass a virtual one. */
export interface Environment {
  /** A clock that is never set back, in ms. */
  monotonic(): number;
  /** The clock on the wall, in ms since 1970. */
  wall(): number;
  /**
   * Calls `run` once after so many ms and answers how to prevent that. Unless
   * `keepAlive` is false the process stays alive for it.
   */
  after(ms: number, run: () => void, keepAlive?: boolean): () => void;
  /** Fills bytes with unpredictable values. */
  random(bytes: Uint8Array): void;
}

/** Timers longer than this fire at once on every runtime. */
const longestTimer = 0x7fffffff;

/** The clocks, timers and randomness of the runtime we are in. */
export const hostEnvironment: Environment = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after(ms, run, keepAlive = true) {
    const timer: unknown = inHandler(() =>
      setTimeout(run, Math.min(ms, longestTimer))
    );
    if (!keepAlive) (timer as { unref?(): void }).unref?.();
    return () => clearTimeout(timer as number);
  },
  random: (bytes) => {
    inHandler(() => crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>));
  },
};

/** Edge workers have neither timers nor randomness while a module loads, nor connections. */
function inHandler<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw named(cause);
  }
}

/**
 * A signal of ours, if it may be touched. In an edge worker what was made in one
 * request is out of bounds for others: there it throws a ZooKeeperError.
 */
export function touched(signal: AbortSignal): AbortSignal {
  try {
    void signal.aborted;
    return signal;
  } catch (cause) {
    throw named(cause);
  }
}

/** What workerd says in plain Errors of where a client may be used. */
function named(cause: unknown): unknown {
  const text = `${cause}`;
  if (/global scope/.test(text)) {
    return new ZooKeeperError(
      "GlobalScope",
      "Cannot connect while a module loads: a Worker does it only inside a handler (fetch, alarm, …)",
      { cause },
    );
  }
  if (/behalf of a different/.test(text)) {
    return new ZooKeeperError(
      "OtherRequest",
      "Cannot use this client: it belongs to the request (or Durable Object) of a Worker that connected it, and cannot be kept for another",
      { cause },
    );
  }
  return cause;
}

/** Reads both clocks. */
export function momentOf(environment: Environment): Moment {
  return { mono: environment.monotonic(), wall: environment.wall() };
}
