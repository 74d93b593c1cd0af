// SessionMachine and credentials: shown on every connection, taken, refused, and what a refusal costs.
// Those of connect() are essential, those that came later are not.

import { assertEquals, assertInstanceOf } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { AuthFailedError } from "../../protocol/errors.ts";
import * as ops from "../../protocol/operations.ts";
import { Bench, credentialOf, names } from "./bench.ts";
import { header } from "./wire.ts";

describe("SessionMachine, credentials", () => {
  it("are shown on every connection before everything else, in their order", () => {
    const bench = new Bench({
      credentials: [credentialOf("digest", true), credentialOf("ip", true)],
    });
    bench.ask(ops.sync, { path: "/" });

    const first = bench.connect();
    bench.drop();
    const second = bench.connect();

    assertEquals(
      [names(first), names(second)],
      Array(2).fill(["auth", "auth", "sync /"]),
    );
    assertEquals(first.map(({ xid }) => xid), [-4, -4, 1]);
    assertEquals(first[0].body, {
      type: 0,
      scheme: "digest",
      auth: new TextEncoder().encode("secret"),
    });
  });

  it("that are taken are told so once, also after a reconnect", () => {
    const credential = credentialOf("digest", false);
    const bench = new Bench({ credentials: [credential] });
    bench.connect();
    bench.receive(header(-4, 0n));
    bench.drop();
    bench.connect();

    bench.receive(header(-4, 0n));

    assertEquals(credential.news, [undefined]);
  });

  it("that are essential and refused end the session", () => {
    const bench = new Bench({ credentials: [credentialOf("digest", true)] });
    const asked = bench.ask(ops.sync, { path: "/" });
    bench.connect();

    bench.receive(header(-4, 0n, -115));

    const { state, signal } = bench.session;
    assertInstanceOf(signal.reason, AuthFailedError);
    assertEquals([state, signal.reason.scheme, asked.state], [
      "auth-failed",
      "digest",
      "AuthFailedError",
    ]);
  });

  it("that were added later and are refused are dropped, and the session goes on", () => {
    const kept = credentialOf("digest", true),
      refused = credentialOf("nosuch", false);
    const bench = new Bench({ credentials: [kept] });
    bench.connect();
    bench.receive(header(-4, 0n));
    bench.settings.credentials.push(refused);
    bench.session.authenticate(refused);
    bench.turn();

    bench.receive(header(-4, 0n, -115));
    bench.drop();
    const sent = bench.connect();

    assertInstanceOf(refused.news[0], AuthFailedError);
    assertEquals([sent.map(({ body }) => body.scheme), bench.session.state], [[
      "digest",
    ], "connected"]);
  });

  it("that were never answered are shown again on the next connection, and told then", () => {
    const credential = credentialOf("digest", false);
    const bench = new Bench({ credentials: [credential] });
    bench.connect();
    bench.drop();
    bench.connect();

    bench.receive(header(-4, 0n));

    assertEquals(credential.news, [undefined]);
  });

  it("added without a connection are shown on the next", () => {
    const credential = credentialOf("digest", false);
    const bench = new Bench();
    bench.settings.credentials.push(credential);
    bench.session.authenticate(credential);

    const sent = bench.connect();

    assertEquals(names(sent), ["auth"]);
  });

  it("refused twice in a row take only themselves out of the list", () => {
    const credentials = ["a", "b", "c"].map((scheme) =>
      credentialOf(scheme, false)
    );
    const bench = new Bench({ credentials: [...credentials] });
    bench.connect();

    bench.receive(header(-4, 0n, -115), header(-4, 0n), header(-4, 0n, -115));

    assertEquals(bench.settings.credentials.map(({ scheme }) => scheme), ["b"]);
  });
});
