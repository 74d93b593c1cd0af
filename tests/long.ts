// What takes too long for each change: run before an issue is called done.
// Knows commands only; each says itself how it went.
// Called by `deno task test:long`.

import { spawn } from "node:child_process";
import process from "node:process";

const sim = "tests/simulation/sim.ts";
const offline = ["--import-map", "tests/offline.import_map.json"];

/** Name, and the arguments of deno. */
const runs: [name: string, ...args: string[]][] = [
  ["20,000 seeds", "run", "-A", "--no-check", sim, "--seeds", "20000"],
  ["mutants", "run", "-A", "--no-check", sim, "--mutants"],
  [
    "200 traces on 3.8.0 and 3.9.3",
    ...["test", "-A", ...offline, "tests/differential/differential_test.ts"],
  ],
  ["Node, every target", "run", "-A", "tests/runtimes/node.ts", "whole"],
  ["Bun, every target", "run", "-A", "tests/runtimes/bun.ts", "whole"],
];

let failed = 0;
for (const [name, ...args] of runs) {
  console.log(`\n== ${name}`);
  const env = { ...process.env, ZKLOCK_TRACES: "200" };
  const child = spawn(process.execPath, args, { stdio: "inherit", env });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) failed++;
}
console.log(`\n${runs.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
