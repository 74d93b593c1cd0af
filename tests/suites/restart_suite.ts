// A session whose server is ended and started again: soon enough, or too late.
// Knows no kind of server.
// Run by tests/real/session_test.ts and by tests/embedded/.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { SessionExpiredError } from "../../protocol/mod.ts";
import type { Mortal } from "../targets.ts";
import {
  all,
  changeAll,
  newRoot,
  watchAll,
  withClients,
} from "./session_tools.ts";
import { Ear, statesOf, until, within } from "./tools.ts";

/** Registers all tests for what is started like this. It must have addWatch(): 3.6. */
export function restartSuite(start: () => Promise<Mortal>): void {
  describe("A session whose server is restarted", () => {
    it("goes on, with its ephemeral znodes and every watch", async () => {
      const server = await start();
      try {
        await withClients(async (open) => {
          const zk = await open(server.servers, { sessionTimeout: 60_000 });
          const { session } = zk;
          const { id } = session;
          const states = statesOf(zk);
          const root = await newRoot(zk);
          const ear = await watchAll(zk, root);
          await zk.create(`${root}/e`, "", { mode: "ephemeral" });

          await server.kill();
          await server.restart();
          const other = await open(server.servers);
          await until("it is back", () => states.length === 2);
          await zk.sync(root);
          await changeAll(other, root);

          assertEquals((await ear.hears(all.length)).sort(), all);
          assertEquals(states, ["disconnected", "connected"]);
          assertStrictEquals(zk.session, session);
          const { ephemeralOwner } = (await zk.exists(`${root}/e`))!;
          assertEquals([session.id, ephemeralOwner], [id, id]);
        });
      } finally {
        await server[Symbol.asyncDispose]();
      }
    });

    // ZOOKEEPER-4508: clients waited for ever for a server to tell them.
    it("is over after 4/3 of its timeout without one; the same client goes on when there is one", async () => {
      const server = await start();
      try {
        await withClients(async (open) => {
          const zk = await open(server.servers, { sessionTimeout: 4_000 });
          const { session } = zk;
          const states = statesOf(zk);
          const root = await newRoot(zk);
          const ear = new Ear(root);
          await zk.exists(root, ear);
          await zk.addWatch(root, ear.watch);
          const began = performance.now();

          await server.kill();
          await until("it knows", () => states.length === 1);
          const call = zk.create(`${root}/a`);
          const error = await assertRejects(
            () => within("it is over", call),
            SessionExpiredError,
          );
          const waited = performance.now() - began;
          const next = zk.exists(root);
          await server.restart();

          assertEquals(error.outcome, "not-sent");
          assert(waited > 5_000, `${waited} ms`);
          assertInstanceOf(session.signal.reason, SessionExpiredError);
          assertEquals(ear.heard, ["session-lost .", "session-lost ."]);
          assert(await next);
          assert(zk.session !== session && !zk.signal.aborted);
          assertEquals(states, ["disconnected", "expired", "connected"]);
          await zk.create(`${root}/e`, "", { mode: "ephemeral" });
        });
      } finally {
        await server[Symbol.asyncDispose]();
      }
    });
  });
}
