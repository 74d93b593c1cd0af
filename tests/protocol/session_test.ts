// SessionMachine, the ordinary days: handshake, what stays of a lost connection, the zxid it has seen.
// No time passes here; see session_timing_test.ts for that, session_end_test.ts and session_hostile_test.ts for the rest.

import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type ConnectionLossError,
  ProtocolError,
} from "../../protocol/errors.ts";
import * as ops from "../../protocol/operations.ts";
import { Bench, names } from "./bench.ts";
import {
  event,
  header,
  joined,
  password,
  sessionId,
  statOf,
  unknownSession,
  welcome,
} from "./wire.ts";

const acl = [{ perms: 31, scheme: "world", id: "anyone" }];

function create(
  path: string,
): { path: string; data: null; acl: typeof acl; flags: number } {
  return { path, data: null, acl, flags: 1 };
}

describe("SessionMachine, handshake", () => {
  it("asks for a new session with zxid 0, id 0 and 16 zero bytes", () => {
    const bench = new Bench({ timeout: 12_345, readOnly: true });

    const hello = bench.open();

    assertEquals(hello, {
      protocolVersion: 0,
      lastZxidSeen: 0n,
      timeOut: 12_345,
      sessionId: 0n,
      passwd: new Uint8Array(16),
      readOnly: true,
    });
  });

  it("is connected by the welcome, with the id, password and timeout the server gave", () => {
    const bench = new Bench({ timeout: 60_000 });

    bench.connect({ timeOut: 4000 });

    const { id, timeout, state, ready } = bench.session;
    assertEquals([id, timeout, state, ready], [
      sessionId,
      4000,
      "connected",
      true,
    ]);
    assertEquals([bench.session.password, bench.states], [password, [
      "connected",
    ]]);
  });

  it("is connected-read-only on a server that is", () => {
    const bench = new Bench({ readOnly: true });

    bench.connect({ readOnly: true });

    assertEquals(bench.states, ["connected-read-only"]);
  });

  it("asks for the same session on the next connection, for the timeout of the settings again", () => {
    const bench = new Bench({ timeout: 60_000 });
    bench.connect({ timeOut: 4000 });
    bench.drop();

    const hello = bench.open();

    assertEquals([hello.sessionId, hello.passwd, hello.timeOut], [
      sessionId,
      password,
      60_000,
    ]);
  });

  it("takes the timeout of each re-attachment (mesos-go#177)", () => {
    const bench = new Bench();
    bench.connect({ timeOut: 9000 });
    bench.drop();

    bench.connect({ timeOut: 6000 });

    assertEquals([bench.session.timeout, bench.states], [6000, [
      "connected",
      "disconnected",
      "connected",
    ]]);
  });

  it("keeps a password of another length and shows it again", () => {
    const passwd = new Uint8Array(20).fill(7);
    const bench = new Bench();
    bench.connect({ passwd });
    bench.drop();

    const hello = bench.open();

    assertEquals(hello.passwd, passwd);
  });

  it("goes on to the next server when one grants no timeout to a new session", () => {
    const bench = new Bench();
    bench.open();

    bench.receive(unknownSession());

    assertEquals([
      bench.disconnects.map(({ name }) => name),
      bench.session.state,
    ], [["ConnectionLossError"], "connecting"]);
    assert(!bench.session.signal.aborted);
  });

  it("goes on to the next server when a read-only one refuses with a bare header", () => {
    const bench = new Bench({ readOnly: true });
    bench.open();

    bench.receive(header(0, 4294967702n, -119));

    assertEquals(bench.disconnects.map(({ message }) => message), [
      "Cannot connect: the server answered error -119",
    ]);
  });

  it("keeps the session when a server hangs up without a word (go-zookeeper#38)", () => {
    const bench = new Bench();
    bench.connect();
    bench.drop();

    bench.open();
    bench.drop();
    const hello = bench.open();

    assertEquals([hello.sessionId, bench.session.state], [
      sessionId,
      "disconnected",
    ]);
  });

  it("reads welcome, reply and event out of one chunk, and out of chunks of one byte", () => {
    const stream = joined(welcome(), event(1, "/a"), header(-2, 5n));
    const benches = [new Bench(), new Bench()];
    for (const bench of benches) bench.open();

    benches[0].receive(stream);
    benches[1].receive(...Array.from(stream, (byte) => Uint8Array.of(byte)));

    assertEquals(
      benches.map(({ states, disconnects }) => [states, disconnects]),
      Array(2).fill([["connected"], []]),
    );
  });

  it("takes nothing of a half-read packet over to the next connection", () => {
    const bench = new Bench();
    bench.connect();
    bench.receive(header(-2, 1n).subarray(0, 7));
    bench.drop();

    bench.connect();

    assertEquals([bench.session.state, bench.disconnects], ["connected", []]);
  });
});

describe("SessionMachine, after a lost connection", () => {
  it("rejects writes that were sent: they may have happened", () => {
    const bench = new Bench();
    bench.connect();
    const asked = [
      bench.ask(ops.create, create("/a")),
      bench.ask(ops.multi, []),
    ];
    bench.turn();
    const cause = new Error("reset");

    bench.drop(cause);

    assertEquals(
      asked.map(({ state }) => state),
      Array(2).fill("ConnectionLossError unknown"),
    );
    const error = asked[0].errors[0] as ConnectionLossError;
    assertEquals([error.op, error.path, error.cause], ["create", "/a", cause]);
  });

  it("sends reads again by itself, with new numbers, and resolves them once", () => {
    const bench = new Bench();
    bench.connect();
    const data = bench.ask(ops.getData, { path: "/a", watch: false });
    const sync = bench.ask(ops.sync, { path: "/b" });
    bench.turn();
    bench.drop();

    const sent = bench.connect();
    bench.reply(sent[0], { data: null, stat: statOf() });
    bench.reply(sent[1], { path: "/b" });

    assertEquals([names(sent), sent.map(({ xid }) => xid)], [[
      "getData /a",
      "sync /b",
    ], [3, 4]]);
    assertEquals([data.state, sync.state], ["resolved", "resolved"]);
  });

  it("sends reads again after each of three losses, one of them within the handshake", () => {
    const bench = new Bench();
    bench.connect();
    const asked = bench.ask(ops.exists, { path: "/a", watch: false });
    bench.turn();

    bench.drop();
    bench.open();
    bench.drop();
    bench.connect();
    bench.drop();
    const [sent] = bench.connect();
    bench.reply(sent, { stat: statOf() });

    assertEquals(asked.state, "resolved");
  });

  it("sends what waited since before the loss", () => {
    const bench = new Bench();
    bench.connect();
    bench.drop();
    bench.ask(ops.create, create("/a"));

    const sent = bench.connect();

    assertEquals(names(sent), ["create /a"]);
  });

  it("resolves nothing by a reply with a number of the old connection", () => {
    const bench = new Bench();
    bench.connect();
    const asked = bench.ask(ops.sync, { path: "/" });
    const [old] = bench.turn();
    bench.drop();
    bench.connect();

    bench.reply(old, { path: "/" });

    assertInstanceOf(bench.disconnects[0], ProtocolError);
    assertEquals(asked.replies, []);
  });

  it("tells nobody twice that the connection is lost", () => {
    const bench = new Bench();
    bench.connect();

    bench.drop();
    bench.drop();

    assertEquals(bench.states, ["connected", "disconnected"]);
  });
});

describe("SessionMachine, the zxid it has seen", () => {
  /** The lastZxidSeen of the next connect request. */
  function seen(
    ...zxids: Array<[xid: number, zxid: bigint, err?: number]>
  ): bigint {
    const bench = new Bench();
    bench.connect();
    bench.ask(ops.remove, { path: "/a", version: -1 });
    bench.turn();
    for (const [xid, zxid, err] of zxids) {
      bench.receive(xid === -1 ? event(1, "/a", zxid) : header(xid, zxid, err));
    }
    bench.drop();
    return bench.open().lastZxidSeen;
  }

  const cases: Array<[string, Parameters<typeof seen>, bigint]> = [
    ["nothing came: 0", [], 0n],
    ["a reply", [[1, 7n]], 7n],
    ["a refusal, which has a transaction too", [[1, 7n, -101]], 7n],
    ["above 2^53", [[1, 2n ** 60n + 1n]], 2n ** 60n + 1n],
    ["the -1 of an event (rust-zookeeper#50)", [[-2, 5n], [-1, -1n]], 5n],
    ["the zxid of an event of 3.9", [[-2, 5n], [-1, 9n]], 5n],
    ["the -1 of a refusal", [[-2, 5n], [1, -1n, -6]], 5n],
    ["a zxid that goes back", [[-2, 5n], [1, 3n]], 5n],
  ];
  for (const [what, zxids, expected] of cases) {
    it(`is ${expected} in the next connect request after ${what}`, () => {
      const zxid = seen(...zxids);

      assertEquals(zxid, expected);
    });
  }
});
