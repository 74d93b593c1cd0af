// connect() with `eager`: asking before there is a session.
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
import {
  ClientClosedError,
  ConnectionLossError,
  type Transport,
} from "../../protocol/mod.ts";
import { pickTransport } from "../../protocol/transport/mod.ts";
import type { Target } from "../targets.ts";
import { anna, Flights, tester, textOf } from "./tools.ts";

export function eagerSuite(target: Target): void {
  describe("connect(), eager", () => {
    writeTests(target);
    failureTests(target);
  });
}

function writeTests(target: Target): void {
  const test = tester(target);

  test("sends what is asked in one write with the request for the session", async ({ root, open }) => {
    const flights = new Flights(target);
    const { transport } = flights;

    const zk = await open({ eager: true, transport });
    const [made, names] = await Promise.all([
      zk.create(`${root}/a`, "x"),
      zk.getChildren(root),
    ]);

    assertEquals(flights.writes, [["connect", "create", "getChildren"]]);
    assertEquals([made.path, names], [`${root}/a`, ["a"]]);
    assertEquals(zk.session.state, "connected");
  });

  test("resolves before there is a session", async ({ open }) => {
    const zk = await open({ eager: true });

    const { id, state } = zk.session;

    assertEquals([id, state], [0n, "connecting"]);
  });

  test("shows credentials before what is asked, and once", async ({ root, open }) => {
    const flights = new Flights(target);
    const { transport } = flights;
    const auth = [anna];
    const acl = [{ perms: 31, scheme: "auth", id: "" }];

    const zk = await open({ eager: true, transport, auth });
    await zk.create(`${root}/mine`, "x", { acl });
    const { data } = await zk.getData(`${root}/mine`);

    assertEquals(flights.writes, [["connect", "auth", "create"], ["getData"]]);
    assertEquals(textOf(data), "x");
  });

  test("answers an addAuth() that did not wait for the session", async ({ root, open }) => {
    const zk = await open({ eager: true });
    const acl = [{ perms: 31, scheme: "auth", id: "" }];

    await Promise.all([
      zk.addAuth(anna),
      zk.create(`${root}/mine`, "x", { acl }),
    ]);

    const { data } = await zk.getData(`${root}/mine`);
    assertEquals(textOf(data), "x");
  });

  test("makes ephemeral znodes of the session that comes of it", async ({ root, open }) => {
    const zk = await open({ eager: true });

    const { path } = await zk.create(`${root}/e`, "", { mode: "ephemeral" });

    const stat = await zk.exists(path);
    assertEquals(stat?.ephemeralOwner, zk.session.id);
  });

  test("leaves nothing behind if it is closed before the server answers", async ({ zk, root, open }) => {
    const flights = new Flights(target);
    const { transport } = flights;
    const eager = await open({ eager: true, transport });
    const closed = new Promise<void>((resolve) => {
      flights.wrote = () => resolve(eager.close());
    });

    const path = `${root}/e`;
    const { zxid } = await eager.create(path, "", { mode: "ephemeral" });
    await closed;

    assertEquals(flights.writes, [["connect", "create"], ["closeSession"]]);
    assert(zxid > 0n);
    assertEquals(await zk.exists(path), null);
  });
}

function failureTests(target: Target): void {
  const test = tester(target);

  test("sends reads again, and rejects writes, if the first connection is lost", async ({ root, open }) => {
    const { transport } = new Cutting(target);
    const zk = await open({ eager: true, transport });

    const [read, written] = await Promise.allSettled([
      zk.getChildren(root),
      zk.create(`${root}/a`),
    ]);

    assertEquals(read.status, "fulfilled");
    const { reason } = written as PromiseRejectedResult;
    assertInstanceOf(reason, ConnectionLossError);
    assertEquals(reason.outcome, "unknown");
  });

  test("rejects every call with what kept it from connecting, when time is up", async ({ open }) => {
    const transport = () => Promise.reject(new Error("no way"));
    const zk = await open({ eager: true, transport, connectTimeout: 20 });

    const error = await assertRejects(() => zk.exists("/"), ClientClosedError);

    const { cause } = error;
    assertInstanceOf(cause, ConnectionLossError);
    assertEquals(cause.message, "Cannot connect within 20 ms: no way");
    assertStrictEquals(zk.signal.reason, error);
  });
}

/** Its first connection is lost as soon as something is written to it. */
class Cutting {
  readonly transport: Transport;
  #isFirst = true;

  constructor({ transport }: Target) {
    const inner = transport ?? pickTransport;
    this.transport = async (address, handlers) => {
      const socket = await inner(address, handlers);
      if (!this.#isFirst) return socket;
      this.#isFirst = false;
      const write = () => {
        socket.close();
        handlers.close();
      };
      return { write, close: () => socket.close() };
    };
  }
}
