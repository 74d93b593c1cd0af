// SessionMachine, how it ends: expired or closed; and what everybody is told, in which order.
// Nothing is settled twice, and a session that ended stays ended.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertStrictEquals,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  ClientClosedError,
  SessionExpiredError,
} from "../../protocol/errors.ts";
import * as ops from "../../protocol/operations.ts";
import { Bench, names } from "./bench.ts";
import {
  event,
  header,
  sessionId,
  statOf,
  unknownSession,
  welcome,
} from "./wire.ts";

function states(bench: Bench): string[] {
  return bench.outcomes.map(({ state }) => state);
}

/** Connected and lost, with a write and a read that were sent and two requests that wait. */
function away(): Bench {
  const bench = new Bench();
  bench.connect();
  bench.ask(ops.getData, { path: "/sent", watch: false });
  bench.ask(ops.remove, { path: "/marked", version: -1 }, { resend: () => {} });
  bench.turn();
  bench.drop();
  bench.ask(ops.setData, { path: "/queued", data: null, version: -1 });
  bench.ask(ops.sync, { path: "/queued" });
  return bench;
}

describe("SessionMachine, expired", () => {
  it("by the server's answer rejects what was sent as unknown and what was queued as not sent", () => {
    const bench = away();
    bench.open();

    bench.receive(unknownSession());

    assertEquals(states(bench), [
      "SessionExpiredError unknown",
      "SessionExpiredError unknown",
      "SessionExpiredError not-sent",
      "SessionExpiredError not-sent",
    ]);
    assertEquals(
      (bench.outcomes[0].errors[0] as SessionExpiredError).sessionId,
      sessionId,
    );
  });

  it("by an answer with another session id (ClickHouse#116690)", () => {
    const bench = away();
    bench.open();

    bench.receive(welcome({ sessionId: sessionId + 1n }));

    assertEquals([bench.session.state, bench.session.id], [
      "expired",
      sessionId,
    ]);
  });

  it("by silence gives each request an error whose cause says so", () => {
    const bench = away();
    bench.wall += 60_000;

    bench.tick();

    const causes = bench.outcomes.map(({ errors }) => errors[0].cause);
    assert(causes.every((cause) => cause === bench.session.signal.reason));
    assertInstanceOf(bench.session.signal.reason, SessionExpiredError);
  });

  it("tells the host first, then aborts the signal, then tells the watchers, then of the state", () => {
    const bench = new Bench();
    bench.connect();
    bench.ask(ops.exists, { path: "/a", watch: true }, {
      watch: { watcher() {}, path: "/a", kind: () => "data" },
    });
    const [exists] = bench.turn();
    bench.reply(exists, { stat: statOf() });
    bench.session.signal.addEventListener(
      "abort",
      () => bench.log.push("abort"),
    );
    bench.drop();
    bench.log.length = 0;
    bench.open();

    bench.receive(unknownSession());

    assertEquals(bench.log, ["ended", "abort", "session-lost /a", "expired"]);
  });

  it("aborts its signal before any request is rejected", () => {
    const bench = away();
    const seen: boolean[] = [];
    bench.ask(ops.sync, { path: "/" }, {
      reject: () => void seen.push(bench.session.signal.aborted),
    });
    bench.open();

    bench.receive(unknownSession());

    assertEquals(seen, [true]);
  });

  it("stays expired: bytes, ticks and losses change nothing and settle nothing again", () => {
    const bench = away();
    bench.open();
    bench.receive(unknownSession());
    const before = [...bench.log];

    bench.receive(welcome(), header(1, 1n), event(3, "/a"));
    bench.stall(1e9);
    bench.tick();
    bench.drop();

    assertEquals([bench.log, bench.outcomes.map(({ settled }) => settled)], [
      before,
      [1, 1, 1, 1],
    ]);
    assertEquals([bench.session.state, bench.disconnects], ["expired", []]);
  });
});

describe("SessionMachine.close()", () => {
  /** Closed with two requests asked for in the same turn. */
  function closing(
    bench: Bench,
  ): { reason: ClientClosedError; done: () => number } {
    let done = 0;
    const reason = new ClientClosedError();
    bench.ask(ops.remove, { path: "/a", version: -1 });
    bench.ask(ops.sync, { path: "/b" });
    bench.session.close(reason, () => void done++);
    return { reason, done: () => done };
  }

  it("sends what was asked for before, then closeSession (kazoo#744)", () => {
    const bench = new Bench();
    bench.connect();
    closing(bench);

    const sent = bench.turn();

    assertEquals(names(sent), ["delete /a", "sync /b", "closeSession"]);
  });

  it("resolves what was asked for before and is done once the server confirmed", () => {
    const bench = new Bench();
    bench.connect();
    const { done } = closing(bench);
    const [first, second, last] = bench.turn();

    bench.reply(first);
    bench.reply(second, { path: "/b" });
    const before = done();
    bench.reply(last);

    assertEquals([states(bench), before, done()], [
      ["resolved", "resolved"],
      0,
      1,
    ]);
  });

  it("ends everything that relies on the session before closeSession is written", () => {
    const bench = new Bench();
    bench.connect();
    bench.session.signal.addEventListener(
      "abort",
      () => bench.log.push("abort"),
    );

    const { reason } = closing(bench);

    assertEquals([bench.log, bench.session.state], [[
      "attached",
      "connected",
      "ended",
      "abort",
      "closed",
    ], "closed"]);
    assertStrictEquals(bench.session.signal.reason, reason);
  });

  it("without a connection sends what was queued, then closeSession, on the next", () => {
    const bench = new Bench();
    bench.connect();
    bench.drop();
    const { done } = closing(bench);

    const sent = bench.connect();
    for (const one of sent) {
      bench.reply(one, one.op === "sync" ? { path: "/b" } : null);
    }

    assertEquals([names(sent), done(), states(bench)], [
      ["delete /a", "sync /b", "closeSession"],
      1,
      ["resolved", "resolved"],
    ]);
    assertEquals(bench.session.state, "closed");
  });

  it("sends closeSession again when the connection is lost before the answer", () => {
    const bench = new Bench();
    bench.connect();
    const { done } = closing(bench);
    bench.turn();
    bench.drop();

    const sent = bench.connect();
    for (const one of sent) {
      bench.reply(one, one.op === "sync" ? { path: "/b" } : null);
    }

    assertEquals([names(sent), done()], [["sync /b", "closeSession"], 1]);
  });

  it("is done at once for a session that never began", () => {
    const bench = new Bench();
    bench.open();
    let done = 0;

    bench.session.close(new ClientClosedError(), () => void done++);

    assertEquals([done, bench.session.state], [1, "closed"]);
  });

  it("is done when the server says the session has expired already", () => {
    const bench = new Bench();
    bench.connect();
    bench.drop();
    const { done } = closing(bench);
    bench.open();

    bench.receive(unknownSession());

    assertEquals([done(), bench.session.state], [1, "closed"]);
    assertEquals(states(bench), [
      "SessionExpiredError not-sent",
      "SessionExpiredError not-sent",
    ]);
  });

  it("is done when the session expires by silence meanwhile", () => {
    const bench = new Bench();
    bench.connect();
    bench.drop();
    const { done } = closing(bench);
    bench.wall += 1e6;

    bench.tick();

    assertEquals(done(), 1);
  });

  it("then end() rejects what is still open with its reason, once", () => {
    const bench = new Bench();
    bench.connect();
    const { reason } = closing(bench);
    bench.turn();

    bench.session.end("closed", reason);
    bench.session.end("closed", reason);

    assertEquals(states(bench), ["ClientClosedError", "ClientClosedError"]);
    assertEquals(bench.states, ["connected", "closed"]);
  });
});

describe("SessionMachine over 100 random cuts and heals (CURATOR-525)", () => {
  it("ends connected, with every request settled exactly once", () => {
    const bench = new Bench();
    bench.connect();

    for (let i = 0; i < 100; i++) {
      if (i % 2) bench.ask(ops.sync, { path: "/" });
      else bench.ask(ops.exists, { path: "/", watch: false });
      bench.ask(ops.remove, { path: "/a", version: -1 });
      const sent = bench.turn();
      if (i % 3 === 0) {
        bench.reply(
          sent[0],
          sent[0].op === "sync" ? { path: "/" } : { stat: statOf() },
        );
      }
      bench.drop();
      if (i % 4 === 0) {
        bench.open();
        bench.drop();
      }
      bench.connect().forEach((one) => {
        bench.reply(
          one,
          one.op === "sync" ? { path: "/" } : { stat: statOf() },
        );
      });
    }

    assertEquals(bench.session.state, "connected");
    assertEquals(
      bench.outcomes.filter(({ settled }) => settled !== 1).length,
      0,
    );
  });
});
