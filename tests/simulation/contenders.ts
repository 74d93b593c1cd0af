// What programs do with a lock: take it, work, write, let it go, change their minds.
// Knows the library under test by its public names only.
// One for each contender of a simulation.

import type { Client, HeldLock, Lock } from "../../mod.ts";
import type { Machine } from "./machine.ts";
import type { Oracles } from "./oracles.ts";
import type { Random } from "../../testing/random.ts";
import type { World } from "./world.ts";

/** What a contender works with. */
export interface Part {
  world: World;
  machine: Machine;
  oracles: Oracles;
  client: Client;
  random: Random;
  /** How long it stays away between two rounds, at most, in ms. */
  pause: number;
  /** Everybody is asked to stop. */
  isEnding: () => boolean;
}

/** What may come of a write or an acquire() when everything goes wrong. */
const honest = new Set([
  "ConnectionLoss",
  "SessionExpired",
  "LockLost",
  "ThrottledOp",
]);

/** Timers are not exact, in ms. */
const slack = 5;

/** Sleeps in the process: it may stand still when it is over. */
export function sleep({ world, machine }: Part, ms: number): Promise<void> {
  return new Promise((resolve) => {
    world.at(machine.here + ms, () => machine.run(resolve));
  });
}

/** Takes the lock again and again, until asked to stop. */
export async function contend(part: Part, lock: Lock): Promise<void> {
  const { random, isEnding } = part;
  while (!isEnding()) {
    await sleep(part, random.between(0, part.pause));
    const held = await take(part, lock);
    if (held === null) continue;
    part.oracles.granted(part.machine, held);
    await work(part, held);
    await leave(part, held);
  }
}

async function take(part: Part, lock: Lock): Promise<HeldLock | null> {
  const { world, machine, random, oracles } = part;
  const giveUp = new AbortController();
  let gaveUpAt: number | undefined;
  const mood = random.fraction();
  if (mood < 0.3) {
    const patience = random.between(0, 1_500);
    const changeMind = () => {
      gaveUpAt = machine.here;
      giveUp.abort(new Error("changed my mind"));
    };
    world.after(patience, () => machine.run(changeMind));
  }
  const timeout = mood > 0.6 ? random.between(0, 4_000) : undefined;
  const options = { signal: giveUp.signal, timeout };
  const since = machine.here;
  try {
    if (!random.chance(0.2)) return await lock.acquire(options);
    const held = await lock.tryAcquire(options);
    if (held === null) oracles.refused(machine, since);
    return held;
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string };
    const isTimeout = name === "TimeoutError";
    if (isTimeout) judgeTimeout(part, since, timeout);
    const isExpected = isTimeout ||
      message === "changed my mind" || code === "SequenceExhausted";
    if (!isExpected) {
      oracles.problem(
        `K5 ${machine.name} acquire rejected: ${code ?? name} ${message}`,
      );
    }
    return null;
  } finally {
    judgeEnd(part, since, gaveUpAt ?? Infinity, timeout);
  }
}

/** A TimeoutError comes when it is time, not before. */
function judgeTimeout(
  { machine, oracles }: Part,
  since: number,
  timeout: number | undefined,
): void {
  const waited = (machine.here - since) * machine.rate;
  if (timeout !== undefined && waited >= timeout - slack) return;
  if (timeout === 0) return;
  oracles.problem(
    `K5 ${machine.name} timed out after ${waited} of ${timeout} ms`,
  );
}

/** Nobody who stands on its feet waits longer than it wanted to. */
function judgeEnd(
  { machine, oracles }: Part,
  since: number,
  gaveUpAt: number,
  timeout = Infinity,
): void {
  const end = Math.min(gaveUpAt, since + timeout / machine.rate);
  const late = machine.here - Math.max(end, machine.stoodUntil);
  // 0 is "by the first reply", for which a sick server gets a while.
  if (late <= slack || timeout === 0) return;
  oracles.problem(`K5 ${machine.name} waited ${late} ms too long`);
}

async function work(part: Part, held: HeldLock): Promise<void> {
  const { machine, random } = part;
  const isQuick = random.chance(0.4);
  const end = machine.here + random.between(0, isQuick ? 50 : 6_000);
  while (machine.here < end && !held.signal.aborted) {
    const ms = Math.min(random.between(1, 1_500), end - machine.here + 1);
    await sleep(part, ms);
    if (random.chance(0.5)) write(part, held);
    if (random.chance(0.3)) await append(part, held);
  }
}

/** Writes its token where everybody does: the server must not take a smaller one after a larger. */
function write(part: Part, held: HeldLock): void {
  const { machine, oracles } = part;
  const data = String(held.token);
  try {
    const write = held.guard([{ op: "setData", path: "/register", data }]);
    write.catch((error) => {
      if (honest.has(error.code)) return;
      oracles.problem(
        `K3 ${machine.name} guard rejected: ${error.code} ${error.message}`,
      );
    });
  } catch (error) {
    oracles.problem(`K3 ${machine.name} guard threw: ${error}`);
  }
}

/** Adds to a list, slowly: read, wait, write. Only a lock keeps what others add meanwhile. */
async function append(part: Part, held: HeldLock): Promise<void> {
  const { client, random, machine, oracles } = part;
  const element = `${machine.name}:${random.bits()}`;
  try {
    const { data } = await client.getData("/list");
    await sleep(part, random.between(0, 300));
    const list = [new TextDecoder().decode(data ?? undefined), element].join(
      " ",
    );
    await held.guard([{ op: "setData", path: "/list", data: list }]);
    oracles.acknowledged(element);
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (honest.has(code ?? "")) return;
    oracles.problem(`K4 ${machine.name} append rejected: ${code} ${message}`);
  }
}

async function leave(
  { machine, oracles }: Part,
  held: HeldLock,
): Promise<void> {
  try {
    const was = await held.release();
    oracles.released(machine, held, machine.look(() => held.state), was);
  } catch (error) {
    oracles.problem(`K5 ${machine.name} release rejected: ${error}`);
  }
}

/** Somebody else's lock, by the rules of Curator: the queue is ours as well. It trusts its session, and we need not believe it. */
export async function contendAsCurator(
  part: Part,
  path: string,
): Promise<void> {
  const { random, client, isEnding } = part;
  while (!isEnding()) {
    await sleep(part, random.between(0, 1_000));
    const { session } = client;
    try {
      const id = Array.from({ length: 4 }, () => random.bits().toString(16))
        .join("");
      const mine = await client.create(`${path}/_c_${id}-lock-`, null, {
        mode: "ephemeral-sequential",
      });
      const name = mine.path.slice(path.length + 1);
      while (!session.signal.aborted && !isEnding()) {
        const ahead = await predecessor(client, path, name);
        if (ahead === undefined) break;
        await gone(client, `${path}/${ahead}`, session.signal);
      }
      await sleep(part, random.between(0, 500));
      await client.delete(mine.path);
    } catch {
      // It has no parents to put its znode under, or lost its connection or its session; its znode goes with that.
      await client.close();
      return;
    }
  }
}

async function predecessor(
  client: Client,
  path: string,
  name: string,
): Promise<string | undefined> {
  const key = (each: string) => each.slice(each.lastIndexOf("lock-") + 5);
  const names = (await client.getChildren(path))
    .filter((each) => /lock-\d{10}$/.test(each))
    .sort((a, b) => key(a) < key(b) ? -1 : 1);
  return names[names.indexOf(name) - 1];
}

function gone(
  client: Client,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => resolve());
    client.getData(path, { watch: () => resolve() }).catch((error) => {
      if (error.code === "NoNode") resolve();
      else reject(error);
    });
  });
}
