// The client over several sessions, and what its listeners hear.
// A server in memory, virtual time: see virtual.ts.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { StateChange, Warning } from "../../protocol/news.ts";
import { SessionExpiredError } from "../../protocol/errors.ts";
import type { WatchEvent } from "../../protocol/watches.ts";
import { event } from "./wire.ts";
import { inWorld } from "./world.ts";

describe("Client, when its session expires", () => {
  it(
    "goes on with a new session: another object, another id, connected (node-zkplus#15)",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const old = client.session;

      ensemble.expire(old.id);
      await time.pass(500);

      const { session } = client;
      assert(session !== old && session.id !== old.id);
      assertEquals([old.state, session.state, client.signal.aborted], [
        "expired",
        "connected",
        false,
      ]);
      assertInstanceOf(old.signal.reason, SessionExpiredError);
    }),
  );

  it(
    "has the new session in place when the signal of the old one aborts",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const old = client.session;
      const seen: boolean[] = [];
      old.signal.addEventListener(
        "abort",
        () => seen.push(client.session !== old),
      );

      ensemble.expire(old.id);
      await time.pass(500);

      assertEquals(seen, [true]);
    }),
  );

  it(
    "rejects what was asked in the old one and makes nothing of it in the new",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.answer = () => null;
      const sent = assertRejects(
        () => client.getData("/a"),
        SessionExpiredError,
      );
      await time.pass(5);
      ensemble.server.answer = (asked) => ensemble.answer(asked);

      ensemble.expire(client.session.id);
      const queued = assertRejects(
        () => client.create("/b"),
        SessionExpiredError,
      );
      await time.pass(500);

      assertEquals([(await sent).outcome, (await queued).outcome], [
        "unknown",
        "not-sent",
      ]);
      assertEquals(ensemble.server.asked, ["getData"]);
    }),
  );

  it(
    "asks what is asked in the listener of the signal in the new one",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const old = client.session;
      let made: Promise<unknown> | undefined;
      old.signal.addEventListener(
        "abort",
        () => (made = client.create("/again")),
      );

      ensemble.expire(old.id);
      await time.pass(500);

      assertEquals((await made as { path: string }).path, "/again");
    }),
  );

  it(
    "tells watchers session-lost and sends none of their watches to the new one",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const events: WatchEvent[] = [];
      await time.until(
        client.getChildren("/a", { watch: (e) => events.push(e) }),
      );

      ensemble.expire(client.session.id);
      await time.pass(500);

      assertEquals(events, [{ type: "session-lost", path: "/a" }]);
      assertEquals(
        ensemble.server.asked.filter((op) => op.startsWith("setWatches")),
        [],
      );
    }),
  );

  it(
    "tells who listens: disconnected, expired, and connected of the new one",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const old = client.session;
      const changes: StateChange[] = [];
      client.on("state", (change) => changes.push(change));

      ensemble.expire(old.id);
      await time.pass(500);

      assertEquals(changes.map(({ state }) => state), [
        "disconnected",
        "expired",
        "connected",
      ]);
      assertEquals(changes.map(({ session }) => session === old), [
        true,
        true,
        false,
      ]);
      assertInstanceOf(changes[1].cause, SessionExpiredError);
    }),
  );

  it(
    "shows its credentials again, also those that came later",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({
        auth: [{ scheme: "digest", auth: "a:b" }],
      });
      await time.until(client.addAuth({ scheme: "ip", auth: "" }));

      ensemble.expire(client.session.id);
      await time.pass(500);

      assertEquals(ensemble.server.line.asked.map(({ body }) => body.scheme), [
        "digest",
        "ip",
      ]);
    }),
  );

  it(
    "is told by another session id in the answer too (ClickHouse#116690)",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const old = client.session;
      ensemble.server.greet = (line, hello) =>
        ensemble.greet(line, { ...hello, sessionId: 0n });

      ensemble.server.line.cut();
      await time.pass(500);
      ensemble.server.greet = (line, hello) => ensemble.greet(line, hello);

      assertEquals([old.state, client.session.state], ["expired", "connected"]);
    }),
  );

  it(
    "does so 50 times over",
    inWorld(2, async ({ ensemble, time, connected }) => {
      const client = await connected();

      for (let i = 0; i < 50; i++) {
        ensemble.expire(client.session.id);
        await time.pass(2000);
      }

      assertEquals([client.session.state, ensemble.open], ["connected", 1]);
    }),
  );
});

describe("Client, functions of users that throw", () => {
  it(
    "a watcher becomes a warning with its path, and the other watchers are told",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({ chroot: "/app" });
      const warnings: Warning[] = [], events: WatchEvent[] = [];
      const cause = new Error("mine");
      client.on("warning", (warning) => warnings.push(warning));
      await time.until(Promise.all([
        client.exists("/a", {
          watch: () => {
            throw cause;
          },
        }),
        client.exists("/a", { watch: (e) => events.push(e) }),
      ]));

      ensemble.server.line.send(event(2, "/app/a"));
      await time.pass(10);

      assertEquals(warnings, [{
        kind: "watcher-threw",
        message: "A watcher threw: Error: mine",
        path: "/a",
        cause,
      }]);
      assertEquals([events.length, client.session.state], [1, "connected"]);
    }),
  );

  it(
    "a listener of states becomes a warning, and the other listeners are told",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const warnings: string[] = [], states: string[] = [];
      client.on("warning", ({ kind }) => warnings.push(kind));
      client.on("state", () => {
        throw new Error("mine");
      });
      client.on("state", ({ state }) => states.push(state));

      ensemble.server.line.cut();
      await time.pass(500);

      assertEquals([warnings, states], [["listener-threw", "listener-threw"], [
        "disconnected",
        "connected",
      ]]);
    }),
  );

  it(
    "a listener of warnings is not warned of",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      let calls = 0;
      client.on("warning", () => {
        calls++;
        throw new Error("mine");
      });
      client.on("state", () => {
        throw new Error("mine");
      });

      ensemble.server.line.cut();
      await time.pass(500);

      assertEquals(calls, 2);
    }),
  );

  it(
    "onPacket becomes a warning, and the packet goes its way",
    inWorld(1, async ({ time, connected }) => {
      const client = await connected({
        onPacket: () => {
          throw new Error("mine");
        },
      });
      const warnings: string[] = [];
      client.on("warning", ({ kind }) => warnings.push(kind));

      await time.until(client.sync("/"));

      assertEquals(warnings, ["listener-threw", "listener-threw"]);
    }),
  );
});

describe("Client.on()", () => {
  it(
    "calls a function given twice twice, and stops each by itself",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      let calls = 0;
      const listener = () => void calls++;
      const off = client.on("state", listener);
      client.on("state", listener);

      ensemble.server.line.cut();
      const both = calls;
      off();
      off();
      await time.pass(500);

      assertEquals([both, calls], [2, 3]);
    }),
  );

  it(
    "throws a TypeError for what it cannot listen to or call",
    inWorld(1, async ({ connected }) => {
      const client = await connected();

      assertThrows(
        () => client.on("event" as "state", () => {}),
        TypeError,
        "Cannot listen",
      );
      assertThrows(
        () => client.on("state", undefined as never),
        TypeError,
        "Cannot listen",
      );
    }),
  );
});
