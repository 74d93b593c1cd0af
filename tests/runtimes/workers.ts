// Runs the suites inside workerd: against servers outside, embedded and real, and one inside.
// Knows no single test, but for those that a worker cannot run.
// Called by tests/run.ts; by hand: deno task test:workers [words of a test's name…]

import process from "node:process";
import { TestServer } from "../../testing/mod.ts";
import { startServer } from "../real/server.ts";
import type { Row } from "./row.ts";
import { bundle, startWorker, type Worker } from "./workers_tools.ts";
import { Switchboard } from "./workers_switchboard.ts";
import type { Description } from "./workers/targets.ts";

/** How many tests run at once: they wait more than they work. */
const jobs = 8;

/** What a worker cannot run, by the end of its name. */
const impossible: Record<string, string> = {
  "lets a process end by itself, with a session that is alive":
    "a worker starts no process, and is none",
  "not called: the client keeps its process alive":
    "a worker starts no process, and is none",
  "undone by ref(): the client keeps its process alive":
    "a worker starts no process, and is none",
};

interface Plan {
  target: Description;
  isThorough: boolean;
  /** Says what is left there that should not be. */
  leftovers(): Promise<string[]>;
}

const settings = { tick: 200, minSessionTimeout: 400, reapInterval: 1_000 };

/** Runs all, or the tests whose names have one of these words. */
export async function runWorkers(
  words: readonly string[] = [],
): Promise<Row[]> {
  const board = await Switchboard.start();
  const embedded = await TestServer.start({
    ...settings,
    maxSessionTimeout: 60_000,
    version: "3.9",
  });
  const real = await startServer({ version: "3.8.0" });
  const worker = await startWorker({
    code: await bundle("tests/runtimes/workers/entry.ts", {
      "tests/targets.ts": "tests/runtimes/workers/targets.ts",
      "node:net": "tests/runtimes/workers/net.ts",
    }),
    compatibilityFlags: ["nodejs_compat"],
    bindings: { SWITCHBOARD: board.port },
    serviceBindings: {
      CONTROL: async (request) => {
        const [, path, next] = (await request.text()).split(" ");
        embedded.setCounter(path, Number(next));
        return new Response();
      },
    },
  });
  try {
    const rows: Row[] = [];
    for (
      const plan of [
        inside,
        {
          target: {
            name: "Embedded 3.9, over TCP",
            version: "3.9.3",
            servers: embedded.servers,
            isEmbedded: true,
          },
          isThorough: true,
          leftovers: () => Promise.resolve(left(embedded)),
        },
        {
          target: {
            name: "ZooKeeper 3.8.0",
            version: "3.8.0",
            servers: real.servers,
            isEmbedded: false,
          },
          isThorough: false,
          leftovers: async () => sessionsIn(await real.fourLetter("dump")),
        },
      ]
    ) rows.push(await runPlan(worker, plan, words));
    return rows;
  } finally {
    await worker.dispose();
    board.close();
    await embedded.close();
    await real[Symbol.asyncDispose]();
  }
}

const inside: Plan = {
  target: {
    name: "Embedded 3.9, in memory",
    version: "3.9.3",
    isEmbedded: true,
  },
  isThorough: false,
  // It ends with each test.
  leftovers: () => Promise.resolve([]),
};

function left(server: TestServer): string[] {
  return server.sessions.map((id) => `session 0x${id.toString(16)}`);
}

/** Sessions in the answer to `dump`. */
function sessionsIn(dump: string): string[] {
  return [...new Set(dump.match(/0x[0-9a-f]{5,}/g) ?? [])];
}

interface Result {
  error?: string;
  rejections?: string[];
}

async function runPlan(
  worker: Worker,
  { target, isThorough, leftovers }: Plan,
  words: readonly string[],
): Promise<Row> {
  const ask = async (test?: number) => {
    const body = JSON.stringify({ target, isThorough, test });
    const reply = await worker.dispatchFetch("http://worker/", {
      method: "POST",
      body,
    });
    const text = await reply.text();
    try {
      return JSON.parse(text);
    } catch {
      return { error: text };
    }
  };
  const names: string[] = await ask();
  const row = { passed: 0, failed: 0, skipped: 0 };
  const waiting = [...names.entries()].filter(([, name]) =>
    words.length === 0 || words.some((word) => name.includes(word))
  );
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [test, name] = next;
      const reason = Object.entries(impossible)
        .find(([end]) => name.endsWith(end))?.[1];
      if (reason !== undefined) {
        row.skipped++;
        console.log(`skipped: ${name} (${reason})`);
        continue;
      }
      const started = performance.now();
      const { error, rejections = [] }: Result = await ask(test);
      const ms = Math.round(performance.now() - started);
      if (process.env.VERBOSE) console.log(`${ms} ms: ${name}`);
      const why = error ?? rejections.join("\n");
      if (why === "") row.passed++;
      else {
        row.failed++;
        console.log(`FAILED: ${name} (${ms} ms)\n${why}`);
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  const found = await leftovers();
  if (found.length > 0) {
    row.failed++;
    console.log(`FAILED: ${target.name}: left behind: ${found.join(", ")}`);
  }
  return { runtime: "workerd", target: target.name, ...row };
}

if (import.meta.main) {
  const started = performance.now();
  const rows = await runWorkers(process.argv.slice(2));
  console.table(rows);
  console.log(`${((performance.now() - started) / 1_000).toFixed(1)} s`);
  const isGood = rows.every(({ failed }) => failed === 0);
  process.exit(isGood ? 0 : 1);
}
