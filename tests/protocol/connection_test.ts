// A connection that stands: how it writes, how it is replaced, and what lock/ may ask of it.
// Servers in memory, virtual time: see virtual.ts.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertLess,
  assertStringIncludes,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Client } from "../../protocol/api.ts";
import { internalsOf } from "../../protocol/internals.ts";
import { inWorld } from "./world.ts";
import { event, packetsIn, readRequest } from "./wire.ts";

describe("A lost connection", () => {
  it(
    "is replaced by one to the next server, with the same session (go-zookeeper#133)",
    inWorld(3, async ({ connected, ensemble, time }) => {
      const client = await connected();
      const { id } = client.session;
      const [first] = ensemble.lines.filter(({ open }) => open);

      first.cut();
      await time.pass(50);

      const [second] = ensemble.lines.filter(({ open }) => open);
      assert(second.server !== first.server);
      assertEquals([
        client.session.id,
        client.session.state,
        second.hello!.sessionId,
      ], [id, "connected", id]);
    }),
  );

  it(
    "tells who listens of both states, with the reason",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected();
      const news: string[] = [];
      client.on(
        "state",
        ({ state, cause }) =>
          news.push(cause ? `${state}: ${cause.message}` : state),
      );

      ensemble.server.line.cut();
      await time.pass(100);

      assertEquals(news, [
        "disconnected: Lost the connection: zk0:2181 closed the connection",
        "connected",
      ]);
    }),
  );

  it(
    "to a server that went silent is noticed after 2T/3",
    inWorld(2, async ({ connected, ensemble, time }) => {
      const client = await connected();
      await time.pass(1000);
      const line = ensemble.lines.find(({ open }) => open)!;
      line.server.answer = () => null;
      const start = time.monotonic();

      await time.pass(6100);

      assert(!line.open);
      assertEquals(client.session.state, "connected");
      assertLess(ensemble.dials[1].at - start, 6001);
    }),
  );

  it(
    "that was healthy for a second is replaced without a pause, whatever was before",
    inWorld(1, async ({ ensemble, time, connected }) => {
      ensemble.server.reception = "refuse";
      time.later(5000, () => void (ensemble.server.reception = "accept"));
      await connected();
      await time.pass(1500);
      const start = time.monotonic();

      ensemble.server.line.cut();

      assertEquals(ensemble.dials.at(-1), { name: "zk0", at: start });
    }),
  );

  it(
    "with no server to be reached expires the session after 4T/3, and a new one begins when there is (ZOOKEEPER-4508)",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected();
      const old = client.session;
      ensemble.server.reception = "refuse";
      ensemble.server.line.cut();

      await time.pass(12_100);
      const expired = [old.state, client.session === old];
      ensemble.server.reception = "accept";
      await time.pass(2000);

      assertEquals(expired, ["expired", false]);
      assertEquals(client.session.state, "connected");
    }),
  );

  it(
    "with servers that only hang expires the session after 4T/3",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected();
      const old = client.session;
      ensemble.server.reception = "hang";
      ensemble.server.line.cut();

      await time.pass(12_100);

      assertEquals(old.state, "expired");
      ensemble.server.reception = "accept";
    }),
  );

  it(
    "expires the session by the wall clock too: the machine slept for longer than 4T/3",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const old = client.session;
      ensemble.server.reception = "refuse";
      ensemble.server.line.cut();
      await time.pass(1000);

      time.jump(60_000);
      await time.pass(1500);
      ensemble.server.reception = "accept";

      assertEquals(old.state, "expired");
    }),
  );

  it(
    "to servers that lost their data, and refuse whoever has seen more, ends in a new session (kazoo#42)",
    inWorld(2, async ({ ensemble, time, connected }) => {
      const client = await connected();
      await time.until(client.create("/a"));
      const old = client.session;
      for (const server of ensemble.servers) {
        server.greet = (line, hello) =>
          hello.lastZxidSeen > 5n ? line.cut() : ensemble.greet(line, hello);
      }

      ensemble.lines.find(({ open }) => open)!.cut();
      await time.pass(14_000);

      assertEquals([old.state, client.session.state], ["expired", "connected"]);
    }),
  );

  it(
    "in the handshake of a re-attachment keeps the session",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected();
      const { id } = client.session;
      ensemble.server.greet = (line) => line.cut();
      ensemble.server.line.cut();
      await time.pass(500);

      ensemble.server.greet = (line, hello) => ensemble.greet(line, hello);
      await time.pass(1000);

      assertEquals([client.session.id, client.session.state], [
        id,
        "connected",
      ]);
    }),
  );
});

describe("Writes", () => {
  it(
    "of one turn of the event loop are one write, in the order of the calls",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected();
      const { line } = ensemble.server;
      const before = line.writes.length;

      const calls = [
        client.create("/a", "x"),
        client.getChildren("/"),
        client.sync("/"),
        client.delete("/b"),
      ];
      await time.until(Promise.all(calls));

      const writes = line.writes.slice(before);
      assertEquals(writes.length, 1);
      assertEquals(
        packetsIn(writes[0]).map((packet) => readRequest(packet).op),
        [
          "create",
          "getChildren",
          "sync",
          "delete",
        ],
      );
    }),
  );

  it(
    "of two turns are two",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected();
      const { line } = ensemble.server;
      const before = line.writes.length;

      const first = client.sync("/");
      await null;
      await null;
      const second = client.sync("/");
      await time.until(Promise.all([first, second]));

      assertEquals(line.writes.length - before, 2);
    }),
  );

  it(
    "are not changed afterwards: a socket may keep them",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected();
      const { line } = ensemble.server;

      await time.until(client.create("/a", "one"));
      const kept = line.writes.at(-1)!.slice();
      await time.until(client.create("/b", "two"));

      assertEquals(line.writes.at(-2), kept);
    }),
  );

  it(
    "begin with nothing but the connect request: the rest waits for the welcome",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected();
      ensemble.server.line.cut();
      const call = client.sync("/");
      await time.until(call);

      const [hello, rest] = ensemble.server.line.writes;

      assertEquals([
        packetsIn(hello).length,
        packetsIn(rest).map((p) => readRequest(p).op),
      ], [1, ["sync"]]);
    }),
  );
});

describe("Internals", () => {
  it(
    "attachedAt() and sentBefore() tell when frames left on this connection",
    inWorld(1, async ({ connected, time }) => {
      const client = await connected();
      const internals = internalsOf(client);
      const hello = internals.attachedAt()!.mono;
      await time.pass(1000);
      const asked = time.monotonic();
      await time.until(client.sync("/"));

      const found = [
        internals.sentBefore(asked),
        internals.sentBefore(asked + 0.5),
      ].map((m) => m?.mono);

      assertEquals(found, [hello, asked]);
    }),
  );

  it(
    "onAttached() runs at each attachment until it is stopped, before what was queued",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected();
      let times = 0;
      const off = internalsOf(client).onAttached(() => {
        times++;
        client.exists("/first").catch(() => {});
      });
      ensemble.server.line.cut();
      await time.until(client.sync("/"));
      off();
      ensemble.server.line.cut();
      await time.until(client.sync("/"));

      assertEquals([
        times,
        ensemble.server.lines.map(({ asked }) => asked.map(({ op }) => op)),
      ], [1, [[], ["exists", "sync"], ["sync"]]]);
    }),
  );

  it(
    "delete() with the mark answerWithin does not put off the next ping",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      await time.pass(500);

      const marks = { answerWithin: 8000 };
      await time.until(internalsOf(client).delete("/lock", marks));
      await time.pass(3010);

      assertEquals(ensemble.server.asked, ["delete", "ping"]);
    }),
  );

  it(
    "forget() takes one watch back: its watcher is not told of that",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({ chroot: "/app" });
      const told: string[] = [];
      const mine = () => void told.push("mine");
      const other = () => void told.push("other");
      await time.until(Promise.all([
        client.exists("/a", { watch: mine }),
        client.getData("/a", { watch: other }),
        client.getChildren("/a", { watch: mine }),
      ]));

      internalsOf(client).forget("data", "/a", mine);
      internalsOf(client).forget("child", "/a", other);
      ensemble.server.line.send(event(2, "/app/a"));
      await time.pass(10);

      assertEquals(told, ["other", "mine"]);
    }),
  );

  it(
    "delete() with the mark resend goes out again before everything else, and resolves",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      let times = 0;
      ensemble.server.answer = () => null;
      const deleted = internalsOf(client).delete("/lock", {
        resend: () => void times++,
      });
      const read = client.sync("/");
      await time.pass(5);
      ensemble.server.line.cut();
      ensemble.server.answer = (asked) => ensemble.answer(asked);

      await time.until(Promise.all([deleted, read]));

      const { asked } = ensemble.server.line;
      assertEquals([asked.map(({ op }) => op), times], [["delete", "sync"], 1]);
    }),
  );

  it("internalsOf() of something that is no client of ours is a TypeError", () => {
    const stranger = {} as Client;

    let error: unknown;
    try {
      internalsOf(stranger);
    } catch (e) {
      error = e;
    }

    assertInstanceOf(error, TypeError);
    assertStringIncludes(error.message, "connect() did not make it");
  });
});
