// A lock for one piece of work, from nothing to nothing: connect, acquire, work, release, close.
// Knows no algorithm; what it saves are round trips.
// Used by users whose process, or request, lives for one lock.

import {
  type Client,
  ClientClosedError,
  connect,
  type ConnectOptions,
} from "../protocol/mod.ts";
import type { HeldLock } from "./held_lock.ts";
import type { LockOptions } from "./lock.ts";
import { checkWork, runHeld } from "./run.ts";
import { SequentialLock } from "./sequential_lock.ts";
import type { AcquireOptions } from "./turn.ts";

/** Options of {@linkcode withLock}: those of connect(), of the lock and of acquire(). */
export interface WithLockOptions
  extends
    Omit<ConnectOptions, "eager" | "session" | "signal" | "acl">,
    LockOptions,
    AcquireOptions {}

/**
 * Connects, takes a {@linkcode SequentialLock}, works, and leaves nothing behind.
 *
 * With one flight of packets to the lock and one to leave: the request for the
 * session, the znode and the list of contenders go out in one write, and so do
 * the release and the end of the session. `timeout` and `signal` are about
 * everything until the lock is held, connecting included.
 *
 * Settles as `work` did. Rejects with a LockLostError if the lock was lost by
 * then (its `cause` is what `work` threw, if it did), and otherwise like
 * connect() and acquire(). It waits for the server to confirm the end, for
 * min(sessionTimeout/3, 5 s).
 *
 * @example
 * ```ts
 * import { withLock } from "@zklock/zklock";
 *
 * const servers = "zk1:2181,zk2:2181,zk3:2181";
 * await withLock(servers, "/locks/nightly", async (held) => {
 *   await fetch("https://example.com/rebuild", { signal: held.signal });
 * }, { timeout: 5_000 });
 * ```
 */
export async function withLock<T>(
  servers: string | readonly string[],
  path: string,
  work: (held: HeldLock, client: Client) => T | Promise<T>,
  options: WithLockOptions = {},
): Promise<T> {
  checkWork(work);
  options.signal?.throwIfAborted();
  // Giving up must not cut the connection: what was asked for has to be ended there.
  const settings = { ...options, signal: undefined, eager: true };
  const client = await connect(servers, settings);
  const held = await acquired(client, path, options);
  return await runHeld(held, () => work(held, client), async () => {
    const released = held.state === "lost"
      ? Promise.resolve(false)
      // What it may not delete goes with the session.
      : held.release().catch(() => true);
    await client.close();
    return await released;
  });
}

/** Ends the client if it cannot have the lock. */
async function acquired(
  client: Client,
  path: string,
  options: WithLockOptions,
): Promise<HeldLock> {
  try {
    return await new SequentialLock(client, path, options).acquire(options);
  } catch (error) {
    const { signal } = client;
    await client.close();
    // Why it never connected says more than that it is closed.
    const isOver = error instanceof ClientClosedError &&
      error === signal.reason;
    throw isOver ? error.cause ?? error : error;
  }
}
