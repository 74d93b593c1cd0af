// The library as one file, imported in every way that each runtime has for a file without a package.
// Knows of the file's inside what it imports, and its size.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import process from "node:process";
import * as library from "../../mod.ts";
import { run } from "../real/debian.ts";
import { nodeProgram, nodeVersions, npmPackage } from "../real/npm.ts";
import { importsOf } from "./imports.ts";
import {
  assertTakesLock,
  bun,
  inProject,
  keptFolder,
  library as root,
  succeed,
  takeAndRelease,
} from "./scratch.ts";

const folder = await keptFolder();
const build = ["run", "-A", ".ci/build.ts", folder, "zklock.js"];
const report = await run(process.execPath, build, root, "build.ts");
const bundle = await readFile(join(folder, "zklock.js"), "utf8");

/** What the minified file may weigh: to see when something gets in that should not. */
const limit = 110_000;

/** Serves the file, as any site would. */
async function served(
  use: (url: string) => Promise<string>,
): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/javascript");
    response.end(bundle);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  try {
    return await use(`http://127.0.0.1:${port}/zklock.js`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Programs by the way in which they import the file; those behind `fetched` have its text. */
const ways: Record<string, (url: string) => string> = {
  "a file": () => 'import { connect, SequentialLock } from "./zklock.js";',
  "http:": (url) => `import { connect, SequentialLock } from "${url}";`,
  "blob:": (url) =>
    `${fetched(url)}
const type = "text/javascript";
const from = URL.createObjectURL(new Blob([text], { type }));
const { connect, SequentialLock } = await import(from);`,
  "data:": (url) =>
    `${fetched(url)}
const from = "data:text/javascript;base64," + btoa(text);
const { connect, SequentialLock } = await import(from);`,
};

const fetched = (url: string) =>
  `const text = await (await fetch("${url}")).text();`;

/** Runs the program of one way. */
function runWay(
  way: string,
  servers: string,
  command: readonly string[],
): Promise<string> {
  return served((url) =>
    inProject({
      "zklock.js": bundle,
      "package.json": '{"type":"module"}',
      "x.mjs": `${ways[way](url)}\n${takeAndRelease(servers)}`,
    }, (folder) => succeed(folder, [...command, "x.mjs"]))
  );
}

const deno = [process.execPath, "run", "--allow-net", "--allow-import"];

describe("zklock.js takes a lock", () => {
  for (const way of ["a file", "http:", "blob:", "data:"]) {
    it(`on Deno, as ${way}`, () =>
      assertTakesLock((servers) => runWay(way, servers, deno)));
  }

  for (const way of ["a file", "blob:", "data:"]) {
    it(`on Bun, as ${way}`, () =>
      assertTakesLock((servers) => runWay(way, servers, bun())));
  }

  for (const version of nodeVersions) {
    for (const way of ["a file", "data:"]) {
      it(`on Node ${version}, as ${way}`, () =>
        assertTakesLock(async (servers) =>
          await runWay(way, servers, [await nodeProgram(version)])
        ));
    }
  }

  it("in workerd, as a module of a worker", () =>
    assertTakesLock(async (servers) => {
      const miniflare = await npmPackage("miniflare", "4.20260426.0");
      return await inProject(
        {
          "zklock.js": bundle,
          "x.mjs": inWorker(miniflare, servers),
        },
        async (folder) =>
          succeed(folder, [await nodeProgram(nodeVersions[1]), "x.mjs"]),
      );
    }));
});

const worker = (servers: string) =>
  `import { connect, SequentialLock } from "./zklock.js";
const lines = [];
const console = { log: (line) => lines.push(line + "\\n") };
export default {
  async fetch() {
    ${takeAndRelease(servers)}
    return new Response(lines.join(""));
  },
};
`;

const inWorker = (miniflare: string, servers: string) =>
  `import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const { Miniflare } = createRequire(import.meta.url)(${
    JSON.stringify(miniflare)
  });
const code = ${JSON.stringify(worker(servers))};
const bundle = readFileSync("zklock.js", "utf8");
const worker = new Miniflare({
  modules: [
    { type: "ESModule", path: "/worker.js", contents: code },
    { type: "ESModule", path: "/zklock.js", contents: bundle },
  ],
  modulesRoot: "/",
  compatibilityDate: "2026-04-01",
  compatibilityFlags: ${JSON.stringify([])},
  host: "127.0.0.1",
});
const reply = await worker.dispatchFetch("http://worker/");
process.stdout.write(await reply.text());
await worker.dispose();
`;

describe("zklock.js", () => {
  it("imports nothing but modules of the runtime, and those only when they are needed", async () => {
    const { fixed, late } = await importsOf(bundle);

    const foreign = late.filter((name) =>
      !/^(node:(net|tls|crypto)|cloudflare:sockets)$/.test(name)
    );
    assertEquals([fixed, foreign], [[], []]);
    assert(late.includes("node:net"));
  });

  it("exports what mod.ts exports", async () => {
    const exports = await imported();

    const names = Object.keys(exports).sort();

    assertEquals(names, Object.keys(library).sort());
  });

  it("has errors whose names are what they were", async () => {
    const exports = await imported();

    const errors = [
      new exports.ClientClosedError(),
      new exports.ConnectionLossError("create", "/a", "unknown"),
      new exports.SessionExpiredError(1n, "unknown"),
    ];

    assertEquals(errors.map(({ name }) => name), [
      "ClientClosedError",
      "ConnectionLossError",
      "SessionExpiredError",
    ]);
  });

  it(`weighs less than ${limit} bytes`, () => {
    console.log(report.trim());

    assert(bundle.length < limit, `${bundle.length}`);
  });
});

/** The file in this process. */
function imported(): Promise<typeof library> {
  return import(`data:text/javascript;base64,${btoa(bundle)}`);
}
