// What the tests of locks share: both kinds, a waiter, the end of a signal.
// Knows no single promise.
// Used by lock_suite*.ts.

import {
  type AcquireOptions,
  ExclusiveLock,
  type HeldLock,
  type Lock,
  SequentialLock,
} from "../../lock/mod.ts";
import type { Client } from "../../protocol/mod.ts";
import { until, within } from "./tools.ts";

/** Both kinds, for what is true of all locks. */
export const locks = [SequentialLock, ExclusiveLock] as const;

/** One of them. */
export type Kind = typeof locks[number];

/** Somebody in the queue. */
export interface Waiter {
  acquired: Promise<HeldLock>;
  /** What onQueued was told, each time. */
  ahead: number[];
  /** Whether acquired has resolved. */
  readonly isGranted: boolean;
}

/** Asks for a lock that somebody has; resolves when it has to wait. */
export async function queueFor(
  lock: Lock,
  options: AcquireOptions = {},
): Promise<Waiter> {
  const ahead: number[] = [];
  let isGranted = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const acquired = lock.acquire({
    ...options,
    onQueued(count) {
      ahead.push(count);
      resolve();
    },
  });
  acquired.then(() => isGranted = true, () => {});
  await within("it is queued", promise);
  return {
    acquired,
    ahead,
    get isGranted() {
      return isGranted;
    },
  };
}

/** Resolves with the reason when the signal aborts. */
export function abortOf(signal: AbortSignal): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const tell = () => resolve(signal.reason);
  if (signal.aborted) tell();
  else signal.addEventListener("abort", tell, { once: true });
  return within("the signal aborts", promise);
}

/** Waits until so many stand in line, or, of an exclusive lock, whether somebody has it. */
export async function countBecomes(lock: Lock, count: number): Promise<void> {
  const isSo = async () => (await lock.contenders()).length === count;
  await until(`${count} contenders`, isSo);
}

/** Kinds of the warnings from now on. */
export function warningsOf(zk: Client): string[] {
  const kinds: string[] = [];
  zk.on("warning", ({ kind }) => kinds.push(kind));
  return kinds;
}
