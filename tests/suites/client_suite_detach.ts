// Client.detach() and connect() with `session`: a session that goes from one client to another.
// Knows no version.
// Part of client_suite.ts.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe } from "@std/testing/bdd";
import { inspect } from "node:util";
import {
  ClientClosedError,
  connect,
  ConnectionLossError,
  internalsOf,
  SessionExpiredError,
  type SessionKey,
} from "../../protocol/mod.ts";
import type { Target } from "../targets.ts";
import { Flights, tester, throughProxy, until, within } from "./tools.ts";

export function detachSuite(target: Target): void {
  describe("Client.detach()", () => detachTests(target));
  describe("DetachedSession", () => secretTests(target));
  describe("connect(), with a session", () => resumeTests(target));
}

function detachTests(target: Target): void {
  const test = tester(target);

  test("leaves the session and its ephemeral znodes to the next client", async ({ root, open }) => {
    const first = await open();
    const mode = "ephemeral";
    const { path } = await first.create(`${root}/e`, "x", { mode });
    const { id } = first.session;

    const session = await first.detach();
    const next = await open({ session });

    const { timeout } = next.session;
    assertEquals([next.session.id, timeout], [id, session.timeout]);
    assertEquals((await next.exists(path))?.ephemeralOwner, id);
    await next.create(`${root}/f`, "", { mode });
    assertEquals((await next.getChildren(root)).sort(), ["e", "f"]);
  });

  test("answers what was asked before", async ({ zk, root, open }) => {
    const first = await open();
    const flights = [first.create(`${root}/a`), first.create(`${root}/b`)];

    await first.detach();

    await Promise.all(flights);
    assertEquals((await zk.getChildren(root)).sort(), ["a", "b"]);
  });

  test("ends the client: calls reject, and its session stays unclosed", async ({ root, open }) => {
    const { transport, writes } = new Flights(target);
    const first = await open({ transport });

    await first.detach();

    const error = await assertRejects(
      () => first.exists(root),
      ClientClosedError,
      "Client detached",
    );
    assertStrictEquals(first.signal.reason, error);
    await assertRejects(() => first.detach(), ClientClosedError);
    assert(!writes.flat().includes("closeSession"));
    await first.close();
    assert(!writes.flat().includes("closeSession"));
  });

  test("rejects if the server does not answer, and the client stays", async (world) => {
    await throughProxy(target, world, async ({ zk, proxy, root }) => {
      proxy.blackHole();

      await assertRejects(
        () => within("it gives up", zk.detach()),
        ConnectionLossError,
        "Cannot detach: the server does not answer",
      );

      proxy.heal();
      assertEquals(await zk.getChildren(root), []);
    }, { sessionTimeout: 4_000 });
  });
}

function secretTests(target: Target): void {
  const test = tester(target);

  test("does not show its password, which is there all the same", async ({ open }) => {
    const first = await open();
    const password = internalsOf(first).password().slice();

    const session = await first.detach();

    const shown = [inspect(session), inspect({ ...session }), `${session}`];
    const hex = Array.from(password, (b) => b.toString(16).padStart(2, "0"));
    for (const text of shown) {
      assert(!text.includes("password"), text);
      assert(!text.includes(hex.join("")), text);
    }
    assertEquals(session.password, password);
    await (await open({ session })).close();
  });

  test("can be stored as text", async ({ open }) => {
    const first = await open();
    const { id } = first.session;
    const session = await first.detach();

    const next = await open({ session: session.toSecret() });

    assertEquals(next.session.id, id);
  });
}

function resumeTests(target: Target): void {
  const test = tester(target);

  test("rejects with a SessionExpiredError if it is over, and asks for no other", async ({ open }) => {
    const first = await open();
    const { id } = first.session;
    const password = internalsOf(first).password().slice();
    await first.close();
    const session = { id, password, timeout: 4_000 };
    const { transport, writes } = new Flights(target);

    const error = await assertRejects(
      () => open({ session, transport }),
      SessionExpiredError,
    );

    assertEquals(error.sessionId, id);
    assertEquals(writes, [["connect"]]);
  });

  test("does not get it by a wrong password", async ({ zk, root, open }) => {
    const first = await open();
    await first.create(`${root}/e`, "", { mode: "ephemeral" });
    const { id, timeout } = await first.detach();
    const password = new Uint8Array(16).fill(7);

    await assertRejects(
      () => open({ session: { id, password, timeout } }),
      SessionExpiredError,
    );

    assertEquals(await zk.getChildren(root), ["e"]);
  });

  test("renews it like any other when it expires later", async (world) => {
    const { open } = world;
    const session = await (await open()).detach();
    const next = await open({ session });
    const old = next.session;
    const twin = await open({ session });

    await twin.close();
    // The twin took the connection and ended the session.
    await until("a new session", () => next.session !== old);

    assertInstanceOf(old.signal.reason, SessionExpiredError);
    assertEquals(await next.getChildren(world.root), []);
  });

  test("refuses what is none, and tells nothing of it", () => {
    const password = new Uint8Array(16).fill(7);
    const good = { id: 1n, password, timeout: 4_000 };
    const bad: unknown[] = [
      "zklock-session:1:4000:0",
      "secret",
      null,
      { ...good, id: 0n },
      { ...good, id: 17 },
      { ...good, password: undefined },
      { ...good, password: new Uint8Array(0) },
      { ...good, timeout: 0 },
      { ...good, timeout: 1.5 },
      { ...good, zxid: 1 },
    ];

    return Promise.all((bad as SessionKey[]).map(async (session) => {
      const { message } = await assertRejects(
        () => connect(target.servers, { session }),
        TypeError,
        "Cannot resume a session: ",
      );
      assert(!/7|secret:/.test(message), message);
    })).then(() => {});
  });
}
