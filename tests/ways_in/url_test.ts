// Importing the library by URL: an empty folder, an empty cache, two permissions.
// Knows no import map and no registry; the URL is that of a little server of ours.
// Deno alone can do that.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import process from "node:process";
import { defaultTarget } from "../targets.ts";
import { execute, inProject, type Run, serve } from "./scratch.ts";

const target = await defaultTarget();
/** Runs deno in a folder that has nothing but one program, with a cache that has nothing. */
function runAlone(program: string, flags: readonly string[]): Promise<Run> {
  return inProject(
    { "x.ts": program },
    (folder) => execute(folder, [process.execPath, ...flags, "x.ts"]),
  );
}

describe("mod.ts imported by URL", () => {
  it("locks, releases and lets the program end, with --allow-import and --allow-net alone", async () => {
    const site = await serve();
    const path = `/zklock-${crypto.randomUUID()}`;
    try {
      const { code, output, errors } = await runAlone(
        `import { connect, SequentialLock } from "${site.url}/mod.ts";
const zk = await connect("${target.servers}");
const held = await new SequentialLock(zk, "${path}").acquire();
console.log("token", held.token);
console.log("released", await held.release());
await zk.close();
`,
        ["run", "--allow-import", "--allow-net", "--no-prompt"],
      );

      assertEquals(code, 0, errors);
      assertMatch(output, /^token \d+n\nreleased true\n$/);
      // Nothing but the library itself was fetched.
      const foreign = site.asked.filter((path) =>
        !/^\/(mod|protocol\/.+|lock\/.+)\.ts$/.test(path)
      );
      assertEquals(foreign, []);
      assert(site.asked.includes("/protocol/transport/node.ts"));
    } finally {
      await site.close();
    }
  });

  it("type-checks, also with await using and no settings", async () => {
    const site = await serve();
    try {
      const { code, errors } = await runAlone(
        `import { connect, ExclusiveLock, type HeldLock } from "${site.url}/mod.ts";
await using zk = await connect("127.0.0.1:1");
await using held: HeldLock = await new ExclusiveLock(zk, "/a").acquire();
console.log(held.token + 1n);
`,
        ["check", "--allow-import"],
      );

      assertEquals(code, 0, errors);
    } finally {
      await site.close();
    }
  });
});
