// The package as npm would serve it: installed from the tarball on Node and Bun, and type-checked as its users do.
// Knows no registry; only the tools come from one.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { buildPackage, nodeTypes, tsc } from "../../.ci/build.ts";
import { nodeProgram, nodeVersions, npmPackage } from "../real/npm.ts";
import {
  assertTakesLock,
  bun,
  execute,
  inProject,
  keptFolder,
  succeed,
  takeAndRelease,
} from "./scratch.ts";

const tarball = await buildPackage(await keptFolder());

const importing = (servers: string) =>
  `import { connect, SequentialLock } from "@zklock/zklock";
${takeAndRelease(servers)}`;

const requiring = (servers: string) =>
  `const { connect, SequentialLock } = require("@zklock/zklock");
(async () => {
${takeAndRelease(servers)}})();
`;

/** A user's test, by the package's other entry. */
const testing = `import { connect, SequentialLock } from "@zklock/zklock";
import { TestServer } from "@zklock/zklock/testing";
const server = await TestServer.start();
const zk = await connect(server.servers);
const held = await new SequentialLock(zk, "/a").acquire();
const lost = new Promise((resolve) => held.signal.addEventListener("abort", resolve));
server.expire(zk.session);
await lost;
console.log(held.state);
await zk.close();
await server.close();
`;

let installed: Promise<string> | undefined;

/** Installs the package by npm, once, and answers with the node_modules folder. */
function modules(): Promise<string> {
  return installed ??= keptFolder().then(async (folder) => {
    await writeFile(join(folder, "package.json"), "{}");
    const flags = ["--offline", "--no-audit", "--no-fund"];
    await succeed(folder, ["npm", "install", ...flags, tarball]);
    return join(folder, "node_modules");
  });
}

/** A project with the package installed by npm. */
function withPackage<T>(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  return inProject({ "package.json": "{}", ...files }, async (folder) => {
    await symlink(await modules(), join(folder, "node_modules"));
    return await use(folder);
  });
}

describe("The package, installed by npm", () => {
  for (const version of nodeVersions) {
    it(`takes a lock on Node ${version}, by import`, () =>
      assertTakesLock(async (servers) => {
        const node = await nodeProgram(version);
        return await withPackage(
          { "x.mjs": importing(servers) },
          (folder) => succeed(folder, [node, "x.mjs"]),
        );
      }));

    it(`takes a lock on Node ${version}, by require()`, () =>
      assertTakesLock(async (servers) => {
        const node = await nodeProgram(version);
        return await withPackage(
          { "x.cjs": requiring(servers) },
          (folder) => succeed(folder, [node, "x.cjs"]),
        );
      }));

    it(`has ./testing on Node ${version}`, async () => {
      const node = await nodeProgram(version);

      const output = await withPackage(
        { "x.mjs": testing },
        (folder) => succeed(folder, [node, "x.mjs"]),
      );

      assertEquals(output, "lost\n");
    });
  }

  it("takes a lock on Deno", () =>
    assertTakesLock((servers) =>
      withPackage(
        { "x.mjs": importing(servers) },
        (folder) =>
          succeed(folder, [
            process.execPath,
            "run",
            "--allow-net",
            "--no-prompt",
            "--node-modules-dir=manual",
            "x.mjs",
          ]),
      )
    ));
});

/** What a careful user writes: every promise of the types that a compiler can see. */
const typed =
  `import { connect, type HeldLock, SequentialLock } from "@zklock/zklock";
export async function use(signal: AbortSignal): Promise<bigint> {
  await using zk = await connect("127.0.0.1:2181", { signal });
  await using held: HeldLock = await new SequentialLock(zk, "/a").acquire();
  const disposable: AsyncDisposable = held;
  await disposable[Symbol.asyncDispose]();
  // @ts-expect-error a token is no number
  const wrong: number = held.token;
  return held.token + BigInt(wrong);
}
`;

const typedTesting = `import { TestServer } from "@zklock/zklock/testing";
export async function start(): Promise<string> {
  await using server: TestServer = await TestServer.start();
  return server.servers;
}
`;

describe("The types of the package, every one of them checked, are right for", () => {
  const nothingElse = { lib: ["es2022", "dom"], types: [] };
  const node = { lib: ["es2022"], types: ["node"] };
  const cases: [string, Record<string, unknown>, Record<string, string>][] = [
    ["nodenext", { module: "nodenext", ...node }, {
      "use.ts": typed,
      "use_testing.ts": typedTesting,
    }],
    ["bundler", { module: "esnext", moduleResolution: "bundler", ...node }, {
      "use.ts": typed,
      "use_testing.ts": typedTesting,
    }],
    ["bundler without types of Node", {
      module: "esnext",
      moduleResolution: "bundler",
      ...nothingElse,
    }, { "use.ts": typed }],
  ];
  const strict = {
    target: "es2022",
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  };
  for (const [name, options, files] of cases) {
    it(name, async () => {
      const typeRoots = [await nodeTypes()];
      const compilerOptions = { ...strict, ...options, typeRoots };
      const settings = JSON.stringify({ compilerOptions });
      const all = { "tsconfig.json": settings, ...files };

      await withPackage(
        { ...all, "package.json": '{"type":"module"}' },
        (folder) => tsc(["-p", "."], folder),
      );
    });
  }

  it("nodenext with TypeScript 5.9", async () => {
    const typeRoots = [await nodeTypes()];
    const compilerOptions = {
      ...strict,
      ...node,
      module: "nodenext",
      typeRoots,
    };
    const program = join(await npmPackage("typescript", "5.9.3"), "bin/tsc");

    const { output } = await withPackage(
      {
        "package.json": '{"type":"module"}',
        "tsconfig.json": JSON.stringify({ compilerOptions }),
        "use.ts": typed,
        "use_testing.ts": typedTesting,
      },
      (folder) => execute(folder, [program, "-p", "."]),
    );

    assertEquals(output, "");
  });
});

describe("The package, added by bun add ./zklock.tgz", () => {
  it("takes a lock, from the sources", () =>
    assertTakesLock((servers) =>
      inProject({
        "package.json": "{}",
        "x.ts": importing(servers) +
          'console.log(import.meta.resolve("@zklock/zklock"));\n',
      }, async (folder) => {
        await succeed(folder, [...bun(), "add", tarball]);
        const output = await succeed(folder, [...bun(), "x.ts"]);
        assertEquals(/zklock\/mod\.ts\n$/.test(output), true, output);
        return output;
      })
    ));

  it("has ./testing", async () => {
    const files = { "package.json": "{}", "x.ts": testing };

    const output = await inProject(files, async (folder) => {
      await succeed(folder, [...bun(), "add", tarball]);
      return await succeed(folder, [...bun(), "x.ts"]);
    });

    assertEquals(output, "lost\n");
  });
});
