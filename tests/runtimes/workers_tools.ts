// miniflare and esbuild, fetched once by npm into the cache folder; bundles for workers.
// Knows no test.
// Used by workers.ts and the workers_*_test.ts beside it.

import { existsSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { run } from "../real/debian.ts";
import { writableCache } from "../real/install.ts";

const packages = ["miniflare@4.20260426.0", "esbuild@0.28.2"];

/** The root of the repository. */
const root = fileURLToPath(new URL("../../", import.meta.url));

/** A worker that runs. */
export interface Worker {
  /** Sends it a request. */
  dispatchFetch(url: string, init?: RequestInit): Promise<Response>;
  dispose(): Promise<void>;
}

/** Options of miniflare, as far as we use them. */
export interface WorkerOptions {
  /** Source of the module. */
  code: string;
  compatibilityFlags?: readonly string[];
  bindings?: Record<string, unknown>;
  durableObjects?: Record<string, string>;
  serviceBindings?: Record<
    string,
    (request: Request) => Promise<Response>
  >;
  outboundService?: unknown;
}

/** A test without the leak checks: miniflare leaves timers and a message port, which are not ours. */
export function unchecked(name: string, run: () => Promise<void>): void {
  const isUnchecked = { sanitizeOps: false, sanitizeResources: false };
  Deno.test({ name, fn: run, ...isUnchecked });
}

interface Esbuild {
  build(options: unknown): Promise<{ outputFiles: { text: string }[] }>;
  stop(): Promise<void>;
}

let underWay: Promise<string> | undefined;

/** The folder with node_modules. */
function tools(): Promise<string> {
  return underWay ??= install();
}

async function install(): Promise<string> {
  const cache = await writableCache();
  const folder = join(cache, packages.join("-"));
  if (existsSync(folder)) return folder;
  const draft = await mkdtemp(join(cache, "npm-"));
  await writeFile(join(draft, "package.json"), '{"private":true}');
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts"];
  await run("npm", ["install", ...flags, ...packages], draft, "npm install");
  // Somebody else may have been faster.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
  return folder;
}

async function load<T>(name: string): Promise<T> {
  return createRequire(join(await tools(), "package.json"))(name);
}

/** Starts a worker in workerd. */
export async function startWorker(
  { code, ...options }: WorkerOptions,
): Promise<Worker> {
  const { Miniflare } = await load<
    { Miniflare: new (options: unknown) => Worker & { ready: Promise<URL> } }
  >("miniflare");
  const worker = new Miniflare({
    // Not by a path: miniflare refuses an import() whose name it cannot read.
    modules: [{ type: "ESModule", path: "/worker.js", contents: code }],
    modulesRoot: "/",
    compatibilityDate: "2026-04-01",
    host: "127.0.0.1",
    port: 0,
    handleRuntimeStdio: (_: Readable, stderr: Readable) => {
      createInterface({ input: stderr }).on("line", (line) => {
        // What a worker is told as an error, workerd says here as well.
        if (
          /^stack: |(disconnected abruptly|certificate is not trusted)/.test(
            line,
          )
        ) return;
        console.error(`workerd: ${line}`);
      });
    },
    ...options,
  });
  await worker.ready;
  return worker;
}

/** One module of a program and all that it imports. `replaced`: what stands in the place of what, by path from the root or by name. */
export async function bundle(
  entry: string,
  replaced: Record<string, string> = {},
): Promise<string> {
  const esbuild = await load<Esbuild>("esbuild");
  try {
    const { outputFiles } = await esbuild.build({
      entryPoints: [join(root, entry)],
      bundle: true,
      write: false,
      format: "esm",
      target: "esnext",
      external: ["node:*", "cloudflare:*"],
      define: { "import.meta.url": '"file:///worker.js"' },
      plugins: [replacing(replaced)],
      logLevel: "error",
    });
    return outputFiles[0].text;
  } finally {
    await esbuild.stop();
  }
}

const names: Record<string, string> = {
  "@std/assert": "tests/shim/assert.ts",
  "@std/testing/bdd": "tests/shim/bdd.ts",
  "@zklock/zklock": "mod.ts",
  "@zklock/zklock/testing": "testing/mod.ts",
};

interface Resolved {
  path: string;
  importer: string;
}

function replacing(replaced: Record<string, string>): unknown {
  const known = { ...names, ...replaced };
  return {
    name: "replacing",
    setup(build: {
      onResolve(
        options: { filter: RegExp },
        run: (args: Resolved) => { path: string } | undefined,
      ): void;
    }) {
      build.onResolve({ filter: /.*/ }, ({ path, importer }) => {
        const name = path.startsWith(".")
          ? resolve(dirname(importer), path).slice(root.length)
          : path;
        const other = Object.hasOwn(known, name) ? known[name] : undefined;
        if (other === undefined) return undefined;
        const to = join(root, other);
        // A stand-in may import what it stands for.
        return to === importer ? undefined : { path: to };
      });
    },
  };
}
