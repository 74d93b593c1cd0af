// Working while a lock is held: what comes of the work, and of the lock.
// Knows no kind of lock, and not how it was taken.
// Used by lock.ts and with_lock.ts.

import type { Client } from "../protocol/mod.ts";
import { LockLostError } from "./errors.ts";
import type { HeldLock } from "./held_lock.ts";
import { warnOfOrphan } from "./patience.ts";

/** Throws a TypeError for what is no function. */
export function checkWork(work: unknown): void {
  if (typeof work === "function") return;
  throw new TypeError(`Cannot run: work is not a function: ${work}`);
}

/**
 * Works, lets go, and settles as the work did. Rejects with a LockLostError if
 * the lock was lost by then; `letGo` answers false for that.
 */
export async function runHeld<T>(
  held: HeldLock,
  work: (held: HeldLock) => T | Promise<T>,
  letGo: () => Promise<boolean>,
): Promise<T> {
  let done: { value: T } | { error: unknown };
  try {
    done = { value: await work(held) };
  } catch (error) {
    done = { error };
  }
  if (!await letGo()) {
    const { reason } = held.signal;
    const cause = "error" in done
      ? done.error
      : reason instanceof LockLostError
      ? reason.cause
      : new Error("it was gone when it was to be released");
    throw new LockLostError(held.path, held.token, { cause });
  }
  if ("error" in done) throw done.error;
  return done.value;
}

/** False if it was lost. Not knowing is no reason to make anybody wait, nor to call it lost. */
export async function giveBack(
  client: Client,
  held: HeldLock,
): Promise<boolean> {
  if (held.state === "lost") return false;
  let stop = () => {};
  const away = new Promise<true>((resolve) => {
    const look = () => {
      if (client.session.state !== "connected") resolve(true);
    };
    stop = client.on("state", look);
    look();
  });
  // What became of the work matters more than what becomes of the znode.
  const released = held.release().catch((cause) => {
    warnOfOrphan(client, held.path, cause);
    return true;
  });
  try {
    return await Promise.race([released, away]);
  } finally {
    stop();
  }
}
