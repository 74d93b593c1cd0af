// TestServer over TCP and real time: what differs from memory.
// Waits for conditions, with a deadline.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect } from "../../protocol/mod.ts";
import { getData } from "../../protocol/operations.ts";
import { TestServer } from "../../testing/mod.ts";
import { dial } from "../../testing/sockets.ts";
import { bytes } from "../protocol/wire.ts";
import { helloFrame, requestFrame } from "./raw.ts";
import { hello, Talker, until, within } from "./talker.ts";

describe("TestServer, over TCP", () => {
  it("is found at `servers`, and serves", async () => {
    await using server = await TestServer.start();
    await using zk = await connect(server.servers);

    await zk.create("/a", "data");

    assertEquals(server.servers, `127.0.0.1:${server.port}`);
    assertEquals((await zk.getData("/a")).data, bytes("data"));
  });

  it("can be reached in memory too", async () => {
    await using server = await TestServer.start();
    const { transport } = server;
    await using far = await connect(server.servers);
    await using near = await connect("anywhere", { transport });

    await far.create("/a");

    const names = await near.getChildren("/");
    assertEquals(names.sort(), ["a", "zookeeper"]);
  });

  it("start() rejects if the port is taken", async () => {
    await using server = await TestServer.start();
    const { port } = server;

    await assertRejects(() => TestServer.start({ port }), Error, "EADDRINUSE");
  });

  it("answers words to whoever asks in plain text", async () => {
    await using server = await TestServer.start();
    await using talker = new Talker(server.port, { raw: true });

    talker.write(bytes("ruok"));

    assertEquals(await talker.rest(), ["imok", "end", "closed"]);
  });

  it("serverVersion() of a client learns the version", async () => {
    await using server = await TestServer.start({ version: "3.8" });
    await using zk = await connect(server.servers);

    const version = await zk.serverVersion();

    assertEquals(version?.startsWith("3.8.0"), true);
  });

  it("does not serve a client that does not read, until it reads", async () => {
    await using server = await TestServer.start();
    await using zk = await connect(server.servers);
    await zk.create("/big", new Uint8Array(1_000_000));
    let heard = 0;
    let isGone = false;
    const wire = dial({ host: "127.0.0.1", port: server.port }, {
      data: (bytes) => void (heard += bytes.length),
      closed: () => void (isGone = true),
    });
    wire.pause();
    const request = { path: "/big", watch: false };

    wire.write(helloFrame());
    for (let xid = 1; xid <= 100; xid++) {
      wire.write(requestFrame(xid, getData, request));
    }
    await until(() => server.count("getData") > 10);
    await zk.exists("/");
    const served = server.count("getData");
    wire.resume();
    await until(() => heard > 100_000_000);

    assert(served < 50, `${served} were served`);
    assertEquals(server.count("getData"), 100);
    wire.reset();
    await until(() => isGone);
  });

  it("says goodbye politely to who is refused, and to who says goodbye", async () => {
    await using server = await TestServer.start();
    await using refused = new Talker(server.port);
    await using leaving = await new Talker(server.port).greet();

    refused.write(hello(77n));
    leaving.finish();

    assertEquals(await refused.rest(), ["connect", "end", "closed"]);
    assertEquals(await leaving.rest(), ["end", "closed"]);
  });

  it("forgets the connection of a client that is gone", async () => {
    await using server = await TestServer.start();
    {
      await using _talker = await new Talker(server.port).greet();
      assertEquals(server.connections, 1);
    }

    await until(() => server.connections === 0);

    assertEquals(server.sessions.length, 1);
  });

  it("cut() is a reset", async () => {
    await using server = await TestServer.start();
    await using talker = await new Talker(server.port).greet();

    server.cut();

    assertEquals(await talker.rest(), ["reset"]);
  });

  it("refuseConnections() resets who comes", async () => {
    await using server = await TestServer.start();
    server.refuseConnections();
    await using talker = new Talker(server.port);

    const heard = await talker.rest();

    assertEquals([heard.at(-1), server.connections], ["reset", 0]);
  });

  it("halfOpen() leaves a connection that says nothing, until heal()", async () => {
    await using server = await TestServer.start();
    await using talker = await new Talker(server.port).greet();

    server.halfOpen();
    talker.ask(["ping"]);
    const standing = server.connections;
    server.heal();

    assertEquals(standing, 0);
    assertEquals(await talker.rest(), ["reset"]);
  });

  it("freeze() keeps what comes meanwhile, as it came", async () => {
    await using server = await TestServer.start();
    await using talker = await new Talker(server.port).greet();
    server.freeze();
    talker.ask(["ping"]);
    talker.ask(["exists", "/"]);
    const served = server.count("ping");

    server.thaw();

    assertEquals([served, ...await talker.take(2)], [0, "-2", "1"]);
  });

  it("a session ends by silence in real time", async () => {
    await using server = await TestServer.start({ tick: 20 });
    await using zk = await connect(server.servers, { sessionTimeout: 40 });
    const { session } = zk;
    server.halfOpen();
    server.refuseConnections();

    await until(() => !server.sessions.includes(session.id));
    await until(() => session.state === "expired");
    server.refuseConnections(false);

    assertEquals(session.signal.aborted, true);
  });

  it("close() ends connections and leaves the port free", async () => {
    const server = await TestServer.start();
    await using talker = await new Talker(server.port).greet();
    const { port } = server;

    await within(server.close(), "TestServer does not close");

    assertEquals(await talker.rest(), ["reset"]);
    await using again = await TestServer.start({ port });
    assertEquals(again.port, port);
  });
});
