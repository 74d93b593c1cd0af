// Runs the probe on each runtime, in a process of its own.
// Must not know what the jobs are.
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

const probe = fileURLToPath(new URL("./probe.ts", import.meta.url));

/** Lets a runtime do jobs, all at the same time, and resolves with what came of them when its process has ended by itself. */
export async function perform(
  runtime: Runtime,
  jobs: readonly Job[],
): Promise<Outcome[]> {
  const folder = await mkdtemp(join(tmpdir(), "zklock-tls-"));
  try {
    const file = join(folder, "jobs.json");
    await writeFile(file, JSON.stringify(jobs));
    const [program, ...args] = await command(runtime, folder);
    const text = await run(program, [...args, file], "/", runtime);
    return JSON.parse(text.trim().split("\n").at(-1)!);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function command(runtime: Runtime, folder: string): Promise<string[]> {
  if (runtime === "Deno") return [process.execPath, "run", "-A", probe];
  if (runtime === "Bun") {
    return isOnPath("bun") ? ["bun", probe] : ["npx", "-y", "bun@1.4.4", probe];
  }
  // Node 20 knows no types, and no newer one those of packages.
  const bundle = join(folder, "probe.mjs");
  await run(process.execPath, ["bundle", "-o", bundle, probe]);
  return ["node", bundle];
}

function isOnPath(name: string): boolean {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.some((folder) => existsSync(join(folder, name)));
}
