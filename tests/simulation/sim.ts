// deno task sim: plays seeds, and says what was wrong.
// Only talks, and shares the work out; simulate.ts does it.
//
//   --seed N [--trace] [--shrink]   one seed: its history, or the least of it that still fails
//   --seeds N [--from M]            many; default 2000
//   --jobs N                        in so many processes; default: one for each core
//   --every N                       of these only each Nth, in this process
//   --mutant NAME                   with this mistake in the library, until it is caught
//   --mutants [--write]             with each; keeps the seeds that catch them
//   --file FILE                     a scenario of the corpus
//   --root FOLDER                   the sources to play with; default: these

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type Mutant, mutants, seedsFile } from "./mutants.ts";
import { mutated } from "./mutate.ts";
import { type Scenario, scenarioOf } from "./scenario.ts";
import { shrink } from "./shrink.ts";
import { type Library, type Report, simulate } from "./simulate.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "2000" },
    from: { type: "string", default: "1" },
    jobs: { type: "string", default: String(availableParallelism()) },
    every: { type: "string" },
    mutant: { type: "string" },
    mutants: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    file: { type: "string" },
    root: { type: "string" },
    trace: { type: "boolean", default: false },
    shrink: { type: "boolean", default: false },
  },
});

/** A seed that catches a mutant is to be found among so many. */
const patience = 5_000;
/** So many are kept: a change of the library shifts what a seed brings about. */
const wanted = 3;

async function library(): Promise<Library> {
  const root = options.root
    ? pathToFileURL(options.root + "/")
    : new URL("../../", import.meta.url);
  return await import(new URL("mod.ts", root).href);
}

/** What is said of a run that failed. */
function complaint({ seed, hash, problems }: Report): string {
  return `seed ${seed} (${hash}): ${problems.join("; ")}`;
}

async function one(scenario: Scenario): Promise<number> {
  const subject = options.mutant
    ? (await mutated(named(options.mutant))).library
    : await library();
  const note = options.trace ? console.log : undefined;
  const report = await simulate(scenario, subject, note);
  const { hash, steps, grants, problems } = report;
  console.log(
    `seed ${scenario.seed}: ${hash}, ${steps} steps, ${grants} grants`,
  );
  if (problems.length === 0) return 0;
  console.log(complaint(report));
  if (options.shrink) {
    const smallest = await shrink(scenario, subject);
    console.log(JSON.stringify(smallest, null, 2));
  }
  return 1;
}

/** Every `step`th seed, in this process. */
async function some(
  from: number,
  count: number,
  step: number,
): Promise<number> {
  const subject = await library();
  let bad = 0, steps = 0, grants = 0;
  for (let seed = from; seed < from + count; seed += step) {
    const report = await simulate(scenarioOf(seed), subject);
    steps += report.steps;
    grants += report.grants;
    if (report.problems.length === 0) continue;
    bad++;
    console.log(complaint(report));
  }
  console.log(`= ${bad} ${steps} ${grants}`);
  return bad;
}

/** Many seeds, shared out. */
async function many(
  from: number,
  count: number,
  jobs: number,
): Promise<number> {
  const started = performance.now();
  const totals = [0, 0, 0];
  const shares = Array.from(
    { length: jobs },
    (_, i) =>
      new Promise<void>((done) => {
        const args = [
          "--from",
          `${from + i}`,
          "--seeds",
          `${count - i}`,
          "--every",
          `${jobs}`,
        ];
        if (options.root) args.push("--root", options.root);
        const script = fileURLToPath(import.meta.url);
        const child = spawn(process.execPath, [
          "run",
          "-A",
          "--no-check",
          script,
          ...args,
        ], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        let text = "";
        child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
          const lines = (text + chunk).split("\n");
          text = lines.pop()!;
          for (const line of lines) {
            if (!line.startsWith("= ")) console.log(line);
            else {line.slice(2).split(" ").forEach((n, i) =>
                totals[i] += Number(n)
              );}
          }
        });
        child.on("close", (code) => {
          if (code !== 0) totals[0] ||= 1;
          done();
        });
      }),
  );
  await Promise.all(shares);
  const [bad, steps, grants] = totals;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${count} seeds, ${bad} with violations, ${steps} steps, ${grants} grants, ${seconds} s`,
  );
  return bad > 0 ? 1 : 0;
}

function named(name: string): Mutant {
  const mutant = mutants.find((each) => each.name === name);
  if (mutant) return mutant;
  const names = mutants.map((each) => each.name).join(", ");
  throw new Error(`Cannot play mutant ${name}: there are ${names}`);
}

/** The first seeds that catch a mutant, and what the first one shows. */
async function hunt(
  mutant: Mutant,
): Promise<{ seeds: number[]; problem: string }> {
  await using copy = await mutated(mutant);
  const seeds: number[] = [];
  let problem = "";
  let last = patience;
  for (let seed = 1; seed <= last && seeds.length < wanted; seed++) {
    const scenario = scenarioOf(seed);
    if (mutant.lock && mutant.lock !== scenario.lock) continue;
    const { problems } = await simulate(scenario, copy.library);
    if (problems.length === 0) continue;
    seeds.push(seed);
    problem ||= problems[0];
    // More of them only where they are easy to find.
    last = Math.min(last, 3 * seeds[0] + 50);
  }
  return { seeds, problem };
}

async function huntAll(list: readonly Mutant[]): Promise<number> {
  const known: Record<string, number[]> = JSON.parse(
    readFileSync(seedsFile, "utf8"),
  );
  let escaped = 0;
  for (const { name, ...rest } of list) {
    const { seeds, problem } = await hunt({ name, ...rest });
    const found = seeds.length > 0
      ? `caught by seed ${seeds.join(", ")}: ${problem}`
      : `NOT CAUGHT in ${patience} seeds`;
    console.log(`${name.padEnd(6)} ${rest.what}: ${found}`);
    known[name] = seeds;
    if (seeds.length === 0) escaped++;
  }
  if (options.write) {
    writeFileSync(seedsFile, JSON.stringify(known, null, 2) + "\n");
  }
  return escaped > 0 ? 1 : 0;
}

function main(): Promise<number> {
  const [from, count, jobs] = [options.from, options.seeds, options.jobs].map(
    Number,
  );
  if (options.file) {
    return one(JSON.parse(readFileSync(options.file, "utf8")));
  }
  if (options.seed) return one(scenarioOf(Number(options.seed)));
  if (options.mutants) return huntAll(mutants);
  if (options.mutant) return huntAll([named(options.mutant)]);
  if (options.every) {
    return some(from, count, Number(options.every)).then(() => 0);
  }
  return jobs > 1 ? many(from, count, jobs) : some(from, count, 1);
}

process.exit(await main());
