// Importing the library by URL: an empty folder, an empty cache, two permissions.
// Knows no import map and no registry; the URL is that of a little server of ours.
// Deno alone can do that.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { defaultTarget } from "../targets.ts";

const target = await defaultTarget();
const library = fileURLToPath(new URL("../../", import.meta.url));

/** The sources, as plain text, as a code hosting site would serve them. */
interface Site {
  url: string;
  /** Paths that were asked for. */
  asked: string[];
  close(): Promise<void>;
}

function serve(): Promise<Site> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, "http://localhost");
    asked.push(pathname);
    try {
      const text = await readFile(join(library, pathname));
      response.setHeader("content-type", "text/plain; charset=utf-8");
      response.end(text);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      const close = () =>
        new Promise<void>((done) => {
          server.close(() => done());
          server.closeAllConnections();
        });
      resolve({ url: `http://127.0.0.1:${port}`, asked, close });
    });
  });
}

interface Run {
  code: number | null;
  output: string;
  errors: string;
}

/** Runs deno in a folder that has nothing but one program, with a cache that has nothing. */
async function runAlone(
  program: string,
  flags: readonly string[],
): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), "zklock-url-"));
  const cache = await mkdtemp(join(tmpdir(), "zklock-cache-"));
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, DENO_DIR: cache, NO_COLOR: "1" };
  try {
    await writeFile(join(folder, "x.ts"), program);
    return await new Promise((resolve) => {
      const options = { cwd: folder, env, timeout: 60_000 };
      const words = [...flags, "x.ts"];
      execFile(process.execPath, words, options, (error, output, errors) => {
        const code = error === null ? 0 : Number(error.code ?? -1);
        resolve({ code, output, errors });
      });
    });
  } finally {
    for (const left of [folder, cache]) await rm(left, { recursive: true });
  }
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
