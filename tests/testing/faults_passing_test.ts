// FaultProxy without faults: what passes, what is told of it, how it ends.
// Needs no ZooKeeper: the server is a scripted one.
// Run with Deno's leak checks, which see what close() left behind.

import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { FaultProxy } from "../../testing/mod.ts";
import { FakeServer } from "./fake_server.ts";
import { brief, hello, Talker, until } from "./talker.ts";

describe("FaultProxy without faults", () => {
  it("packets name each request, and each reply by its request", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = new Talker(proxy.port);

    await talker.greet();
    talker.ask(["create", "/a"], ["ping"], ["create", "/a"]);
    await talker.take(3);

    assertEquals(proxy.packets.map(brief), [
      "request connect null",
      "reply connect null 0",
      "request create 1",
      "request ping -2",
      "request create 2",
      "reply create 1 0",
      "reply ping -2 0",
      "reply create 2 -110",
    ]);
    assertEquals(proxy.packets.map(({ index }) => index), [
      ...proxy.packets.keys(),
    ]);
  });

  it("packets name an event by its type", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    server.fire("deleted", "/a");
    await talker.next();

    assertEquals(brief(proxy.packets[2]), "event deleted -1");
  });

  it("packets carry -112 for the handshake of a session that is over", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = new Talker(proxy.port);

    talker.write(hello(77n));
    await talker.next();

    assertEquals(brief(proxy.packets[1]), "reply connect null -112");
  });

  it("packets count connections from 0 in the order of their coming", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);

    await using first = await new Talker(proxy.port).greet();
    await using second = await new Talker(proxy.port).greet();
    first.ask(["ping"]);
    await first.next();
    second.ask(["ping"]);
    await second.next();

    const pings = proxy.packets.filter(({ op }) => op === "ping");
    assertEquals(pings.map(({ connection }) => connection), [0, 0, 1, 1]);
    assertEquals(proxy.connections, 2);
  });

  it("count() counts by direction and operation, from clear() on", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    const greeting = proxy.count();
    proxy.clear();
    talker.ask(["create", "/a"], ["ping"]);
    await talker.take(2);

    assertEquals(greeting, 2);
    assertEquals(proxy.count(), 4);
    assertEquals(proxy.count("request"), 2);
    assertEquals(proxy.count("reply", "create"), 1);
    assertEquals(proxy.count(undefined, "ping"), 2);
  });

  it("chunks count writes that are apart in time, not their packets", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.clear();
    talker.ask(["create", "/a"], ["create", "/b"]);
    await talker.take(2);
    talker.ask(["ping"]);
    await talker.next();

    assertEquals(proxy.chunks, 2);
  });

  it("a packet that comes byte by byte is passed in one piece", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = new Talker(proxy.port);

    const bytes = hello();
    for (let at = 0; at < bytes.length; at++) {
      talker.write(bytes.subarray(at, at + 1));
      await until(() => proxy.chunks > at);
    }

    assertEquals(await talker.next(), "connect");
    assertEquals(proxy.count("request"), 1);
  });

  it("a packet of 5 MB is passed to a client that hangs up its side at once", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();
    server.dataLength = 5_000_000;

    talker.ask(["getData"]);
    talker.finish();

    assertEquals(await talker.rest(), ["1", "end", "closed"]);
  });

  it("a client that reads late gets everything that piled up", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();
    server.dataLength = 5_000_000;

    talker.pause();
    talker.ask(["getData"], ["getData"], ["getData"], ["getData"]);
    await until(() => proxy.count("reply", "getData") > 0);
    talker.resume();

    assertEquals(await talker.take(4), ["1", "2", "3", "4"]);
  });

  it("four-letter words and their answers are passed as they are", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = new Talker(proxy.port, { raw: true });

    talker.write(new TextEncoder().encode("ruok"));
    talker.finish();

    assertEquals(await talker.rest(), ["imok", "end", "closed"]);
    assertEquals(proxy.count(), 0);
  });

  it("the end of a client comes to the server behind its last request", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    talker.ask(["create", "/a"]);
    talker.finish();
    await talker.rest();

    assertEquals(server.heard, ["connect", "create", "end"]);
    await until(() => proxy.connections === 0);
  });

  it("the end of the server comes to a client behind the last reply", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    server.fire("created", "/a");
    server.finish();

    assertEquals(await talker.take(2), ["-1", "end"]);
  });

  it("the reset of a client comes to the server", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    const talker = await new Talker(proxy.port).greet();

    await talker[Symbol.asyncDispose]();

    await until(() => server.connections === 0);
    assertEquals(server.heard, ["connect", "reset"]);
  });

  it("a client is reset if nobody listens at the target", async () => {
    const server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await server[Symbol.asyncDispose]();

    await using talker = new Talker(proxy.port);

    assertEquals(await talker.rest(), ["reset"]);
  });

  it("bytes that are no packets end the connection", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    talker.write(new Uint8Array(8).fill(255));

    assertEquals(await talker.rest(), ["reset"]);
  });
});

describe("FaultProxy.start()", () => {
  it("listens on the port it is given, and rejects if that is taken", async () => {
    const first = await FaultProxy.start("127.0.0.1:1");
    const { port } = first;
    await assertRejects(() => FaultProxy.start("127.0.0.1:1", { port }));
    await first.close();

    await using second = await FaultProxy.start("127.0.0.1:1", { port });

    assertEquals(second.servers, `127.0.0.1:${port}`);
  });

  it("rejects with a TypeError for anything but one server", async () => {
    for (const target of ["a:1,b:1", "a:1/chroot", "", "a:b"]) {
      await assertRejects(() => FaultProxy.start(target), TypeError);
    }
  });
});

describe("FaultProxy.packet()", () => {
  it("resolves with the next packet that fits and is handed on", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.dropReply("create");
    const reply = proxy.packet(({ direction, op }) =>
      direction === "reply" && op === "create"
    );
    talker.ask(["create", "/a"], ["ping"], ["create", "/b"]);

    assertEquals(brief(await reply), "reply create 2 0");
  });

  it("rejects if the predicate throws", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = new Talker(proxy.port);

    const packet = proxy.packet(() => {
      throw new RangeError("a mistake");
    });
    await talker.greet();

    await assertRejects(() => packet, RangeError, "a mistake");
  });

  it("rejects if the proxy is closed, before or after", async () => {
    const proxy = await FaultProxy.start("127.0.0.1:1");

    const packet = proxy.packet(() => true);
    await proxy.close();

    await assertRejects(() => packet, Error, "closed");
    await assertRejects(() => proxy.packet(() => true), Error, "closed");
  });
});

describe("FaultProxy.close()", () => {
  it("resets both sides, and may be called twice", async () => {
    await using server = await FakeServer.start();
    const proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    await Promise.all([proxy.close(), proxy.close()]);
    await until(() => server.connections === 0);

    assertEquals(await talker.rest(), ["reset"]);
    assertEquals(proxy.connections, 0);
    assertEquals(server.heard, ["connect", "reset"]);
  });
});
