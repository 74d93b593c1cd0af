// SessionMachine, attached again: watches restored, and the order in which everything goes out.
// Order and lists are those of the reference, 5.9 and 6.1.

import { assert, assertEquals, assertLess } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import * as ops from "../../protocol/operations.ts";
import { Bench, credentialOf, names, type Sent } from "./bench.ts";
import { watching } from "./watching.ts";
import { event, header } from "./wire.ts";

function setWatchesIn(sent: Sent[]): Sent[] {
  return sent.filter(({ op }) => op.startsWith("setWatches"));
}

describe("SessionMachine, restoring watches", () => {
  it("lists one on a present znode as data, on a missing one as exist, on children as child (F9)", () => {
    const bench = watching({
      present: ["/here"],
      missing: ["/gone"],
      children: ["/dir"],
    });
    bench.drop();

    const sent = bench.connect();

    assertEquals(sent.map(({ op, xid, body }) => ({ op, xid, body })), [{
      op: "setWatches",
      xid: -8,
      body: {
        relativeZxid: 40n,
        dataWatches: ["/here"],
        existWatches: ["/gone"],
        childWatches: ["/dir"],
      },
    }]);
  });

  it("sends nothing where nothing is watched, and nothing in a new session", () => {
    const bench = watching({});
    bench.drop();

    const sent = bench.connect();

    assertEquals(sent, []);
  });

  it("does not list a watch that fired", () => {
    const bench = watching({ present: ["/a", "/b"] });
    bench.receive(event(3, "/a"));
    bench.drop();

    const [{ body }] = bench.connect();

    assertEquals(body.dataWatches, ["/b"]);
  });

  it("lists persistent watches by setWatches2, which needs 3.6, and only then", () => {
    const bench = watching({
      present: ["/a"],
      persistent: ["/p"],
      recursive: ["/r"],
    });
    bench.drop();

    const [{ op, body }] = bench.connect();

    assertEquals([op, body], ["setWatches2", {
      relativeZxid: 40n,
      dataWatches: ["/a"],
      existWatches: [],
      childWatches: [],
      persistentWatches: ["/p"],
      persistentRecursiveWatches: ["/r"],
    }]);
  });

  it("takes the zxid before a reply of the new connection can raise it", () => {
    const bench = watching({ present: ["/a"] });
    bench.drop();
    bench.attached = () => bench.receive(header(-2, 99n));

    const sent = bench.connect();

    assertEquals(setWatchesIn(sent)[0].body.relativeZxid, 40n);
  });

  it("splits at 128 KiB of path characters, far below what a server takes (ZOOKEEPER-706, go-zookeeper#167)", () => {
    const paths = Array.from(
      { length: 2000 },
      (_, i) => `/locks/${"ü".repeat(200)}/${i}`,
    );
    const bench = watching({ present: paths });
    bench.drop();

    const sent = setWatchesIn(bench.connect());

    const lists = sent.map(({ body }) => body.dataWatches as string[]);
    assertEquals(lists.flat().sort(), paths.sort());
    assertEquals(lists.length, Math.ceil(paths.join("").length / (128 * 1024)));
    for (const list of lists) assertLess(list.join("").length, 128 * 1024 + 1);
  });

  it("sends one request for each kind of server where persistent and one-shot watches need several lists", () => {
    const long = (kind: string, i: number) => `/${kind}${"x".repeat(1000)}${i}`;
    const bench = watching({
      present: Array.from({ length: 200 }, (_, i) => long("one", i)),
      persistent: Array.from({ length: 100 }, (_, i) => long("p", i)),
    });
    bench.drop();

    const sent = setWatchesIn(bench.connect());

    for (const { op, body } of sent) {
      const persistent =
        (body.persistentWatches as string[] | undefined)?.length ?? 0;
      assertEquals(op, persistent > 0 ? "setWatches2" : "setWatches");
    }
    assert(sent.length >= 3);
  });

  it("hears of what happened meanwhile before the reply, and loses nothing by it", () => {
    const bench = watching({ present: ["/a"], missing: ["/b"] });
    bench.drop();
    bench.connect();

    bench.receive(event(2, "/a"), event(1, "/b"), header(-8, 50n));

    assertEquals(bench.told.map(({ event }) => event), [{
      type: "deleted",
      path: "/a",
    }, { type: "created", path: "/b" }]);
    assertEquals(bench.session.state, "connected");
  });

  it("lists them again on every further connection", () => {
    const bench = watching({ present: ["/a"] });
    bench.drop();
    bench.connect();
    bench.drop();
    bench.open();
    bench.drop();

    const sent = bench.connect();

    assertEquals(setWatchesIn(sent)[0].body.dataWatches, ["/a"]);
  });

  it("hangs up when the server refuses: without its watches a waiter would sleep for ever (kazoo#151)", () => {
    const bench = watching({ present: ["/a"] });
    bench.drop();
    bench.connect();

    bench.receive(header(-8, 50n, -5));

    assertEquals(bench.disconnects.map(({ message }) => message), [
      "Cannot restore watches: error -5",
    ]);
  });

  it("does not blame a request of ours when the server refuses: a read is sent again", () => {
    const bench = watching({ present: ["/a"] });
    bench.drop();
    const asked = bench.ask(ops.sync, { path: "/" });
    bench.connect();

    bench.receive(header(-8, 50n, -5));

    assertEquals(asked.state, "open");
  });
});

describe("SessionMachine, the order after a re-attachment", () => {
  it("is: credentials, watches, marked resends, reads again, what attached() asks for, what was queued; in one write (ZOOKEEPER-204)", () => {
    const bench = watching({ present: ["/watched"] });
    bench.settings.credentials.push(
      credentialOf("digest", true),
      credentialOf("ip", true),
    );
    const resent: string[] = [];
    const marked = (path: string) =>
      bench.ask(ops.remove, { path, version: -1 }, {
        resend: () => void resent.push(path),
      });
    bench.ask(ops.getData, { path: "/read", watch: false });
    marked("/release");
    bench.turn();
    bench.drop();
    bench.ask(ops.sync, { path: "/queued" });
    bench.attached = () =>
      void bench.ask(ops.exists, { path: "/heartbeat", watch: false });
    const before = bench.writes;

    const hello = bench.open();
    const sent = bench.grant();

    assertEquals(hello.lastZxidSeen, 40n);
    assertEquals(names(sent), [
      "auth",
      "auth",
      "setWatches",
      "delete /release",
      "getData /read",
      "exists /heartbeat",
      "sync /queued",
    ]);
    assertEquals(sent.slice(0, 2).map(({ body }) => body.scheme), [
      "digest",
      "ip",
    ]);
    assertEquals([resent, bench.writes - before], [["/release"], 2]);
  });

  it("keeps what was never sent in the order in which it was asked, marked or not", () => {
    const bench = watching({});
    bench.drop();
    bench.ask(ops.setData, { path: "/before", data: null, version: -1 });
    bench.ask(ops.remove, { path: "/release", version: -1 }, {
      resend: () => {},
    });
    bench.attached = () =>
      void bench.ask(ops.exists, { path: "/heartbeat", watch: false });

    const sent = bench.connect();

    // A release before the write would give the lock away first.
    assertEquals(names(sent), [
      "exists /heartbeat",
      "setData /before",
      "delete /release",
    ]);
  });

  it("calls a mark each time it is sent again, not the first time", () => {
    const bench = watching({});
    let times = 0;
    const asked = bench.ask(ops.remove, { path: "/a", version: -1 }, {
      resend: () => void times++,
    });
    bench.turn();
    const counts = [times];

    for (let i = 0; i < 3; i++) {
      bench.drop();
      bench.connect();
      counts.push(times);
    }

    assertEquals([counts, asked.state], [[0, 1, 2, 3], "open"]);
  });

  it("is connected when attached() is called, and tells of it afterwards", () => {
    const bench = new Bench();
    const states: string[] = [];
    bench.attached = () => void states.push(bench.session.state);

    bench.connect();
    bench.drop();
    bench.connect();

    assertEquals([states, bench.log], [["connected", "connected"], [
      "attached",
      "connected",
      "disconnected",
      "attached",
      "connected",
    ]]);
  });
});
