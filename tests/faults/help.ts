// What the fault tests have in common: a server, a proxy, unique paths, waiting for conditions.
// Must not know a single fault.
// Used by the suites of this folder, and by those of locks.

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

/** Rejects if `promise` takes longer than `ms`: a condition with a deadline. */
export function within<T>(
  ms: number,
  what: string,
  promise: Promise<T>,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Late: ${what}: ${ms} ms`)), ms);
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
  ms = 15_000,
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
  return await within(ms, `children of ${path}`, wait()).catch((error) => {
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
  const proxy = await FaultProxy.start(target.servers);
  const clients: Client[] = [];
  try {
    clients.push(await connect(proxy.servers, options));
    clients.push(await connectTo(target, options));
    const [far, near] = clients;
    await play({ proxy, far, near, path: freshPath() });
  } finally {
    proxy.heal();
    await Promise.all(clients.map((client) => client.close()));
    await proxy.close();
  }
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
