// SessionMachine and its requests: sent in order, matched in order, given up.
// What becomes of them when the connection is lost is in session_test.ts.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertThrows,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ServerError } from "../../protocol/errors.ts";
import { long, record } from "../../protocol/jute.ts";
import * as ops from "../../protocol/operations.ts";
import { Stat } from "../../protocol/records.ts";
import { Bench, names } from "./bench.ts";
import { listed } from "./watching.ts";
import { answer, header, joined, statOf } from "./wire.ts";

const acl = [{ perms: 31, scheme: "world", id: "anyone" }];

function create(
  path: string,
): { path: string; data: null; acl: typeof acl; flags: number } {
  return { path, data: null, acl, flags: 1 };
}

describe("SessionMachine.request()", () => {
  it("numbers requests from 1 and sends those of one turn in one write, in order", () => {
    const bench = new Bench();
    bench.connect();
    const before = bench.writes;

    bench.ask(ops.create, create("/a"));
    bench.ask(ops.getData, { path: "/b", watch: false });
    bench.ask(ops.remove, { path: "/c", version: -1 });
    const sent = bench.turn();

    assertEquals(sent.map(({ xid }) => xid), [1, 2, 3]);
    assertEquals([names(sent), bench.writes - before], [[
      "create /a",
      "getData /b",
      "delete /c",
    ], 1]);
  });

  it("resolves with the reply and its zxid, first in first out", () => {
    const bench = new Bench();
    bench.connect();
    const made = bench.ask(ops.create, create("/a"));
    const gone = bench.ask(ops.remove, { path: "/b", version: 0 });
    const [first, second] = bench.turn();

    bench.reply(first, { path: "/a" }, 8n);
    bench.reply(second, null, 9n);

    assertEquals([made.replies, made.zxids], [[{ path: "/a" }], [8n]]);
    assertEquals([gone.replies, gone.zxids], [[null], [9n]]);
  });

  it("rejects a write that a read-only server refuses before it answers an earlier read (measured)", () => {
    const bench = new Bench();
    bench.connect({ readOnly: true });
    const found = bench.ask(ops.exists, { path: "/a", watch: false });
    const made = bench.ask(ops.create, create("/b"));
    const [read, write] = bench.turn();

    bench.receive(header(write.xid, 1n, -119));
    bench.reply(read, { stat: statOf() }, 1n);

    assertEquals((made.errors[0] as ServerError).code, "NotReadOnly");
    assertEquals([found.replies.length, bench.disconnects], [1, []]);
  });

  it("resolves 1,000 requests whose replies come as one segment, each once", () => {
    const bench = new Bench();
    bench.connect();
    const asked = Array.from(
      { length: 1000 },
      (_, i) => bench.ask(ops.create, create(`/n${i}`)),
    );
    const sent = bench.turn();

    bench.receive(
      joined(
        ...sent.map(({ xid, body }) =>
          answer(xid, 5n, ops.create.reply, { path: body.path! })
        ),
      ),
    );

    assertEquals(
      asked.map(({ replies }) => replies[0]?.path),
      asked.map((_, i) => `/n${i}`),
    );
    assert(asked.every(({ settled }) => settled === 1));
  });

  it("rejects with the number, operation, path and zxid of an error", () => {
    const bench = new Bench();
    bench.connect();
    const asked = bench.ask(ops.remove, { path: "/a", version: 3 });
    const [sent] = bench.turn();

    bench.refuse(sent, -103, 12n);

    const [error] = asked.errors;
    assertInstanceOf(error, ServerError);
    assertEquals([error.code, error.number, error.op, error.path, error.zxid], [
      "BadVersion",
      -103,
      "delete",
      "/a",
      12n,
    ]);
  });

  it("keeps the number of an error nobody knows, and stays connected", () => {
    const bench = new Bench();
    bench.connect();
    const asked = bench.ask(ops.sync, { path: "/" });
    const [sent] = bench.turn();

    bench.refuse(sent, -9999);

    const error = asked.errors[0] as ServerError;
    assertEquals([error.code, error.number, bench.session.state], [
      "Unknown",
      -9999,
      "connected",
    ]);
  });

  it("tolerates bytes behind the reply, which newer servers may send", () => {
    const bench = new Bench();
    bench.connect();
    const asked = bench.ask(ops.setData, {
      path: "/a",
      data: null,
      version: -1,
    });
    const [sent] = bench.turn();

    const newer = record("Newer", { stat: Stat, since: long });
    bench.receive(answer(sent.xid, 3n, newer, { stat: statOf(), since: 9n }));

    assertEquals([asked.state, bench.disconnects], ["resolved", []]);
  });

  it("waits while there is no connection and is sent after the welcome, in order", () => {
    const bench = new Bench();
    bench.ask(ops.create, create("/a"));
    bench.open();
    bench.ask(ops.create, create("/b"));

    const sent = bench.grant();

    assertEquals([names(sent), sent.map(({ xid }) => xid)], [[
      "create /a",
      "create /b",
    ], [1, 2]]);
  });

  it("is encoded when it is made: what the caller does to its data meanwhile does not matter", () => {
    const bench = new Bench();
    const data = Uint8Array.of(1, 2, 3);
    bench.ask(ops.setData, { path: "/a", data, version: -1 });

    data.fill(9);
    const [sent] = bench.connect();

    assertEquals(sent.body.data, Uint8Array.of(1, 2, 3));
  });

  it("throws a RangeError above 1,048,575 bytes, connected or not, and sends the others", () => {
    const bench = new Bench();
    const tooLarge = (size: number) => ({
      path: "/a",
      data: new Uint8Array(size),
      version: -1,
    });
    // Header 8, path 4 + 2, length of the data 4, version 4.
    const largest = 1_048_575 - 22;

    assertThrows(
      () => bench.ask(ops.setData, tooLarge(largest + 1)),
      RangeError,
      "1048576 bytes",
    );
    bench.ask(ops.setData, tooLarge(largest));
    const queued = bench.connect();
    assertThrows(
      () => bench.ask(ops.setData, tooLarge(largest + 1)),
      RangeError,
      "1048576 bytes",
    );
    bench.ask(ops.setData, tooLarge(largest));
    const direct = bench.turn();

    assertEquals([names(queued), names(direct)], [["setData /a"], [
      "setData /a",
    ]]);
  });

  it("wraps its number from 2^31-1 to 1, never to one that is reserved (kazoo 28aa93b, ZOOKEEPER-3253)", () => {
    const bench = new Bench({ xid: 2 ** 31 - 3 });
    bench.connect();
    const asked = [1, 2, 3, 4].map(() => bench.ask(ops.sync, { path: "/" }));

    const sent = bench.turn();
    for (const one of sent) bench.reply(one, { path: "/" });

    assertEquals(sent.map(({ xid }) => xid), [2 ** 31 - 2, 2 ** 31 - 1, 1, 2]);
    assertEquals(asked.map(({ state }) => state), Array(4).fill("resolved"));
  });

  it("matches pings on a lane of their own, whatever else is waiting", () => {
    const bench = new Bench();
    bench.connect();
    const slow = bench.ask(ops.sync, { path: "/" });
    const first = bench.ask(ops.ping, null);
    const second = bench.ask(ops.ping, null);
    const sent = bench.turn();

    bench.receive(header(-2, 4n), header(-2, 5n));

    assertEquals(sent.map(({ xid }) => xid), [1, -2, -2]);
    assertEquals([slow.state, first.zxids, second.zxids], ["open", [4n], [5n]]);
  });

  it("ignores a pong nobody asked for", () => {
    const bench = new Bench();
    bench.connect();

    bench.receive(header(-2, 4n));

    assertEquals([bench.session.state, bench.disconnects], ["connected", []]);
  });
});

describe("SessionMachine.cancel()", () => {
  it("keeps a request that waits from being sent", () => {
    const bench = new Bench();
    const [dropped, kept] = [
      bench.ask(ops.create, create("/a")),
      bench.ask(ops.create, create("/b")),
    ];

    bench.session.cancel(dropped.pending);
    const sent = bench.connect();

    assertEquals([names(sent), dropped.state, kept.state], [
      ["create /b"],
      "open",
      "open",
    ]);
  });

  it("of a request in flight drops its reply and keeps the order of the others", () => {
    const bench = new Bench();
    bench.connect();
    const [dropped, kept] = [
      bench.ask(ops.create, create("/a")),
      bench.ask(ops.create, create("/b")),
    ];
    const [first, second] = bench.turn();

    bench.session.cancel(dropped.pending);
    bench.reply(first, { path: "/a" });
    bench.reply(second, { path: "/b" });

    assertEquals([dropped.state, kept.state, bench.disconnects], [
      "open",
      "resolved",
      [],
    ]);
  });

  it("of a write or a ping in flight settles it neither by the reply nor by the loss of the connection", () => {
    const bench = new Bench();
    bench.connect();
    const write = bench.ask(ops.create, create("/a"));
    const ping = bench.ask(ops.ping, null);
    bench.turn();

    bench.session.cancel(write.pending);
    bench.session.cancel(ping.pending);
    bench.receive(header(-2, 1n));
    bench.drop();

    assertEquals([write.state, ping.state], ["open", "open"]);
  });

  it("of a read in flight keeps it from being sent again", () => {
    const bench = new Bench();
    bench.connect();
    const dropped = bench.ask(ops.sync, { path: "/" });
    bench.turn();
    bench.drop();

    bench.session.cancel(dropped.pending);
    const sent = bench.connect();

    assertEquals([sent, dropped.state], [[], "open"]);
  });

  it("leaves no watch behind for one whose reply came too late", () => {
    const bench = new Bench();
    bench.connect();
    const watch = {
      watcher: () => {},
      path: "/a",
      kind: () => "data" as const,
    };
    const dropped = bench.ask(ops.exists, { path: "/a", watch: true }, {
      watch,
    });
    const [sent] = bench.turn();

    bench.session.cancel(dropped.pending);
    bench.reply(sent, { stat: statOf() });

    assertEquals(listed(bench.session.watches), {});
  });

  it("of 10,000 that wait leaves the one that was not cancelled, in its place", () => {
    const bench = new Bench();
    const asked = Array.from(
      { length: 10_000 },
      (_, i) => bench.ask(ops.sync, { path: `/${i}` }),
    );

    for (const [i, { pending }] of asked.entries()) {
      if (i !== 7777) bench.session.cancel(pending);
    }
    const sent = bench.connect();

    assertEquals(names(sent), ["sync /7777"]);
  });
});
