// The suites on Bun.
// Knows no single test.
// Called by tests/run.ts; by hand: deno task test:bun [whole | "tcp 3.9"…]

import process from "node:process";
import { bunProgram, bunVersion } from "../real/npm.ts";
import {
  conclude,
  runElsewhere,
  type Runtime,
  type TargetName,
  targetsIn,
  usual,
} from "./elsewhere.ts";
import type { Row } from "./row.ts";

/** Runs the suites on Bun. */
export async function runBun(
  targets: readonly TargetName[] = usual,
): Promise<Row[]> {
  const program = await bunProgram();
  const runtime: Runtime = {
    name: `Bun ${bunVersion.split(".").slice(0, 2).join(".")}`,
    command: (file, report) => [
      program,
      "test",
      // Tests have deadlines of their own.
      "--timeout=600000",
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      file,
    ],
  };
  return await runElsewhere([runtime], targets);
}

if (import.meta.main) conclude(await runBun(targetsIn(process.argv.slice(2))));
