// SessionMachine and SASL: before everything else on each connection, and what ends a session or only a connection.
// The mechanism is a script; DIGEST-MD5 has a test of its own.

import { assertEquals, assertInstanceOf } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  AuthFailedError,
  ClientClosedError,
  ProtocolError,
} from "../../protocol/errors.ts";
import * as ops from "../../protocol/operations.ts";
import { SaslToken } from "../../protocol/records.ts";
import { Bench, credentialOf, names } from "./bench.ts";
import { answer, header } from "./wire.ts";

const encoder = new TextEncoder();

/** Answers "one" by "two", and is content with "end". */
function mechanism() {
  return {
    answer(token: Uint8Array): Uint8Array | null {
      const text = new TextDecoder().decode(token);
      if (text === "one") return encoder.encode("two");
      if (text === "end") return null;
      throw new AuthFailedError("sasl");
    },
  };
}

/** A reply with a token. */
function token(xid: number, text: string | null): Uint8Array {
  const bytes = text === null ? null : encoder.encode(text);
  return answer(xid, 0n, SaslToken, { token: bytes });
}

/** What is said by both until the session is ready; answers what leaves then. */
function prove(bench: Bench, first: number) {
  bench.open();
  bench.grant();
  bench.receive(token(first, "one"));
  bench.turn();
  bench.receive(token(first + 1, "end"));
  return bench.turn();
}

function benchWith(credentials = [credentialOf("digest", true)]): Bench {
  return new Bench({ sasl: mechanism, credentials });
}

describe("SessionMachine, SASL", () => {
  it("begins with an empty token, and nothing else is sent until it is over", () => {
    const bench = benchWith();
    bench.ask(ops.sync, { path: "/" });
    bench.open();

    const first = bench.grant();
    bench.receive(token(1, "one"));
    const second = bench.turn();
    const states = [...bench.states];
    bench.receive(token(2, "end"));
    const then = bench.turn();

    assertEquals([first, second, then].map(names), [
      ["sasl"],
      ["sasl"],
      ["auth", "sync /"],
    ]);
    assertEquals(first[0].body.token, new Uint8Array(0));
    assertEquals(second[0].body.token, encoder.encode("two"));
    assertEquals([states, bench.states], [[], ["connected"]]);
  });

  it("goes on in the same way on the next connection, with a new exchange", () => {
    const bench = benchWith();
    prove(bench, 1);
    bench.drop();
    const queued = bench.ask(ops.sync, { path: "/" });

    const then = prove(bench, 3);

    assertEquals(names(then), ["auth", "sync /"]);
    assertEquals([queued.state, bench.session.state], ["open", "connected"]);
  });

  it("that was interrupted begins anew, in the session that was granted", () => {
    const bench = benchWith();
    bench.open();
    bench.grant({ sessionId: 77n });
    bench.receive(token(1, "one"));
    bench.drop();

    const hello = bench.open();

    assertEquals(hello.sessionId, 77n);
    assertEquals([bench.session.id, bench.states], [77n, []]);
  });

  const refusals: Array<[string, Uint8Array]> = [
    ["an error", header(1, 0n, -115)],
    ["an error that says that SASL is demanded", header(1, 0n, -124)],
    ["an error that it is unknown", header(1, -1n, -6)],
    ["null", token(1, null)],
    ["what the mechanism does not believe", token(1, "evil")],
  ];
  for (const [what, reply] of refusals) {
    it(`ends the session when the server answers ${what}`, () => {
      const bench = benchWith();
      const asked = bench.ask(ops.sync, { path: "/" });
      bench.open();
      bench.grant();

      bench.receive(reply);

      assertInstanceOf(bench.session.signal.reason, AuthFailedError);
      assertEquals([bench.session.state, asked.state, bench.disconnects], [
        "auth-failed",
        "AuthFailedError",
        [],
      ]);
    });
  }

  const garbage: Array<[string, Uint8Array]> = [
    ["another number", token(7, "one")],
    ["no token", header(1, 0n)],
    ["an event", header(-1, 0n)],
  ];
  for (const [what, reply] of garbage) {
    it(`costs the connection when the server sends ${what}`, () => {
      const bench = benchWith();
      bench.open();
      bench.grant();

      bench.receive(reply);

      const [cause] = bench.disconnects;
      assertInstanceOf(cause, ProtocolError);
      assertEquals(bench.session.state, "connecting");
    });
  }

  // Measured: 3.4.13 ends the connection of who has a wrong password, without a reply.
  it("ends the session when a server hangs up on the proof twice", () => {
    const bench = benchWith();
    const states: string[] = [];
    for (const first of [1, 3]) {
      bench.open();
      bench.grant({ sessionId: 77n });
      bench.receive(token(first, "one"));
      bench.turn();
      bench.session.lost(undefined, true);
      states.push(bench.session.state);
    }

    assertEquals(states, ["connecting", "auth-failed"]);
  });

  it("does not take it for a refusal when the network fails, or when it is before the proof", () => {
    const bench = benchWith();
    for (const first of [1, 3, 5]) {
      bench.open();
      bench.grant({ sessionId: 77n });
      bench.receive(token(first, "one"));
      bench.turn();
      bench.session.lost(new Error("reset"));
    }
    for (let i = 0; i < 3; i++) {
      bench.open();
      bench.grant({ sessionId: 77n });
      bench.session.lost(undefined, true);
    }

    assertEquals(bench.session.state, "connecting");
  });

  it("of a session that is being closed goes on, so that it can be closed", () => {
    const bench = benchWith([]);
    bench.open();
    bench.grant();
    bench.session.close(new ClientClosedError(), () => {});
    bench.receive(token(1, "one"));
    bench.turn();

    bench.receive(token(2, "end"));

    assertEquals(names(bench.turn()), ["closeSession"]);
  });
});

describe("SessionMachine, an answer that says that SASL is demanded", () => {
  for (const xid of [1, -2, -4]) {
    it(`ends the session, also as the reply ${xid}`, () => {
      const bench = new Bench({ credentials: [credentialOf("digest", true)] });
      const asked = bench.ask(ops.sync, { path: "/" });
      bench.connect();

      bench.receive(header(xid, 0n, -124));

      assertEquals([bench.session.state, asked.state], [
        "auth-failed",
        "AuthFailedError",
      ]);
    });
  }
});
