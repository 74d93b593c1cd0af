// The simulation as CI runs it: many seeds without a violation, and every mutant seen.
// Knows no scenario; sim.ts plays, this judges.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as library from "../../mod.ts";
import { mutants, seedsFile } from "./mutants.ts";
import { mutated } from "./mutate.ts";
import { scenarioOf } from "./scenario.ts";
import { kindOf, shrink } from "./shrink.ts";
import { type Library, simulate } from "./simulate.ts";

/** Seeds in CI; `deno task sim --seeds N` plays more. */
const seeds = process.env.ZKLOCK_SEEDS ?? "800";

function sim(
  ...args: string[]
): Promise<{ text: string; code: number | null }> {
  const script = fileURLToPath(new URL("./sim.ts", import.meta.url));
  const child = spawn(process.execPath, [
    "run",
    "-A",
    "--no-check",
    script,
    ...args,
  ]);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => text += chunk);
  }
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ text, code }));
  });
}

/** The first of these seeds that fails. */
async function firstToFail(
  seeds: readonly number[],
  library: Library,
): Promise<number | undefined> {
  for (const seed of seeds) {
    const { problems } = await simulate(scenarioOf(seed), library);
    if (problems.length > 0) return seed;
  }
}

describe("The locks, simulated", () => {
  it(`break no invariant in ${seeds} seeds`, async () => {
    const { text, code } = await sim("--seeds", seeds);

    const summary = text.trim().split("\n").at(-1)!;
    assert(summary.startsWith(`${seeds} seeds, 0 with violations`), text);
    assertEquals(code, 0);
    console.log(`    ${summary}`);
  });

  const folder = new URL("./corpus/", import.meta.url);
  for (const name of readdirSync(folder)) {
    it(`break no invariant where they once did: ${name}`, async () => {
      const scenario = JSON.parse(readFileSync(new URL(name, folder), "utf8"));

      const { problems } = await simulate(scenario, library);

      assertEquals(problems, []);
    });
  }
});

describe("The simulation", () => {
  it("does the same again for the same seed, to the last step", async () => {
    const first = await simulate(scenarioOf(7), library);
    const second = await simulate(scenarioOf(7), library);

    assertEquals(second, first);
    assert(first.steps > 1000 && first.grants > 0);
  });

  it("does something else for another seed", async () => {
    const first = await simulate(scenarioOf(7), library);
    const second = await simulate(scenarioOf(8), library);

    assert(first.hash !== second.hash);
  });

  const known: Record<string, number[]> = JSON.parse(
    readFileSync(seedsFile, "utf8"),
  );
  for (const mutant of mutants) {
    it(`sees the mutant that ${mutant.what}`, async () => {
      await using copy = await mutated(mutant);

      const seed = await firstToFail(known[mutant.name], copy.library);

      assert(seed !== undefined, "deno task sim --mutants --write finds seeds");
    });
  }

  it("shrinks a failing scenario to one that fails alike", async () => {
    await using copy = await mutated(
      mutants.find(({ name }) => name === "M13")!,
    );
    const seed = await firstToFail(known.M13, copy.library);
    const scenario = scenarioOf(seed!);

    const smallest = await shrink(scenario, copy.library);

    const first = kindOf(await simulate(scenario, copy.library));
    const last = kindOf(await simulate(smallest, copy.library));
    assertEquals(last, first);
    assert(
      smallest.faults.length + smallest.clients.length <
        scenario.faults.length + scenario.clients.length,
    );
  });
});
