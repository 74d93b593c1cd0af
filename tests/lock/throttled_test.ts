// Locks while a server puts off what they ask for (ThrottledOp): they go on later, and do not hammer.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ExclusiveLock } from "../../lock/exclusive_lock.ts";
import { SequentialLock } from "../../lock/sequential_lock.ts";
import type { RequestRule } from "../../testing/server_api.ts";
import { inScene, T } from "./embedded.ts";

/** Puts the first requests of one operation off. */
function putOff(name: string, times: number): RequestRule {
  return ({ op }) => op === name && times-- > 0 ? "ThrottledOp" : undefined;
}

describe("SequentialLock.acquire()", () => {
  it(
    "makes its directory also if that is put off",
    inScene(async ({ server, clock, connected }) => {
      const { client } = await connected();
      server.rule = putOff("createContainer", 2);

      const held = await clock.until(
        new SequentialLock(client, "/l").acquire(),
      );

      assertEquals(server.count("createContainer"), 3);
      await clock.until(held.release());
    }),
  );

  it(
    "pauses between the heartbeats it needs for a grant, if they are put off",
    inScene(async ({ server, clock, connected }) => {
      const near = await connected();
      const far = await connected();
      const first = await clock.until(
        new SequentialLock(near.client, "/l").acquire(),
      );
      const acquired = new SequentialLock(far.client, "/l").acquire();
      await clock.pass(3 * T);
      server.rule = ({ op, session }) =>
        op === "multi" && session === far.client.session.id
          ? "ThrottledOp"
          : undefined;
      await clock.until(first.release());
      server.delay(1); // Without it a loop without a pause would never end.
      server.clear();

      await clock.pass(T);

      const asked = server.count();
      assert(asked > 10 && asked < 80, `${asked} requests in one timeout`);
      server.heal();
      await clock.until((await clock.until(acquired)).release());
    }),
  );
});

describe("ExclusiveLock.acquire()", () => {
  it(
    "makes its fence and what lies above also if that is put off",
    inScene(async ({ server, clock, connected }) => {
      const { client } = await connected();
      const putOffs = ["/a", "/a/l-fence"];
      server.rule = ({ op }) => {
        if (op !== "create" || putOffs.length === 0) return undefined;
        putOffs.pop();
        return "ThrottledOp";
      };

      const held = await clock.until(
        new ExclusiveLock(client, "/a/l").acquire(),
      );

      assertEquals(server.paths(), ["/a", "/a/l", "/a/l-fence"]);
      await clock.until(held.release());
    }),
  );
});

describe("HeldLock.release()", () => {
  for (const Lock of [SequentialLock, ExclusiveLock]) {
    it(
      `of ${Lock.name} goes on until it is served`,
      inScene(async ({ server, clock, connected }) => {
        const { client } = await connected();
        const held = await clock.until(new Lock(client, "/l").acquire());
        const op = Lock === SequentialLock ? "delete" : "multi";
        server.rule = putOff(op, 2);

        const released = await clock.until(held.release());

        assertEquals([released, server.znode(held.path)], [true, undefined]);
      }),
    );
  }

  it(
    "of an ExclusiveLock whose fence is gone goes on, too",
    inScene(async ({ server, clock, connected }) => {
      const { client, warnings } = await connected();
      const held = await clock.until(new ExclusiveLock(client, "/l").acquire());
      await clock.until(client.delete("/l-fence"));
      server.rule = putOff("sync", 1);

      const released = await clock.until(held.release());

      assertEquals([released, server.znode("/l")], [true, undefined]);
      assertEquals(warnings.includes("orphan"), false);
    }),
  );
});
