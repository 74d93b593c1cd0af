// Runs a program on Deno, Bun or Node, in a process of its own.
// Must not know what the program does.
// Called by the tests of this folder.

import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { run } from "../real/debian.ts";
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
      ? [...bun(), probe]
      : ["node", await bundled(probe, folder)];
    const text = await run(program, [...args, file], root, runtime);
    return JSON.parse(text.trim().split("\n").at(-1)!);
  });
}

/** Runs a file of tests on a runtime, and counts. */
export function test(
  runtime: "Bun" | "Node",
  file: string,
): Promise<{ passed: number; failed: number }> {
  return inFolder(async (folder) => {
    const bundle = await bundled(file, folder);
    const [program, ...args] = runtime === "Bun"
      ? [...bun(), "test", bundle]
      // Servers that live as long as the process would keep it from ending.
      : ["node", "--test", "--test-force-exit", bundle];
    // Bun's count goes to stderr.
    const text = await run("sh", [
      "-c",
      '"$@" 2>&1 || true',
      "sh",
      program,
      ...args,
    ], folder);
    // "# pass 117" or " 117 pass".
    const count = (word: "pass" | "fail") =>
      Number(
        new RegExp(`^\\S? *(?:${word} (\\d+)|(\\d+) ${word})$`, "m")
          .exec(text)?.slice(1).join("") || NaN,
      );
    return { passed: count("pass"), failed: count("fail") };
  });
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "zklock-tls-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function bun(): string[] {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const isThere = folders.some((folder) => existsSync(join(folder, "bun")));
  return isThere ? ["bun"] : ["npx", "-y", "bun@1.4.4"];
}

// Node 20 has no types, no `await using`, and not this.
const banner = "Promise.withResolvers ??= function () { let resolve, reject; " +
  "const promise = new Promise((a, b) => { resolve = a; reject = b; }); " +
  "return { promise, resolve, reject }; };";

/** One file of JavaScript that needs nothing else. */
async function bundled(file: string, folder: string): Promise<string> {
  const bundle = join(folder, "bundle.test.mjs");
  await run(
    "npx",
    [
      "-y",
      "esbuild@0.28.2",
      file,
      "--bundle",
      "--platform=node",
      "--format=esm",
      "--target=node20",
      `--outfile=${bundle}`,
      "--alias:@std/assert=./tests/shim/assert.ts",
      "--alias:@std/testing/bdd=./tests/shim/bdd.ts",
      "--define:import.meta.main=false",
      `--banner:js=${banner}`,
    ],
    root,
    "esbuild",
  );
  return bundle;
}
