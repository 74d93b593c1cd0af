// Runs a program on Deno, Bun or Node, in a process of its own.
// Must not know what the program does.
// Called by the tests of this folder.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { run } from "../real/debian.ts";
import { bunProgram } from "../real/npm.ts";
import { bundle } from "../runtimes/bundle.ts";
import { type Count, countOf, resultsIn } from "../runtimes/junit.ts";
import type { Job, Outcome } from "./probe.ts";

/** The runtimes that have node:tls. */
export const runtimes = ["Deno", "Bun", "Node"] as const;
/** One of them. */
export type Runtime = typeof runtimes[number];

const root = fileURLToPath(new URL("../../", import.meta.url));
const probe = "tests/tls/probe.ts";

/** Lets a runtime do jobs, all at the same time, and resolves with what came of them when its process has ended by itself. */
export function perform(
  runtime: Runtime,
  jobs: readonly Job[],
): Promise<Outcome[]> {
  return inFolder(async (folder) => {
    const file = join(folder, "jobs.json");
    await writeFile(file, JSON.stringify(jobs));
    const [program, ...args] = runtime === "Deno"
      ? [process.execPath, "run", "-A", probe]
      : runtime === "Bun"
      ? [await bunProgram(), probe]
      : ["node", await bundled(probe, folder)];
    const text = await run(program, [...args, file], root, runtime);
    return JSON.parse(text.trim().split("\n").at(-1)!);
  });
}

/** Runs a file of tests on a runtime, and counts. */
export function test(runtime: "Bun" | "Node", file: string): Promise<Count> {
  return inFolder(async (folder) => {
    const bundle = await bundled(file, folder);
    return runtime === "Bun"
      ? await testOnBun(bundle, join(folder, "report.xml"))
      : await testOnNode(bundle);
  });
}

async function testOnBun(file: string, report: string): Promise<Count> {
  const program = await bunProgram();
  const flags = ["--reporter=junit", `--reporter-outfile=${report}`];
  await whatever(program, "test", ...flags, file);
  return countOf(resultsIn(await readFile(report, "utf8")));
}

/** Servers that live as long as the process would keep it from ending; made to end, it writes no report in JUnit's form. */
async function testOnNode(file: string): Promise<Count> {
  const flags = ["--test-force-exit", "--test-reporter=tap"];
  const text = await whatever("node", "--test", ...flags, file);
  const count = (word: string) =>
    Number(new RegExp(`^# ${word} (\\d+)$`, "m").exec(text)?.[1] ?? NaN);
  return {
    passed: count("pass"),
    failed: count("fail"),
    skipped: count("skipped"),
  };
}

/** Runs a program; what it printed, however it ended. */
function whatever(...command: string[]): Promise<string> {
  return run("sh", ["-c", '"$@" || true', "sh", ...command]);
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "zklock-tls-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One file of JavaScript that needs nothing else. */
async function bundled(file: string, folder: string): Promise<string> {
  await bundle({ "bundle.test": file }, folder);
  return join(folder, "bundle.test.mjs");
}
