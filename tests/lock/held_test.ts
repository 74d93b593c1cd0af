// What a HeldLock answers, and waiting behind a znode that must not be read, or is no lock: on the embedded server.

import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ExclusiveLock } from "../../lock/exclusive_lock.ts";
import { SequentialLock } from "../../lock/sequential_lock.ts";
import { permissions } from "../../protocol/codes.ts";
import { MultiError } from "../../protocol/errors.ts";
import type { Op } from "../../protocol/api.ts";
import { inScene, locks } from "./embedded.ts";

for (const Lock of locks) {
  describe(`HeldLock.guard() of ${Lock.name}`, () => {
    it(
      "answers the results of the operations given, without its own",
      inScene(async ({ clock, connected }) => {
        const { client } = await connected();
        const held = await clock.until(new Lock(client, "/l").acquire());

        const { results } = await clock.until(held.guard([
          { op: "create", path: "/a" },
          { op: "delete", path: "/a" },
        ]));

        assertEquals(results.map(({ op }) => op), ["create", "delete"]);
        await clock.until(held.release());
      }),
    );

    it(
      "counts the operations given, and not its own, when one is refused",
      inScene(async ({ server, clock, connected }) => {
        const { client } = await connected();
        const held = await clock.until(new Lock(client, "/l").acquire());
        const ops: Op[] = [
          { op: "create", path: "/a" },
          { op: "delete", path: "/not-there" },
          { op: "delete", path: "/a" },
        ];

        const error = await assertRejects(
          () => clock.until(held.guard(ops)),
          MultiError,
        );

        assertEquals([error.index, error.code, error.path], [
          1,
          "NoNode",
          "/not-there",
        ]);
        const told = error.results.map(({ path }) => path);
        assertEquals(told, ops.map(({ path }) => path));
        assertEquals(server.znode("/a"), undefined);
        assertEquals(held.state, "held");
        await clock.until(held.release());
      }),
    );
  });
}

describe("SequentialLock.acquire()", () => {
  it(
    "behind a znode that it may not read watches the directory instead",
    inScene(async ({ server, clock, connected }) => {
      const stranger = await connected();
      const { client } = await connected();
      const auth = { scheme: "digest", auth: "a:secret" };
      await clock.until(stranger.client.addAuth(auth));
      await clock.until(client.create("/l"));
      const own = [{ perms: permissions.all, scheme: "auth", id: "" }];
      const ahead = "/l/_c_stranger-lock-";
      const options = { mode: "ephemeral-sequential", acl: own } as const;
      const { path } = await clock.until(
        stranger.client.create(ahead, "", options),
      );
      let queued = 0;
      const acquired = new SequentialLock(client, "/l")
        .acquire({ onQueued: () => void queued++ });
      await clock.pass(1_000);
      const watches = [server.watches("/l"), server.watches(path)];

      await clock.until(stranger.client.delete(path));
      const held = await clock.until(acquired, 100);

      assertEquals([queued, watches], [1, [1, 0]]);
      await clock.until(held.release());
    }),
  );
});

describe("ExclusiveLock.acquire()", () => {
  it(
    "warns once that it waits for a znode that is not ephemeral, and goes on when that goes",
    inScene(async ({ clock, connected }) => {
      const { client, warnings } = await connected();
      const told: string[] = [];
      client.on("warning", ({ message }) => told.push(message));
      await clock.until(client.create("/l", "data"));
      const acquired = new ExclusiveLock(client, "/l").acquire();
      await clock.pass(1_000);
      await clock.until(client.setData("/l", "other"));
      await clock.pass(1_000);

      await clock.until(client.delete("/l"));
      const held = await clock.until(acquired);

      assertEquals(warnings, ["foreign-contender"]);
      assertEquals(told, [
        "Waiting for /l, which is no lock: it is not ephemeral",
      ]);
      await clock.until(held.release());
    }),
  );

  it(
    "does not warn of a holder",
    inScene(async ({ clock, connected }) => {
      const { client, warnings } = await connected();
      const lock = new ExclusiveLock(client, "/l");
      const held = await clock.until(lock.acquire());
      const next = lock.acquire();
      await clock.pass(1_000);

      await clock.until(held.release());
      await clock.until((await clock.until(next)).release());

      assertEquals(warnings, []);
    }),
  );
});
