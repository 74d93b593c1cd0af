// What the library needs of others: nothing, and of the runtime what its transports are for.
// Knows the compiled sources, whose imports a lexer reads; the layout test reads the rest, by rooms.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { nodeTypes, tsc } from "../../.ci/build.ts";
import { importsOf } from "./imports.ts";
import { inProject, library } from "./scratch.ts";

/** Files that may name modules of the runtime, and which. */
const runtime: Record<string, RegExp> = {
  "protocol/transport/node.js": /^node:(net|tls|crypto)$/,
  "protocol/transport/workers.js": /^cloudflare:sockets$/,
  "testing/sockets.js": /^node:net$/,
};

/** Ways to a module that are no import. */
const otherWays =
  /\b(require|createRequire|importScripts|getBuiltinModule|eval|Function)\s*\(/g;

/** What a file needs that it should not. */
async function foreign(file: string, source: string): Promise<string[]> {
  const { fixed, late } = await importsOf(source);
  const names = [...fixed, ...late].filter((name) =>
    !/^\.\.?\/.*\.js$/.test(name) && !runtime[file]?.test(name)
  );
  const others = source.match(otherWays) ?? [];
  return [...names, ...others].map((name) => `${file}: ${name}`);
}

describe("The library", () => {
  it("needs nothing but its own files, and node: and cloudflare: where sockets are", async () => {
    const { files, found } = await inProject({}, async (folder) => {
      const settings = ["-p", ".ci/tsconfig.json", "--removeComments"];
      const out = ["--outDir", folder, "--typeRoots", await nodeTypes()];
      await tsc([...settings, ...out], library);
      const files = (await readdir(folder, { recursive: true }))
        .filter((name) => name.endsWith(".js"));
      const found: string[] = [];
      for (const file of files) {
        const source = await readFile(join(folder, file), "utf8");
        found.push(...await foreign(file, source));
      }
      return { files, found };
    });

    assertEquals(found, []);
    // All rooms have been read.
    const rooms = ["lock/", "mod.js", "protocol/", "testing/"];
    const missing = rooms.filter((room) =>
      !files.some((file) => file.startsWith(room))
    );
    assertEquals(missing, []);
  });

  it("would be found to need more, however it is written", async () => {
    const source = `import { a } from "npm:a";
import "./b.js"; export * from "c";
const name = "d"; import(name); import(/* e */ \`\${name}\`); import("node:fs");
const cloudflare = ["cloudflare", "sockets"].join(":"); import(cloudflare);
require("f"); process.getBuiltinModule("g"); new Function("");
`;

    const found = await foreign("lock/a.js", source);

    assertEquals(found.map((line) => line.slice("lock/a.js: ".length)), [
      "npm:a",
      "c",
      "? name",
      "? `${name}`",
      "node:fs",
      "cloudflare:sockets",
      "require(",
      "getBuiltinModule(",
      "Function(",
    ]);
  });
});
