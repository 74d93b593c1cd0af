// Packages of npm that tests use as tools, each fetched once into the cache folder.
// Must not run what comes with them, nor know what they are for.
// Called by tests that need another runtime, a compiler or a bundler.

import { existsSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { run } from "./debian.ts";
import { writableCache } from "./install.ts";

const underWay = new Map<string, Promise<string>>();

/** The folder of a package, with its dependencies beside it. */
export function npmPackage(name: string, version: string): Promise<string> {
  const wanted = `${name}@${version}`;
  let pending = underWay.get(wanted);
  if (pending === undefined) {
    pending = install(wanted).then((folder) =>
      join(folder, "node_modules", name)
    );
    underWay.set(wanted, pending);
    pending.catch(() => underWay.delete(wanted));
  }
  return pending;
}

async function install(wanted: string): Promise<string> {
  const cache = await writableCache();
  const folder = join(cache, `npm-${wanted.replaceAll("/", "+")}`);
  if (existsSync(folder)) return folder;
  const draft = await mkdtemp(join(cache, "draft-"));
  await writeFile(join(draft, "package.json"), '{"private":true}');
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts"];
  await run("npm", ["install", ...flags, wanted], draft, "npm install");
  // Somebody else may have been faster.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
  return folder;
}

/** The versions of Node that are tested. */
export const nodeVersions = ["20.20.2", "22.23.3", "24.21.0"] as const;

/** The program of one version of Node. */
export async function nodeProgram(version: string): Promise<string> {
  // The package "node" would fetch this one by a script.
  const name = `node-${process.platform}-${process.arch}`;
  return join(await npmPackage(name, version), "bin", "node");
}
