// Calls of a client while its connection is away: reads go out again, writes are unknown, the rest waits.
// A server in memory, virtual time: see virtual.ts.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConnectionLossError, ServerError } from "../../protocol/errors.ts";
import { header } from "./wire.ts";
import { inWorld } from "./world.ts";

describe("Client, while the connection is away", () => {
  it(
    "reads go out again by themselves and writes reject: they may have happened",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.answer = () => null;
      const read = client.getChildren("/");
      const write = assertRejects(
        () => client.create("/a"),
        ConnectionLossError,
      );
      await time.pass(5);

      ensemble.server.line.cut();
      ensemble.server.answer = (asked) => ensemble.answer(asked);

      assertEquals([await time.until(read), (await write).outcome], [
        [],
        "unknown",
      ]);
    }),
  );

  it(
    "what a server does not support is remembered for the next connection to it",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.answer = (asked, line) => {
        if (asked.op !== "whoAmI") return ensemble.answer(asked);
        line.send(header(asked.xid, -1n, -6));
        line.finish();
        return null;
      };
      const call = () => time.until(client.whoAmI());
      await assertRejects(call, ServerError, "it came with ZooKeeper 3.7");
      await time.pass(100);

      await assertRejects(call, ServerError, "it came with ZooKeeper 3.7");

      assertEquals([ensemble.server.asked, ensemble.dials.length], [
        ["whoAmI"],
        2,
      ]);
    }),
  );

  it(
    "calls wait and are made in their order on the next connection",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.line.cut();

      const calls = [
        client.create("/a"),
        client.sync("/"),
        client.delete("/a"),
      ];
      await time.until(Promise.all(calls));

      assertEquals(ensemble.server.line.asked.map(({ op }) => op), [
        "create",
        "sync",
        "delete",
      ]);
      assert(ensemble.server.lines.length === 2);
    }),
  );
});
