// deno task sim: plays seeds, and says what was wrong.
// Only talks; simulate.ts does the work.
//
//   --seed N [--trace]     one seed, with its history
//   --seeds N [--from M]   many
//   --root FOLDER          the sources to play with; default: these

import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { scenarioOf } from "./scenario.ts";
import { type Library, simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    root: { type: "string" },
    trace: { type: "boolean", default: false },
  },
});
const root = values.root
  ? pathToFileURL(values.root + "/")
  : new URL("../../", import.meta.url);
const library: Library = await import(new URL("mod.ts", root).href);
const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const started = performance.now();
let bad = 0, steps = 0, grants = 0;
for (let seed = first; seed < first + count; seed++) {
  const report = await simulate(
    scenarioOf(seed),
    library,
    values.trace ? (line) => console.log(line) : undefined,
  );
  steps += report.steps;
  grants += report.grants;
  if (report.problems.length > 0) {
    bad++;
    console.log(`seed ${seed} (${report.hash}): ${report.problems.join("; ")}`);
  }
  if (values.seed) {
    console.log(
      `seed ${seed}: ${report.hash}, ${report.steps} steps, ${report.grants} grants`,
    );
  }
}
const seconds = (performance.now() - started) / 1000;
console.log(
  `${count} seeds, ${bad} bad, ${steps} steps, ${grants} grants, ${
    seconds.toFixed(1)
  } s`,
);
process.exit(bad > 0 ? 1 : 0);
