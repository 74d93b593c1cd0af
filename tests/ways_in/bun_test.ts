// Bun without a package: from a git repository, and by URL.
// Knows no registry; the repository is a copy of what git would have of this folder.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  assertTakesLock,
  bun,
  execute,
  executeHere,
  inProject,
  library,
  serve,
  succeed,
  takeAndRelease,
} from "./scratch.ts";

const git = ["git", "-c", "user.name=zklock", "-c", "user.email=zklock@test"];

/** A git repository with the library as it stands here, committed or not. */
function inRepository<T>(use: (folder: string) => Promise<T>): Promise<T> {
  return inProject({}, async (folder) => {
    const listing = ["git", "ls-files", "-z", "-co", "--exclude-standard"];
    const { output } = await executeHere(listing);
    for (const name of output.split("\0").filter((name) => name !== "")) {
      const from = join(library, name);
      // Listed also when it is deleted and that is not committed.
      await cp(from, join(folder, name)).catch((error) => {
        if (error.code !== "ENOENT") throw error;
      });
    }
    await succeed(folder, ["git", "init", "-q"]);
    await succeed(folder, ["git", "add", "-A"]);
    await succeed(folder, [...git, "commit", "-q", "-m", "all"]);
    return await use(folder);
  });
}

describe("bun add git+file://…", () => {
  it("gives the library, its sources, and ./testing", () =>
    assertTakesLock((servers) =>
      inRepository((repository) =>
        inProject({
          "package.json": "{}",
          "x.ts": `import { connect, SequentialLock } from "@zklock/zklock";
import { TestServer } from "@zklock/zklock/testing";
${takeAndRelease(servers)}console.log(typeof TestServer.start);
`,
        }, async (folder) => {
          await succeed(folder, [...bun(), "add", `git+file://${repository}`]);
          const output = await succeed(folder, [...bun(), "x.ts"]);
          assertEquals(output.split("\n").at(-2), "function");
          return output;
        })
      )
    ));
});

describe("bun --preload ./bun_http_imports.ts", () => {
  const files = async (url: string, servers: string) => ({
    "bun_http_imports.ts": await readFile(
      join(library, "examples/bun_http_imports.ts"),
      "utf8",
    ),
    "x.ts": `import { connect, SequentialLock } from "${url}/mod.ts";
${takeAndRelease(servers)}`,
  });
  const preload = ["--preload", "./bun_http_imports.ts"];

  it("imports the library by URL", async () => {
    const site = await serve();
    try {
      await assertTakesLock(async (servers) =>
        inProject(
          await files(site.url, servers),
          (folder) => succeed(folder, [...bun(), ...preload, "x.ts"]),
        )
      );
    } finally {
      await site.close();
    }
    assert(site.asked.includes("/protocol/transport/node.ts"));
  });

  it("is not needed on the command line where bunfig.toml names it, for tests neither", async () => {
    const site = await serve();
    try {
      await assertTakesLock(async (servers) => {
        const settings = 'preload = ["./bun_http_imports.ts"]\n';
        const all = {
          ...await files(site.url, servers),
          "bunfig.toml": `${settings}[test]\n${settings}`,
          "x.test.ts": `import { expect, test } from "bun:test";
import { permissions } from "${site.url}/mod.ts";
test("all", () => expect(permissions.all).toBe(31));
`,
        };
        return await inProject(all, async (folder) => {
          await succeed(folder, [...bun(), "test"]);
          return await succeed(folder, [...bun(), "x.ts"]);
        });
      });
    } finally {
      await site.close();
    }
  });

  it("says which URL could not be had", async () => {
    const site = await serve();
    const all = await files(`${site.url}/gone`, "127.0.0.1:1");

    const { code, errors } = await inProject(
      all,
      (folder) => execute(folder, [...bun(), ...preload, "x.ts"]),
    );
    await site.close();

    assertEquals(code, 1);
    const reason = `Cannot import ${site.url}/gone/mod.ts: status 404`;
    assert(errors.includes(reason), errors);
  });
});
