// Runs the suites on another runtime, each target in a process of its own, and counts.
// Knows no single test; what is to be run is in suite.ts.
// Used by node.ts and bun.ts.

import { spawn } from "node:child_process";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { ServerVersion } from "../../testing/mod.ts";
import type { Version } from "../real/install.ts";
import { bundle } from "./bundle.ts";
import { countOf, resultsIn } from "./junit.ts";
import type { Row } from "./row.ts";

/** A runtime, and how it runs a file of tests. */
export interface Runtime {
  name: string;
  /** The program and its arguments; the report, in JUnit's form, goes to that file. */
  command(file: string, report: string): [string, ...string[]];
}

/** A server to test against, as suite.ts knows it. */
export type TargetName =
  | `memory ${ServerVersion}`
  | `tcp ${ServerVersion}`
  | `real ${Version}`;

/** What each change is tested against. */
export const usual: readonly TargetName[] = [
  "memory 3.9",
  "tcp 3.9",
  "real 3.8.0",
];

/** What is tested before an issue is called done. */
export const whole: readonly TargetName[] = [
  "memory 3.9",
  "tcp 3.4",
  "tcp 3.8",
  "tcp 3.9",
  "real 3.4.13",
  "real 3.8.0",
  "real 3.9.3",
];

/** The targets that a runner is asked for by its arguments: none for the usual ones, `whole`, or their names. */
export function targetsIn(words: readonly string[]): readonly TargetName[] {
  if (words.length === 0) return usual;
  if (words[0] === "whole") return whole;
  return words as readonly TargetName[];
}

/** How many run at the same time: they wait more than they work. */
const jobs = 3;
/** No process takes longer, in ms, however busy the machine; one that does not end by itself is a failure. */
const longest = 600_000;

const titles = {
  memory: (version: string) => `Embedded ${version}, in memory`,
  tcp: (version: string) => `Embedded ${version}, over TCP`,
  real: (version: string) => `ZooKeeper ${version}`,
};

/** Runs all on all; what fails is printed as it comes. */
export async function runElsewhere(
  runtimes: readonly Runtime[],
  targets: readonly TargetName[],
): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), "zklock-runtimes-"));
  try {
    await bundle({
      "suite.test": "tests/runtimes/suite.ts",
      "client_suite_process": "tests/suites/client_suite_process.ts",
      "contest/worker": "tests/suites/contest/worker.ts",
    }, folder);
    const pairs = runtimes.flatMap((runtime) =>
      targets.map((target) => ({ runtime, target }))
    );
    const rows: Row[] = [];
    const work = async (): Promise<void> => {
      for (let next = pairs.shift(); next; next = pairs.shift()) {
        rows.push(await runOne(next.runtime, next.target, folder));
      }
    };
    await Promise.all(Array.from({ length: jobs }, work));
    return rows.sort((a, b) =>
      a.runtime < b.runtime ? -1 : a.runtime > b.runtime ? 1 : 0
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runOne(
  runtime: Runtime,
  target: TargetName,
  folder: string,
): Promise<Row> {
  const [kind, version] = target.split(" ") as [keyof typeof titles, string];
  const row = { runtime: runtime.name, target: titles[kind](version) };
  const name = `${runtime.name} ${target}`.replaceAll(" ", "-");
  const report = join(folder, `${name}.xml`);
  const log = join(folder, `${name}.log`);
  const file = join(folder, "suite.test.mjs");
  const command = runtime.command(file, report);
  const env = { ZKLOCK_TARGET: target, ZKLOCK_PROGRAMS: folder };
  const start = performance.now();
  const code = await finish(command, env, log);
  const results = resultsIn(await readFile(report, "utf8").catch(() => ""));
  const count = countOf(results);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  console.log(
    `${row.runtime}, ${row.target}: ` +
      `${count.passed} passed, ${count.failed} failed, ${seconds} s`,
  );
  for (const { name, outcome } of results) {
    if (outcome === "failed") console.log(`FAILED ${row.runtime}: ${name}`);
  }
  // A process that was killed, or ran nothing, has no test to show for it.
  const isBad = code !== 0 || count.passed === 0;
  if (isBad || count.failed > 0) {
    const text = await readFile(log, "utf8");
    console.log(`It ended with ${code}:\n${text.slice(-20_000)}`);
  }
  if (isBad && count.failed === 0) count.failed = 1;
  return { ...row, ...count };
}

/** Runs a program; its exit code, or null if it had to be killed. */
async function finish(
  [program, ...args]: [string, ...string[]],
  env: Record<string, string>,
  log: string,
): Promise<number | null> {
  const output = await open(log, "w");
  try {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", output.fd, output.fd],
    });
    const kill = () => void child.kill("SIGKILL");
    const timer = setTimeout(kill, longest);
    process.once("exit", kill);
    try {
      return await new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", resolve);
      });
    } finally {
      clearTimeout(timer);
      process.off("exit", kill);
    }
  } finally {
    await output.close();
  }
}

/** Prints rows, and ends this process: with 1 if anything failed. */
export function conclude(rows: readonly Row[]): never {
  console.table(rows);
  process.exit(rows.some(({ failed }) => failed > 0) ? 1 : 0);
}
