// Prints the hashes of some seeds, for comparison between runtimes: what stands for a whole history.
// Must not name anything that a runtime alone has.
// Run by runtimes_test.ts on each.

import process from "node:process";
import * as library from "../../mod.ts";
import { scenarioOf } from "./scenario.ts";
import { simulate } from "./simulate.ts";

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
  const { hash, steps } = await simulate(scenarioOf(seed), library);
  console.log(`${seed} ${hash} ${steps}`);
}
process.exit(0);
