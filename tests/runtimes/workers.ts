// Runs the suites inside workerd: against servers outside, embedded and real, and one inside.
// Knows no single test, but for those that a worker cannot run.
// Called by tests/run.ts; by hand: deno task test:workers [words of a test's name…]

import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { TestServer } from "../../testing/mod.ts";
import { type RealServer, startServer } from "../real/server.ts";
import type { Row } from "./row.ts";
import type { Description, Part } from "./workers/targets.ts";
import { Switchboard } from "./workers_switchboard.ts";
import { bundle, startWorker, type Worker } from "./workers_tools.ts";

/** How many tests run at once, on the one thread of a worker: most wait more than they work. */
const jobs: Record<Part, number> = { all: 8, hosts: 4, faults: 4 };

/** No test takes so long, in ms. */
const patience = 180_000;

const noProcess = "a worker is no process, and starts none";

/** What a worker cannot run, by the end of its name. */
const impossible: Record<string, string> = {
  "lets a process end by itself, with a session that is alive": noProcess,
  "not called: the client keeps its process alive": noProcess,
  "undone by ref(): the client keeps its process alive": noProcess,
};

/** What stops the one thread, and with it all tests that run at the same time: it runs alone. */
const stopsAll = /event loop stood still/;

interface Plan {
  target: Description;
  parts: readonly Part[];
  /** Sessions that are still there. */
  sessions(): Promise<string[]>;
}

/** Runs all, or the tests whose names have one of these words. */
export async function runWorkers(
  words: readonly string[] = [],
): Promise<Row[]> {
  const board = await Switchboard.start();
  const embedded = await TestServer.start({
    tick: 200,
    minSessionTimeout: 400,
    maxSessionTimeout: 60_000,
    reapInterval: 1_000,
    version: "3.9",
  });
  const real = await startServer({ version: "3.8.0" });
  const worker = await startSuites(board, embedded);
  try {
    const rows: Row[] = [];
    for (const plan of plans(embedded, real)) {
      rows.push(await runPlan(worker, plan, words));
    }
    return rows;
  } finally {
    await worker.dispose();
    board.close();
    await embedded.close();
    await real[Symbol.asyncDispose]();
  }
}

async function startSuites(
  board: Switchboard,
  embedded: TestServer,
): Promise<Worker> {
  return await startWorker({
    code: await bundle("tests/runtimes/workers/entry.ts", {
      "tests/targets.ts": "tests/runtimes/workers/targets.ts",
      "node:net": "tests/runtimes/workers/net.ts",
    }),
    compatibilityFlags: ["nodejs_compat"],
    bindings: { SWITCHBOARD: board.port },
    serviceBindings: {
      CONTROL: async (request) => {
        const { setCounter } = await request.json();
        if (setCounter) embedded.setCounter(...setCounter as [string, number]);
        return Response.json(embedded.sessions.map(String));
      },
    },
  });
}

function plans(embedded: TestServer, real: RealServer): Plan[] {
  return [
    {
      target: {
        name: "Embedded 3.9, in memory",
        version: "3.9.3",
        isEmbedded: true,
      },
      parts: ["all"],
      // There is a server for each test, which ends with it.
      sessions: () => Promise.resolve([]),
    },
    {
      target: {
        name: "Embedded 3.9, over TCP",
        version: "3.9.3",
        servers: embedded.servers,
        isEmbedded: true,
      },
      parts: ["all", "hosts", "faults"],
      sessions: () =>
        Promise.resolve(embedded.sessions.map((id) => id.toString(16))),
    },
    {
      target: {
        name: "ZooKeeper 3.8.0",
        version: "3.8.0",
        servers: real.servers,
        isEmbedded: false,
      },
      parts: ["all"],
      sessions: async () => sessionsIn(await real.fourLetter("dump")),
    },
  ];
}

/** Sessions in the answer to `dump`. */
export function sessionsIn(dump: string): string[] {
  return [...new Set(dump.match(/0x[0-9a-f]{5,}/g) ?? [])];
}

/** What the worker answers of a test. */
interface Result {
  error?: string;
  rejections?: string[];
}

async function runPlan(
  worker: Worker,
  { target, parts, sessions }: Plan,
  words: readonly string[],
): Promise<Row> {
  const row = { passed: 0, failed: 0, skipped: 0 };
  const fail = (name: string, why: string) => {
    row.failed++;
    console.log(`FAILED: ${name}\n${why}`);
  };
  for (const part of parts) {
    const ask = (test?: number) =>
      askWorker(worker, JSON.stringify({ target, part, test }));
    const names = await ask() as string[];
    const wanted = [...names.entries()].filter(([, name]) =>
      words.length === 0 || words.some((word) => name.includes(word))
    );
    const run = async ([test, name]: [number, string]) => {
      const reason = Object.entries(impossible)
        .find(([end]) => name.endsWith(end))?.[1];
      if (reason !== undefined) {
        row.skipped++;
        return console.log(`skipped: ${name} (${reason})`);
      }
      const { error, rejections = [] } = await ask(test) as Result;
      const why = error ?? rejections.join("\n");
      if (why === "") row.passed++;
      else fail(name, why);
    };
    const isAlone = ([, name]: [number, string]) => stopsAll.test(name);
    await each(wanted.filter((test) => !isAlone(test)), jobs[part], run);
    await each(wanted.filter(isAlone), 1, run);
  }
  const left = await lasting(sessions);
  if (left.length > 0) fail(target.name, `Left sessions: ${left.join(", ")}`);
  return { runtime: "workerd", target: target.name, ...row };
}

/** Runs for all, so many at once. */
async function each<T>(
  all: readonly T[],
  jobs: number,
  run: (one: T) => Promise<void>,
): Promise<void> {
  const waiting = [...all];
  const work = async () => {
    while (waiting.length > 0) await run(waiting.shift()!);
  };
  await Promise.all(Array.from({ length: jobs }, work));
}

async function askWorker(worker: Worker, body: string): Promise<unknown> {
  let text = "";
  try {
    const signal = AbortSignal.timeout(patience);
    const init = { method: "POST", body, signal };
    const reply = await worker.dispatchFetch("http://worker/", init);
    text = await reply.text();
    return JSON.parse(text);
  } catch (error) {
    return { error: text === "" ? `${error}` : text };
  }
}

/** The sessions that do not go by themselves: a client that was closed while it was cut off leaves one until it expires. */
async function lasting(sessions: () => Promise<string[]>): Promise<string[]> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const left = await sessions();
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(100);
  }
}

if (import.meta.main) {
  const started = performance.now();
  const rows = await runWorkers(process.argv.slice(2));
  console.table(rows);
  console.log(`${((performance.now() - started) / 1_000).toFixed(1)} s`);
  process.exit(rows.every(({ failed }) => failed === 0) ? 0 : 1);
}
