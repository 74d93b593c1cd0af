// The suites on Node 20, 22 and 24.
// Knows no single test.
// Called by tests/run.ts; by hand: deno task test:node [whole | "tcp 3.9"…]

import process from "node:process";
import { nodeProgram, nodeVersions } from "../real/npm.ts";
import {
  conclude,
  runElsewhere,
  type Runtime,
  type TargetName,
  targetsIn,
  usual,
} from "./elsewhere.ts";
import type { Row } from "./row.ts";

/** Runs the suites on every Node there is. */
export async function runNode(
  targets: readonly TargetName[] = usual,
): Promise<Row[]> {
  const runtimes = nodeVersions.map(async (version): Promise<Runtime> => {
    const program = await nodeProgram(version);
    return {
      name: `Node ${version.split(".")[0]}`,
      command: (file, report) => [
        program,
        "--test-reporter=junit",
        `--test-reporter-destination=${report}`,
        file,
      ],
    };
  });
  return await runElsewhere(await Promise.all(runtimes), targets);
}

if (import.meta.main) conclude(await runNode(targetsIn(process.argv.slice(2))));
