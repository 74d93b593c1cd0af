// What run() answers when the lock is lost, or its loss cannot be known.

import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { LockLostError } from "../../lock/errors.ts";
import { inScene, locks, T } from "./embedded.ts";

for (const Lock of locks) {
  describe(`${Lock.name}.run()`, () => {
    it(
      "rejects with a TypeError, before a byte is sent, without work",
      inScene(async ({ clock, connected }) => {
        const { client, road } = await connected();
        const lock = new Lock(client, "/l");
        const nothing = undefined as unknown as () => void;

        await assertRejects(
          () => clock.until(lock.run(nothing)),
          TypeError,
          "Cannot run: work is not a function: undefined",
        );

        assertEquals(road.writes, []);
      }),
    );

    it(
      "rejects if the znode was gone when it was to be released",
      inScene(async ({ clock, connected }) => {
        const { client } = await connected();
        const other = await connected();
        let token = 0n;

        const ran = new Lock(client, "/l").run(async (held) => {
          token = held.token;
          await other.client.delete(held.path);
          return 42;
        });

        const error = await assertRejects(
          () => clock.until(ran),
          LockLostError,
        );
        assertEquals(error.token, token);
        assertInstanceOf(error.cause, Error);
      }),
    );

    it(
      "rejects with what the work threw as the cause, if the lock was lost as well",
      inScene(async ({ clock, connected }) => {
        const { client } = await connected();
        const other = await connected();
        const mistake = new Error("mistake");

        const ran = new Lock(client, "/l").run(async (held) => {
          await other.client.delete(held.path);
          throw mistake;
        });

        const error = await assertRejects(
          () => clock.until(ran),
          LockLostError,
        );
        assertEquals(error.cause, mistake);
      }),
    );

    it(
      "rejects if the session ended while it worked",
      inScene(async ({ server, clock, connected }) => {
        const { client } = await connected();
        const session = client.session;

        const ran = new Lock(client, "/l").run(async (held) => {
          server.expire(session);
          await new Promise((resolve) =>
            held.signal.addEventListener("abort", resolve)
          );
        });

        const error = await assertRejects(
          () => clock.until(ran),
          LockLostError,
        );
        assertEquals(error.cause, session.signal.reason);
      }),
    );

    for (const when of ["before", "while"] as const) {
      it(
        `does not wait for the release if the connection is lost ${when} it is asked for`,
        inScene(async ({ server, clock, connected }) => {
          const { client, road } = await connected();
          server.rule = ({ op }) =>
            op === "delete" || (op === "multi" && server.paths().includes("/l"))
              ? "ignore"
              : undefined;
          let [at, path] = [0, ""];
          const ran = new Lock(client, "/l").run(async (held) => {
            path = held.path;
            at = clock.monotonic();
            server.refuseConnections();
            if (when === "before") road.sever();
            else clock.after(10, () => road.sever());
            return await Promise.resolve(42);
          });

          const value = await clock.until(ran);

          assertEquals(value, 42);
          assertEquals(clock.monotonic() - at, when === "before" ? 0 : 10);
          server.heal();
          await clock.pass(T / 2);
          assertEquals(server.znode(path), undefined);
        }),
      );
    }

    it(
      "waits for a silent server no longer than a third of the timeout",
      inScene(async ({ server, clock, connected }) => {
        const { client } = await connected();
        let at = 0;

        const value = await clock.until(
          new Lock(client, "/l").run(() => {
            at = clock.monotonic();
            server.freeze();
            return 42;
          }),
        );

        assertEquals([value, clock.monotonic() - at], [42, T / 3]);
        server.thaw();
      }),
    );
  });
}
