// Our sources as JavaScript that needs nothing else: for runtimes without types, or without our import map.
// Must not know what is in them.
// Used by the tests of other runtimes.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../real/debian.ts";
import { npmPackage } from "../real/npm.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

// Node 20 has no types, no `await using`, and not this.
const banner = "Promise.withResolvers ??= function () { let resolve, reject; " +
  "const promise = new Promise((a, b) => { resolve = a; reject = b; }); " +
  "return { promise, resolve, reject }; };";

/** Makes a module of each file, named by its key: "suite.test" for suite.test.mjs. */
export async function bundle(
  files: Readonly<Record<string, string>>,
  folder: string,
): Promise<void> {
  const esbuild = join(await npmPackage("esbuild", "0.28.2"), "bin", "esbuild");
  await run(
    "node",
    [
      esbuild,
      ...Object.entries(files).map(([name, file]) => `${name}=${file}`),
      "--bundle",
      "--platform=node",
      "--format=esm",
      "--target=node20",
      `--outdir=${folder}`,
      "--out-extension:.js=.mjs",
      "--alias:@std/assert=./tests/shim/assert.ts",
      "--alias:@std/testing/bdd=./tests/shim/bdd.ts",
      "--define:import.meta.main=false",
      `--banner:js=${banner}`,
      "--log-level=error",
    ],
    root,
    "esbuild",
  );
}
