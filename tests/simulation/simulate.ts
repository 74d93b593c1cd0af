// One run: a scenario played from beginning to end, and what was wrong with it.
// Knows how a run goes; scenario.ts says what happens, oracles.ts what must not.
// Used by sim.ts, shrink.ts and the tests.

import process from "node:process";
import * as ops from "../../protocol/operations.ts";
import { contend, contendAsCurator, type Part } from "./contenders.ts";
import { Ensemble } from "./ensemble.ts";
import { Machine } from "./machine.ts";
import { Oracles } from "./oracles.ts";
import type { ClientPlan, Scenario } from "./scenario.ts";
import { heal, type Scene, strike } from "./weather.ts";
import { World } from "./world.ts";

/** What is simulated: ours, or a copy with a mistake in it. */
export type Library = Pick<
  typeof import("../../mod.ts"),
  "connect" | "SequentialLock" | "ExclusiveLock"
>;

/** How a run went. */
export interface Report {
  seed: number;
  /** Stands for the whole history. */
  hash: string;
  problems: string[];
  grants: number;
  steps: number;
}

const path = "/locks/l";
const acl = [{ perms: 31, scheme: "world", id: "anyone" }];

/** So many writes and dials in a second are a loop that waits for nothing. */
const hectic = 150;

/** Nobody needs longer, once everything is healed: expiry, election, and some for each in the queue. */
function patienceOf({ timeout, tick, clients }: Scenario): number {
  return 10 * timeout + 10 * tick + 20_000 * clients.length;
}

/** Plays a scenario. Stops at the first problem. */
export async function simulate(
  scenario: Scenario,
  library: Library,
  onNote?: (line: string) => void,
): Promise<Report> {
  const world = new World(scenario.seed);
  world.onNote = onNote;
  const ensemble = new Ensemble(world, {
    ...scenario,
    size: scenario.servers,
    reapInterval: 3_000,
  });
  const oracles = new Oracles(world, scenario, path);
  ensemble.onAgreed = (transaction) => oracles.agreed(transaction);
  world.onStep = () => oracles.look();
  oracles.onProblem = () => world.stop();
  const unhandled = (error: unknown) =>
    oracles.problem(`K8 unhandled: ${error}`);
  process.on("unhandledRejection", unhandled);
  try {
    await play(
      { world, scenario, ensemble, machines: [], oracles, path },
      library,
    );
  } catch (error) {
    oracles.problem(`K8 thrown: ${(error as Error).stack}`);
  } finally {
    process.off("unhandledRejection", unhandled);
  }
  const { problems, grants } = oracles;
  const { hash, steps } = world;
  return { seed: scenario.seed, hash, problems, grants, steps };
}

async function play(empty: Scene, library: Library): Promise<void> {
  const { world, scenario, ensemble, oracles } = empty;
  for (const path of ["/register", "/list", "/locks"]) {
    const request = { path, data: null, acl, flags: 0 };
    ensemble.operate([{ code: ops.create.code, request }]);
  }
  if (scenario.counter > 0 && scenario.lock === "sequential") {
    useUp(scenario.counter, ensemble);
  }
  const machines = scenario.clients.map((plan) => machineOf(plan, empty));
  const scene = { ...empty, machines };
  for (const fault of scenario.faults) {
    world.at(fault.at, () => strike(fault, scene));
  }
  let isEnding = false;
  const programs = scenario.clients.map((plan, i) =>
    run(
      plan,
      { machine: machines[i], isEnding: () => isEnding },
      scene,
      library,
    )
  );
  await world.pass(scenario.duration);
  isEnding = true;
  heal(scene);
  const all = Promise.all(programs.map(({ contended }) => contended));
  const isOver = await world.until(all, patienceOf(scenario));
  if (!isOver) {
    const waiting = programs.filter(({ isOver }) => !isOver())
      .map(({ name }) => name);
    return oracles.problem(`K5 waiting for ever: ${waiting.join(", ")}`);
  }
  await world.pass(scenario.timeout + 2 * scenario.tick);
  oracles.quiesced(ensemble.sessions.map(({ id }) => id));
  const watches = ensemble.members.reduce(
    (n, { replica }) => n + replica.watches.size,
    0,
  );
  if (watches > 0) oracles.problem(`K6 ${watches} watches left`);
  const closed = Promise.all(programs.map(({ close }) => close()));
  const isClosed = await world.until(closed, 20_000);
  if (!isClosed) oracles.problem("K8 close() takes for ever");
  await world.pass(1_000);
  for (const { name, timers, busiest } of machines) {
    if (timers > 0) oracles.problem(`K6 ${timers} timers left on ${name}`);
    if (busiest > hectic) {
      oracles.problem(
        `K8 ${busiest} writes and dials of ${name} in one second`,
      );
    }
  }
}

/** A directory that has seen so many contenders. */
function useUp(creates: number, ensemble: Ensemble): void {
  const znode = { data: null, acl, owner: 0n, ttl: 0 };
  const kind = "persistent";
  const last = `${path}/last`;
  ensemble.enact([
    { type: "create", path, ...znode, kind, creates: 1 },
    { type: "create", path: last, ...znode, kind, creates },
    { type: "delete", path: last },
  ]);
}

function machineOf(
  plan: ClientPlan,
  { world, scenario, ensemble }: Scene,
): Machine {
  const machine = new Machine(world, plan.name, ensemble, {
    rate: plan.rate,
    weather: {
      losesUp: false,
      losesDown: false,
      keeps: false,
      refuses: false,
      hangs: false,
      delay: scenario.delay,
      crumbles: plan.crumbles,
    },
  });
  machine.hiccups = { ...plan.hiccups };
  return machine;
}

/** What runs on a machine. */
interface Program {
  name: string;
  /** Resolves when all its contenders have come to an end. */
  contended: Promise<unknown>;
  isOver: () => boolean;
  close: () => Promise<void>;
}

/** A program: connects, and has its contenders. */
function run(
  plan: ClientPlan,
  { machine, isEnding }: { machine: Machine; isEnding: () => boolean },
  { world, scenario, ensemble, oracles }: Scene,
  library: Library,
): Program {
  const { timeout: sessionTimeout, tick } = scenario;
  const servers = plan.only === undefined
    ? ensemble.names
    : ensemble.members[plan.only].name;
  const connected = library.connect(servers, {
    environment: machine,
    transport: machine.transport,
    sessionTimeout,
    connectTimeout: 10_000_000,
    eager: plan.isEager,
  });
  const begin = async () => {
    const client = await connected;
    client.on("state", ({ state }) => world.note(`${plan.name} ${state}`));
    const part = (i: number): Part => {
      const random = world.random(`${plan.name} contender ${i}`);
      const { pause } = scenario;
      return { world, machine, oracles, client, random, pause, isEnding };
    };
    const isSequential = scenario.lock === "sequential";
    // Where numbers are used up, Curator's rules let them wait for each other.
    if (plan.isStranger && isSequential && scenario.counter === 0) {
      return contendAsCurator(part(0), path);
    }
    const options = plan.knowsTick ? { serverTick: tick } : {};
    const Kind = isSequential ? library.SequentialLock : library.ExclusiveLock;
    const lock = new Kind(client, path, options);
    const contenders = Array.from(
      { length: plan.contenders },
      (_, i) => contend(part(i), lock),
    );
    await Promise.all(contenders);
  };
  const close = async () => (await connected).close();
  let isOver = false;
  const contended = begin().finally(() => isOver = true);
  return { name: plan.name, contended, isOver: () => isOver, close };
}
