// SessionMachine and watches: registered in the step of the reply, fired once, told when the session is lost.
// What is restored after a reconnect is in session_restore_test.ts.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import * as ops from "../../protocol/operations.ts";
import { Bench } from "./bench.ts";
import { listed, onExists, watch, watching } from "./watching.ts";
import { answer, event, joined, statOf } from "./wire.ts";

describe("SessionMachine, watches", () => {
  it("tell their watcher once, and not again (one-shot)", () => {
    const bench = watching({ present: ["/a"] });

    bench.receive(event(3, "/a"), event(3, "/a"));

    assertEquals(bench.told.map(({ event }) => event), [{
      type: "data-changed",
      path: "/a",
    }]);
  });

  it("hear an event that lies right behind the reply, in the same chunk (CURATOR-527)", () => {
    const bench = new Bench();
    bench.connect();
    bench.ask(ops.exists, { path: "/a", watch: true }, {
      watch: onExists("/a"),
    });
    const [sent] = bench.turn();

    bench.receive(joined(
      answer(sent.xid, 5n, ops.exists.reply, { stat: statOf() }),
      event(2, "/a"),
    ));

    assertEquals(bench.log.at(-1), "deleted /a");
  });

  it("hear of the creation of a znode that was missing", () => {
    const bench = watching({ missing: ["/a"] });

    bench.receive(event(1, "/a"));

    assertEquals(bench.told.map(({ event }) => event), [{
      type: "created",
      path: "/a",
    }]);
  });

  it("are told the zxid of the change where the server has one (3.9)", () => {
    const bench = watching({ present: ["/a"] });

    bench.receive(event(2, "/a", 828n));

    assertEquals(bench.told[0].event, {
      type: "deleted",
      path: "/a",
      zxid: 828n,
    });
  });

  it("are not left by a refusal that leaves none on the server", () => {
    const bench = new Bench();
    bench.connect();
    bench.ask(ops.getData, { path: "/a", watch: true }, {
      watch: watch("/a", [0, "data"]),
    });
    bench.ask(ops.exists, { path: "/b", watch: true }, {
      watch: onExists("/b"),
    });
    const [data, exists] = bench.turn();

    bench.refuse(data, -101);
    bench.refuse(exists, -102);

    assertEquals(listed(bench.session.watches), {});
  });

  it("ignore events of a type nobody knows, and for paths nobody watches (rust-zookeeper#83)", () => {
    const bench = watching({ present: ["/a"] });

    bench.receive(
      event(99, "/a"),
      event(-1, "/a"),
      event(3, "/b"),
      event(4, "/a"),
    );

    assertEquals([bench.told, bench.disconnects, bench.session.state], [
      [],
      [],
      "connected",
    ]);
  });

  it("of addWatch hear every event until they are dropped, and then of that", () => {
    const bench = watching({ persistent: ["/a"] });
    bench.receive(event(3, "/a"), event(4, "/a"));

    bench.session.dropWatches(["persistent"], "/a");
    bench.receive(event(3, "/a"));

    assertEquals(bench.told.map(({ event }) => event.type), [
      "data-changed",
      "children-changed",
      "watch-removed",
    ]);
  });

  it("hear that the session is lost, each once a call, when it ends", () => {
    const bench = watching({
      present: ["/a", "/a"],
      missing: ["/b"],
      children: ["/c"],
      persistent: ["/d"],
    });
    bench.drop();
    bench.open();

    bench.grant({ timeOut: 0 });
    bench.receive(event(3, "/a"));

    assertEquals(
      bench.told.map(({ event }) => `${event.type} ${event.path}`).sort(),
      [
        "session-lost /a",
        "session-lost /a",
        "session-lost /b",
        "session-lost /c",
        "session-lost /d",
      ],
    );
    assertEquals(listed(bench.session.watches), {});
  });

  it("keep nothing of 5,000 calls whose events came (CURATOR-14)", () => {
    const bench = new Bench();
    bench.connect();

    for (let i = 0; i < 5000; i++) {
      bench.ask(ops.exists, { path: "/a", watch: true }, {
        watch: onExists("/a"),
      });
      const [sent] = bench.turn();
      bench.reply(sent, { stat: statOf() });
      bench.receive(event(3, "/a"));
    }

    assertEquals([listed(bench.session.watches), bench.told.length], [
      {},
      5000,
    ]);
  });
});
