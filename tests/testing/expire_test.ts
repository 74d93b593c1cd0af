// expireSession(): the client loses its session, or the caller is told why not.
// Needs no ZooKeeper: the server is a scripted one.
// Run with Deno's leak checks, which see whether the twin went.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect, SessionExpiredError } from "../../protocol/mod.ts";
import { expireSession, FaultProxy } from "../../testing/mod.ts";
import { FakeServer } from "./fake_server.ts";
import { until } from "./talker.ts";

describe("expireSession()", () => {
  it("ends the session, and the client goes on with another", async () => {
    await using server = await FakeServer.start();
    await using zk = await connect(server.servers);
    const { session } = zk;

    await expireSession(zk, server.servers);
    await until(() => session.signal.aborted);
    await zk.create("/a");

    assert(zk.session !== session);
    assertEquals(session.state, "expired");
    assertInstanceOf(session.signal.reason, SessionExpiredError);
  });

  it("leaves no connection of its own", async () => {
    await using server = await FakeServer.start();
    const zk = await connect(server.servers);

    await expireSession(zk, server.servers);
    await zk.close();

    await until(() => server.connections === 0);
  });

  it("rejects if the server does not know the session", async () => {
    await using server = await FakeServer.start();
    await using other = await FakeServer.start();
    await using zk = await connect(server.servers);

    await assertRejects(
      () => expireSession(zk, other.servers),
      Error,
      `Cannot expire session 0x1 at ${other.servers}: the server does not know`,
    );
  });

  it("rejects if the server hangs up at the handshake", async () => {
    await using server = await FakeServer.start();
    await using zk = await connect(server.servers);
    server.isHangingUp = true;

    await assertRejects(
      () => expireSession(zk, server.servers),
      Error,
      "the server hung up",
    );
    server.isHangingUp = false;
  });

  it("rejects if the server does not answer in time", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using zk = await connect(server.servers);
    proxy.blackHole();

    await assertRejects(
      () => expireSession(zk, proxy.servers, { timeout: 20 }),
      Error,
      "no answer within 20 ms",
    );
  });

  it("rejects if nobody listens", async () => {
    await using server = await FakeServer.start();
    const nobody = await FakeServer.start();
    await using zk = await connect(server.servers);
    await nobody[Symbol.asyncDispose]();

    await assertRejects(
      () => expireSession(zk, nobody.servers),
      Error,
      "ECONNREFUSED",
    );
  });
});
