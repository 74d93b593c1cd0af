// What the fault tests have in common: a server, a proxy, unique paths, waiting for conditions.
// Must not know a single fault.
// Used by the suites of this folder, and by those of locks.

import process from "node:process";
import type { Client, ConnectOptions, HeldLock } from "../../mod.ts";
import { connect, ExclusiveLock, SequentialLock } from "../../mod.ts";
import { FaultProxy } from "../../testing/mod.ts";
import { connectTo, type Target } from "../targets.ts";

/** Both locks: most promises are the same. */
export const locks = [SequentialLock, ExclusiveLock] as const;

/** A lock, as the subject of a sentence. */
export function called(Lock: { name: string }): string {
  return /^[AEIOU]/.test(Lock.name) ? `an ${Lock.name}` : `a ${Lock.name}`;
}

let paths = 0;

/** A path nobody used before, on any server. */
export function freshPath(): string {
  const run = Date.now().toString(36);
  return `/faults/${run}-${Math.random().toString(36).slice(2)}-${++paths}`;
}

/** Longer than a busy machine takes for anything, in ms; no test waits for its end. */
const patience = 60_000;

/** Rejects if `promise` takes far too long: a condition with a deadline. */
export function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`Late: ${what}: ${patience} ms`);
    timer = setTimeout(() => reject(error), patience);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Resolves when the signal aborts, with its reason. */
export function aborted(signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve(signal.reason);
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(signal.reason), {
      once: true,
    })
  );
}

/** Waits by a child watch until the children of a path are as wanted; a missing path has none. */
export async function childrenBecome(
  client: Client,
  path: string,
  wanted: (names: string[]) => boolean,
): Promise<string[]> {
  let last: string[] = [];
  const wait = async () => {
    for (;;) {
      let wake = () => {};
      const changed = new Promise<void>((resolve) => wake = resolve);
      last = await client.getChildren(path, { watch: () => wake() })
        .catch(async (error) => {
          if (error.code !== "NoNode") throw error;
          await client.exists(path, { watch: () => wake() });
          return [];
        });
      if (wanted(last)) return last;
      await changed;
    }
  };
  return await within(`children of ${path}`, wait()).catch((error) => {
    throw new Error(`${error.message}; there are: ${last.join(" ")}`);
  });
}

/** Waits until a client is in a state. */
export function stateBecomes(client: Client, state: string): Promise<void> {
  if (client.session.state === state) return Promise.resolve();
  return new Promise((resolve) => {
    const off = client.on("state", (change) => {
      if (change.state !== state) return;
      off();
      resolve();
    });
  });
}

/**
 * Plays, then undoes, the last thing first: whatever happened, nothing is left
 * that the next test could stumble over.
 */
export async function tidily(
  play: (undo: (step: () => unknown) => void) => Promise<void>,
): Promise<void> {
  const steps: (() => unknown)[] = [];
  // What a failed test has not come to await rejects when its client is closed.
  const silence = () => {};
  try {
    await play((step) => void steps.push(step));
  } catch (error) {
    process.on("unhandledRejection", silence);
    throw error;
  } finally {
    let failure: { error: unknown } | undefined;
    for (const step of steps.reverse()) {
      try {
        await step();
      } catch (error) {
        failure ??= { error };
      }
    }
    await new Promise((resolve) => setTimeout(resolve));
    process.off("unhandledRejection", silence);
    // deno-lint-ignore no-unsafe-finally
    if (failure) throw failure.error;
  }
}

/** A client behind a proxy, one straight to the server, and a fresh path. */
export interface Scene {
  proxy: FaultProxy;
  /** Behind the proxy. */
  far: Client;
  /** Straight. */
  near: Client;
  path: string;
}

/** Sets a scene, plays in it, and strikes it whatever happened. */
export async function scene(
  target: Target,
  options: ConnectOptions,
  play: (scene: Scene) => Promise<void>,
): Promise<void> {
  await tidily(async (undo) => {
    const proxy = await FaultProxy.start(target.servers);
    undo(() => proxy.close());
    const far = await connect(proxy.servers, options);
    undo(() => far.close());
    const near = await connectTo(target, options);
    undo(() => near.close());
    undo(() => proxy.heal());
    await play({ proxy, far, near, path: freshPath() });
  });
}

/** Acquires and releases once, so that directories exist and counts are steady. */
export async function warmUp(
  lock: { acquire(): Promise<HeldLock> },
): Promise<void> {
  await (await lock.acquire()).release();
}

/** Names of contenders that would hold a lock up; the fence of an exclusive one does not. */
export function leftovers(names: string[]): string[] {
  return names.filter((name) => !name.endsWith("-fence"));
}
