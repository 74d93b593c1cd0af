// Client.close() in every state: bounded, idempotent, sends what was asked before, leaves nothing behind.
// That no timer, connection or rejection is left is checked by world.ts after each test.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertLess,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Client } from "../../protocol/api.ts";
import {
  ClientClosedError,
  SessionExpiredError,
} from "../../protocol/errors.ts";
import type { WatchEvent } from "../../protocol/watches.ts";
import { seeded } from "./wire.ts";
import { inWorld, type World } from "./world.ts";

/** Every way to ask something. */
const calls: Record<string, (client: Client) => Promise<unknown>> = {
  create: (c) => c.create("/a"),
  create2: (c) => c.create2("/a"),
  delete: (c) => c.delete("/a"),
  exists: (c) => c.exists("/a"),
  getData: (c) => c.getData("/a"),
  setData: (c) => c.setData("/a", ""),
  getChildren: (c) => c.getChildren("/a"),
  getChildren2: (c) => c.getChildren2("/a"),
  getAcl: (c) => c.getAcl("/a"),
  setAcl: (c) => c.setAcl("/a", []),
  addWatch: (c) => c.addWatch("/a", () => {}),
  removeWatches: (c) => c.removeWatches("/a"),
  checkWatches: (c) => c.checkWatches("/a"),
  getEphemerals: (c) => c.getEphemerals(),
  getAllChildrenNumber: (c) => c.getAllChildrenNumber("/"),
  whoAmI: (c) => c.whoAmI(),
  getConfig: (c) => c.getConfig(),
  reconfig: (c) => c.reconfig({}),
  multi: (c) => c.multi([]),
  multiRead: (c) => c.multiRead([]),
  ensurePath: (c) => c.ensurePath("/a"),
  sync: (c) => c.sync("/"),
  addAuth: (c) => c.addAuth({ scheme: "digest", auth: "a:b" }),
  ping: (c) => c.ping(),
  serverVersion: (c) => c.serverVersion(),
};

describe("Client.close()", () => {
  it(
    "sends what was asked for before, then closeSession, in one write (kazoo#744)",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const { line } = ensemble.server;
      const before = line.writes.length;

      const asked = client.delete("/a");
      const closed = client.close();
      await time.until(Promise.all([asked, closed]));

      assertEquals([
        line.asked.map(({ op }) => op),
        line.writes.length - before,
      ], [["delete", "closeSession"], 1]);
    }),
  );

  it(
    "aborts session and client with a ClientClosedError before closeSession is written",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const order: string[] = [];
      client.session.signal.addEventListener(
        "abort",
        () => order.push("session"),
      );
      client.signal.addEventListener("abort", () => order.push("client"));
      ensemble.server.answer = (asked) => {
        order.push(asked.op);
        return ensemble.answer(asked);
      };

      await time.until(client.close());

      assertEquals([order.sort().length, order.at(0)], [3, "client"]);
      assertInstanceOf(client.signal.reason, ClientClosedError);
      assertEquals([client.session.state, client.session.signal.reason], [
        "closed",
        client.signal.reason,
      ]);
    }),
  );

  it(
    "answers the same promise however often it is called, and disposes the same",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();

      const first = client.close();
      const again = [client.close(), client[Symbol.asyncDispose]()];
      await time.until(Promise.all([first, ...again]));
      await time.until(client.close());

      assert(again.every((promise) => promise === first));
      assertEquals(ensemble.server.asked, ["closeSession"]);
    }),
  );

  it(
    "resolves with undefined",
    inWorld(1, async ({ time, connected }) => {
      const client = await connected();

      const result = await time.until(client.close());

      assertEquals(result, undefined);
    }),
  );

  it(
    "closes the connection without waiting for the server to do so",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.line.finish = () => {};

      await time.until(client.close());

      assertEquals(ensemble.open, 0);
    }),
  );

  it(
    "tells watchers session-lost, with the user's path",
    inWorld(1, async ({ time, connected }) => {
      const client = await connected({ chroot: "/app" });
      const events: WatchEvent[] = [];
      await time.until(client.exists("/a", { watch: (e) => events.push(e) }));

      await time.until(client.close());

      assertEquals(events, [{ type: "session-lost", path: "/a" }]);
    }),
  );

  it(
    "tells who listens that the session is closed, once",
    inWorld(1, async ({ time, connected }) => {
      const client = await connected();
      const states: string[] = [];
      client.on("state", ({ state }) => states.push(state));

      await time.until(client.close());

      assertEquals(states, ["closed"]);
    }),
  );

  for (const [name, call] of Object.entries(calls)) {
    it(
      `makes ${name}() reject with a ClientClosedError, at once and for ever (kazoo#582)`,
      inWorld(1, async ({ ensemble, time, connected }) => {
        const client = await connected();
        const closed = client.close();

        const during = await assertRejects(
          () => call(client),
          ClientClosedError,
        );
        await time.until(closed);
        const after = await assertRejects(
          () => call(client),
          ClientClosedError,
        );

        assertStrictEquals(during, after);
        assertEquals(ensemble.server.asked, ["closeSession"]);
      }),
    );
  }

  it(
    "called by a listener that is just being told of something does no harm",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const closed: Promise<void>[] = [];
      client.on("state", () => closed.push(client.close()));
      client.session.signal.addEventListener(
        "abort",
        () => closed.push(client.close()),
      );

      ensemble.server.line.cut();
      await time.pass(5000);

      assertEquals(new Set(closed).size, 1);
      await time.until(closed[0], 0);
    }),
  );
});

describe("Client.close(), bounded where nobody confirms", () => {
  /** How long close() takes in virtual ms. */
  async function duration({ time }: World, client: Client): Promise<number> {
    const start = time.monotonic();
    await time.until(client.close());
    return time.monotonic() - start;
  }

  it(
    "by T/3 while a silent server holds the connection",
    inWorld(1, async (world) => {
      const client = await world.connected({ sessionTimeout: 6000 });
      world.ensemble.server.answer = () => null;
      const pending = assertRejects(() => client.sync("/"), ClientClosedError);

      const took = await duration(world, client);

      assertEquals(took, 2000);
      await pending;
    }),
  );

  it(
    "by 5 s where T/3 is longer",
    inWorld(1, async (world) => {
      const client = await world.connected({ sessionTimeout: 60_000 });
      world.ensemble.server.answer = () => null;

      const took = await duration(world, client);

      assertEquals(took, 5000);
    }),
  );

  for (const reception of ["refuse", "hang"] as const) {
    it(
      `by T/3 while servers ${reception}, and rejects what was waiting`,
      inWorld(2, async (world) => {
        const client = await world.connected({ sessionTimeout: 6000 });
        for (const server of world.ensemble.servers) {
          server.reception = reception;
        }
        world.ensemble.lines[0].cut();
        await world.time.pass(10);
        const pending = assertRejects(
          () => client.create("/a"),
          ClientClosedError,
        );

        const took = await duration(world, client);

        assertEquals([took, (await pending).name], [2000, "ClientClosedError"]);
      }),
    );
  }

  it(
    "by the next connection, if there is one in time: then what was queued is sent first",
    inWorld(1, async (world) => {
      const client = await world.connected({ sessionTimeout: 6000 });
      world.ensemble.server.line.cut();
      const queued = client.delete("/a");

      const took = await duration(world, client);

      assertEquals(world.ensemble.server.line.asked.map(({ op }) => op), [
        "delete",
        "closeSession",
      ]);
      assertLess(took, 100);
      await queued;
    }),
  );

  it(
    "in the middle of a handshake",
    inWorld(1, async (world) => {
      const client = await world.connected({ sessionTimeout: 6000 });
      world.ensemble.server.line.cut();
      world.ensemble.server.greet = () => {};
      await world.time.pass(100);

      const took = await duration(world, client);

      assertEquals(took, 2000);
    }),
  );

  it(
    "at once when the next server says the session is gone",
    inWorld(1, async (world) => {
      const client = await world.connected({ sessionTimeout: 6000 });
      world.ensemble.sessions.clear();
      world.ensemble.server.line.cut();
      const queued = assertRejects(
        () => client.delete("/a"),
        SessionExpiredError,
      );

      const took = await duration(world, client);

      assertLess(took, 100);
      assertEquals((await queued).outcome, "not-sent");
    }),
  );

  it(
    "in any state: 300 clients closed at a random moment of a random life (node-zookeeper#93)",
    inWorld(2, async ({ ensemble, time, connected }) => {
      const random = seeded(70);
      const late: number[] = [];
      for (let round = 0; round < 300; round++) {
        const eager = round % 2 === 1;
        const client = await connected({ sessionTimeout: 6000, eager });
        for (let n = random() * 5; n > 1; n--) {
          const what = random();
          if (what < 0.3) ensemble.lines.findLast(({ open }) => open)?.cut();
          else if (what < 0.4) ensemble.expire(client.session.id);
          else if (what < 0.5) {
            for (const server of ensemble.servers) {
              server.reception = "refuse";
            }
          } else client.create("/a").catch(() => {});
          await time.pass(random() ** 4 * 3000);
        }
        const start = time.monotonic();
        await time.until(client.close());
        if (time.monotonic() - start > 2000) late.push(round);
        for (const server of ensemble.servers) server.reception = "accept";
      }

      assertEquals(late, []);
    }),
  );
});
