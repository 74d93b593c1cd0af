// Tests of the real servers' own handling: what other tests rely on.
// Must not use our client.
// Run by deno task test.

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startEnsemble } from "./ensemble.ts";
import { versions } from "./install.ts";
import { type RealServer, StartError, startServer } from "./server.ts";

async function using(
  server: RealServer,
  use: (server: RealServer) => Promise<void>,
): Promise<void> {
  // `await using` is a syntax error on Node 22.
  try {
    await use(server);
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

for (const version of versions) {
  describe(`startServer({ version: "${version}" })`, () => {
    it("resolves with a server of that version that serves", async () => {
      await using(await startServer({ version }), async (server) => {
        const answer = await server.fourLetter("srvr");

        assertStringIncludes(answer, `Zookeeper version: ${version}-`);
        assertStringIncludes(answer, "Mode: standalone");
        assertEquals(server.servers, `127.0.0.1:${server.port}`);
      });
    });

    it("restart() after kill() keeps port and data folder", async () => {
      await using(await startServer({ version }), async (server) => {
        const { pid, port, folder } = server;
        await server.kill();
        assertEquals(server.pid, null);
        await assertRejects(() => server.fourLetter("srvr"));

        await server.restart();

        assertEquals(await server.mode(), "standalone");
        assertEquals([server.port, server.folder], [port, folder]);
        assert(server.pid !== pid);
        assert((await readdir(join(folder, "data"))).includes("version-2"));
      });
    });
  });
}

describe("RealServer", () => {
  it("dispose leaves neither process nor folder", async () => {
    const server = await startServer();
    const { pid, folder } = server;
    await server.freeze();

    await server[Symbol.asyncDispose]();

    assertEquals(existsSync(folder), false);
    assertEquals(existsSync(`/proc/${pid}`), false);
    assertEquals(server.pid, null);
  });

  it("freeze() keeps it from answering until thaw()", async () => {
    await using(await startServer(), async (server) => {
      await server.freeze();
      await assertRejects(() => server.fourLetter("ruok", 200));

      server.thaw();

      assertEquals(await server.fourLetter("ruok", 60_000), "imok");
    });
  });

  it("says why, from its log, if it can't start", async () => {
    await using(await startServer(), async ({ port }) => {
      const error = await assertRejects(
        () => startServer({ port }),
        StartError,
        "Address already in use",
      );

      assertEquals(error.isPortTaken, true);
    });
  });
});

for (const version of ["3.8.0", "3.9.3"] as const) {
  describe(`startEnsemble({ version: "${version}" })`, () => {
    it("has another leader after the leader was killed", async () => {
      const ensemble = await startEnsemble({ version });
      try {
        const first = await ensemble.leader();
        while ((await ensemble.followers()).length < 2); // It may take one more.
        await first.kill();

        const second = await ensemble.leader();

        assert(second !== first);
        await first.restart();
        assertEquals(await first.mode(), "follower");
      } finally {
        await ensemble[Symbol.asyncDispose]();
      }
    });
  });
}
