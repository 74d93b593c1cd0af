// The library as JSR would have it: what is published is enough, and is clean.
// Knows no registry: a dry run lists the files, and Deno takes a copy of them for the package.

import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import {
  assertTakesLock,
  execute,
  executeHere,
  inProject,
  library,
  type Run,
  succeed,
  takeAndRelease,
} from "./scratch.ts";

const publish = [process.execPath, "publish", "--dry-run", "--allow-dirty"];

let running: Promise<Run> | undefined;

/** What the dry run says of the library, asked once. */
function dryRun(): Promise<Run> {
  return running ??= executeHere(publish);
}

/** What would be published, by path from the root. */
function published({ errors }: Run): string[] {
  return [...errors.matchAll(/^ +(file:\S+) \(/gm)]
    .map(([, url]) => fileURLToPath(url).slice(library.length));
}

/**
 * What the dry run warns of, but for one import by a variable: written out, it
 * makes esbuild and `bun build` look for cloudflare:sockets, and fail (measured).
 */
function complaints({ errors }: Run): string[] {
  const warning = /^(?:warning|error)\[?.*\n(?: *--> (.*))?/gm;
  return (errors.match(warning) ?? []).filter((text) =>
    !/unanalyzable-dynamic-import\S* .*\n.*\/transport\/workers\.ts:/.test(text)
  );
}

describe("deno publish --dry-run", () => {
  it("has nothing to complain of, and takes no tests along", async () => {
    const run = await dryRun();

    assertEquals(run.code, 0, run.errors);
    assertMatch(run.errors, /Success/);
    assertEquals(complaints(run), []);
    const strange = published(run).filter((path) =>
      !/^(LICENSE|README\.md|deno\.json|(mod|(protocol|lock|testing)\/.*)\.ts)$/
        .test(path)
    );
    assertEquals(strange, []);
  });
});

describe("The test of the dry run", () => {
  it("sees warnings", async () => {
    const files = {
      "deno.json":
        '{"name":"@a/b","version":"1.0.0","license":"MIT","exports":"./m.ts"}',
      "m.ts": "export const a: string = `x`;\nimport(a);\n",
    };

    const run = await inProject(files, (folder) => execute(folder, publish));

    const [found, ...more] = complaints(run);
    assertMatch(found, /^warning\[unanalyzable-dynamic-import\]/);
    assertEquals(more, []);
  });
});

describe("The files that would be published to JSR", () => {
  it("take a lock and have ./testing, imported as jsr:@zklock/zklock", () =>
    assertTakesLock(async (servers) => {
      const paths = published(await dryRun());
      const files = {
        "deno.json": JSON.stringify({
          links: ["./zklock"],
          imports: { "@zklock/zklock": "jsr:@zklock/zklock@^0.1.0" },
        }),
        "x.ts": `import { connect, SequentialLock } from "@zklock/zklock";
import { TestServer } from "@zklock/zklock/testing";
${takeAndRelease(servers)}await using own = await TestServer.start();
await using client = await connect(own.servers);
console.log(client.session.state);
`,
      };
      return await inProject(files, async (folder) => {
        for (const path of paths) {
          await cp(join(library, path), join(folder, "zklock", path));
        }
        const run = [process.execPath, "run", "--check", "--allow-net"];
        const output = await succeed(folder, [...run, "--no-prompt", "x.ts"]);
        assertEquals(output.split("\n").at(-2), "connected");
        return output;
      });
    }));
});
