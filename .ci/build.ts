// Makes what is not kept in the repository: the npm package, with compiled JavaScript and types, and the single file.
// Must not decide what is public: deno.json and package.json say that.
// By hand: deno run -A .ci/build.ts <folder> [package | zklock.js]; called by tests/ways_in.

import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  writeFile,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { run } from "../tests/real/debian.ts";
import { npmPackage } from "../tests/real/npm.ts";

/** The root of the repository. */
export const root: string = fileURLToPath(new URL("../", import.meta.url));

/** Runs TypeScript's compiler in a folder; rejects with all it has to say. */
export async function tsc(
  args: readonly string[],
  folder: string,
): Promise<void> {
  const program = join(await npmPackage("typescript", "7.0.2"), "bin", "tsc");
  const quoted = ["-c", '"$@" 2>&1 || true', "sh", program, ...args];
  const complaints = await run("sh", quoted, folder);
  if (complaints !== "") throw new Error(`tsc complains:\n${complaints}`);
}

/** Where the types of Node are, for tsc's --typeRoots. */
export async function nodeTypes(): Promise<string> {
  return dirname(await npmPackage("@types/node", "24.19.2"));
}

/** Makes the tarball for npm in a folder, and answers with its path. */
export async function buildPackage(folder: string): Promise<string> {
  const draft = await mkdtemp(join(tmpdir(), "zklock-package-"));
  try {
    const outDir = join(draft, "dist");
    const typeRoots = await nodeTypes();
    await tsc(
      ["-p", ".ci/tsconfig.json", "--outDir", outDir, "--typeRoots", typeRoots],
      root,
    );
    await finishTypes(outDir);
    const { version, license, publish } = JSON.parse(
      await readFile(join(root, "deno.json"), "utf8"),
    );
    for (const name of publish.include) {
      await cp(join(root, name), join(draft, name), { recursive: true });
    }
    const own = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const { name, type, exports } = own;
    const description = { name, version, license, type, sideEffects: false };
    await writeFile(
      join(draft, "package.json"),
      JSON.stringify({ ...description, exports: compiled(exports) }, null, 2),
    );
    await mkdir(folder, { recursive: true });
    const words = await run(
      "npm",
      ["pack", "--ignore-scripts", "--json", "--pack-destination", folder],
      draft,
    );
    const file = /"filename": "([^"]+)"/.exec(words)![1];
    return join(folder, file.replace("@", "").replace("/", "-"));
  } finally {
    await rm(draft, { recursive: true });
  }
}

/** For each source: Bun takes it as it is, everybody else what was made of it. */
function compiled(exports: Record<string, string>): unknown {
  return Object.fromEntries(
    Object.entries(exports).map(([name, source]) => {
      const path = source.replace(/^\.\/(.*)\.ts$/, "./dist/$1");
      const types = `${path}.d.ts`;
      return [name, { bun: source, types, default: `${path}.js` }];
    }),
  );
}

/**
 * Types name each other as .ts there, which older compilers do not take; and
 * Symbol.asyncDispose is in no `lib` before esnext.
 */
async function finishTypes(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  for (const name of names.filter((name) => name.endsWith(".d.ts"))) {
    const file = join(folder, name);
    const text = await readFile(file, "utf8");
    const fixed = text.replace(/(from "\.{1,2}\/[^"]*)\.ts"/g, '$1.js"');
    const needs = fixed.includes("asyncDispose") ||
      fixed.includes("AsyncDisposable");
    const first = needs ? '/// <reference lib="esnext.disposable" />\n' : "";
    await writeFile(file, first + fixed);
  }
}

/** The single file, as it is and made small. */
export interface Bundle {
  readable: string;
  /** What is shipped as zklock.js. */
  minified: string;
}

interface Esbuild {
  build(options: unknown): Promise<{ outputFiles: { text: string }[] }>;
  transform(code: string, options: unknown): Promise<{ code: string }>;
  stop(): Promise<void>;
}

/** Makes one module of all that mod.ts imports. */
export async function buildBundle(): Promise<Bundle> {
  const folder = await npmPackage("esbuild", "0.28.2");
  const require = createRequire(import.meta.url);
  const esbuild: Esbuild = require(folder);
  const { version } = JSON.parse(
    await readFile(join(root, "deno.json"), "utf8"),
  );
  const build = async (minify: boolean) => {
    const { outputFiles } = await esbuild.build({
      entryPoints: [join(root, "mod.ts")],
      bundle: true,
      write: false,
      format: "esm",
      target: "es2022",
      external: ["node:*", "cloudflare:*"],
      plugins: [lateModules(esbuild)],
      minify,
      banner: { js: `// zklock ${version}, MIT License` },
      logLevel: "error",
    });
    return outputFiles[0].text;
  };
  try {
    return { readable: await build(false), minified: await build(true) };
  } finally {
    await esbuild.stop();
  }
}

/**
 * In one file the imports of a module that is loaded late would stand at the top,
 * and a runtime without node:net could not load the file. Here they are made when
 * the module is.
 */
function lateModules(esbuild: Esbuild): unknown {
  const fixed = /^import (\{[^}]*\}) from ("node:[^"]+");$/gm;
  return {
    name: "late modules",
    setup(build: {
      onLoad(
        options: { filter: RegExp },
        run: (args: { path: string }) => Promise<{ contents: string }>,
      ): void;
    }) {
      const filter = /protocol\/transport\/node\.ts$/;
      build.onLoad({ filter }, async ({ path }) => {
        const source = await readFile(path, "utf8");
        const options = { loader: "ts", target: "es2022" };
        const { code } = await esbuild.transform(source, options);
        const contents = code.replace(
          fixed,
          (_, names: string, from: string) =>
            `const ${names.replaceAll(" as ", ": ")} = await import(${from});`,
        );
        return { contents };
      });
    },
  };
}

/** How big a text is, as words. */
function sizeOf(text: string): string {
  const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
  const bytes = new TextEncoder().encode(text);
  return `${kB(bytes.length)} (${
    kB(gzipSync(bytes, { level: 9 }).length)
  } gzip)`;
}

async function main(folder = "dist", only?: string): Promise<void> {
  if (only !== "zklock.js") console.log(await buildPackage(folder));
  if (only === "package") return;
  const { readable, minified } = await buildBundle();
  const file = join(folder, "zklock.js");
  await mkdir(folder, { recursive: true });
  await writeFile(file, minified);
  const sizes = `${sizeOf(minified)}; not minified ${sizeOf(readable)}`;
  console.log(`${file}: ${sizes}`);
}

if (import.meta.main) await main(...process.argv.slice(2));
