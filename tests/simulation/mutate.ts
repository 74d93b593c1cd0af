// The library with a mistake in it: a copy in a temporary folder, patched.
// Knows text and files; mutants.ts says which mistakes.
// Used by sim.ts and the tests.

import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Mutant } from "./mutants.ts";
import type { Library } from "./simulate.ts";

/** A mutated library; disposing removes its folder. */
export interface Mutated extends AsyncDisposable {
  library: Library;
}

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Copies the library, makes the mistake, and loads it. Throws if a patch does not fit, so that none is forgotten when sources change. */
export async function mutated({ name, patches }: Mutant): Promise<Mutated> {
  const folder = await mkdtemp(join(tmpdir(), "zklock-mutant-"));
  for (const part of ["mod.ts", "protocol", "lock"]) {
    await cp(join(root, part), join(folder, part), { recursive: true });
  }
  for (const { file, from, to } of patches) {
    const path = join(folder, file);
    const source = await readFile(path, "utf8");
    const parts = source.split(from);
    if (parts.length !== 2) {
      const times = parts.length - 1;
      throw new Error(
        `Cannot make mutant ${name}: ${file} has ${times} of: ${from}`,
      );
    }
    await writeFile(path, parts.join(to));
  }
  const library = await import(pathToFileURL(join(folder, "mod.ts")).href);
  return {
    library,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
