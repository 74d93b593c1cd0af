// FaultProxy: faults of whole connections, and what both sides see of them.
// Needs no ZooKeeper: the server is a scripted one.
// Run with Deno's leak checks, which see what close() left behind.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { FaultProxy } from "../../testing/mod.ts";
import { FakeServer } from "./fake_server.ts";
import { hello, Talker, until } from "./talker.ts";

describe("FaultProxy.cut()", () => {
  it("resets every connection on both sides, and takes new ones", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using first = await new Talker(proxy.port).greet();
    await using second = await new Talker(proxy.port).greet();

    proxy.cut();
    const heard = [await first.rest(), await second.rest()];
    await until(() => server.connections === 0);
    await using third = await new Talker(proxy.port).greet();

    assertEquals(heard, [["reset"], ["reset"]]);
    assertEquals(server.heard, [
      "connect",
      "connect",
      "reset",
      "reset",
      "connect",
    ]);
    assert(third);
  });
});

describe("FaultProxy.blackHole()", () => {
  it("swallows both ways, and heal() resets what has a hole", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.blackHole();
    talker.ask(["create", "/a"]);
    server.fire("created", "/a");
    await until(() => proxy.count() === 4);
    proxy.heal();

    assertEquals(await talker.rest(), ["reset"]);
    await until(() => server.connections === 0);
    assertEquals(server.heard, ["connect", "reset"]);
  });

  it("to-server lets the client hear, but not speak", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.blackHole("to-server");
    talker.ask(["create", "/a"]);
    await until(() => proxy.count("request", "create") === 1);
    server.fire("deleted", "/b");

    assertEquals(await talker.next(), "-1");
    assertEquals(server.heard, ["connect"]);
  });

  it("to-client lets the client speak, but not hear", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.blackHole("to-client");
    talker.ask(["create", "/a"]);
    await until(() => proxy.count("reply", "create") === 1);
    proxy.heal();

    assertEquals(server.heard.slice(0, 2), ["connect", "create"]);
    assertEquals(await talker.rest(), ["reset"]);
  });

  it("accepts new connections, of which the server hears nothing", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);

    proxy.blackHole();
    await using talker = new Talker(proxy.port);
    talker.write(hello());
    await until(() => proxy.count("request", "connect") === 1);
    proxy.heal();

    assertEquals(await talker.rest(), ["reset"]);
    assertEquals(server.heard, []);
  });

  it("hides from the server that the client hung up", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.blackHole();
    talker.ask(["ping"]);
    await until(() => proxy.count("request", "ping") === 1);
    await talker[Symbol.asyncDispose]();
    await using other = new Talker(proxy.port);
    other.write(hello());
    await until(() => proxy.count("request", "connect") === 2);

    assertEquals(server.heard, ["connect"]);
    assertEquals(server.connections, 1);
  });

  it("keeps a connection that said nothing meanwhile", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.blackHole();
    proxy.heal();
    talker.ask(["ping"]);

    assertEquals(await talker.next(), "-2");
  });

  it("swallows four-letter words", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = new Talker(proxy.port, { raw: true });

    proxy.blackHole();
    talker.write(new TextEncoder().encode("ruok"));
    await until(() => proxy.chunks === 1);
    proxy.heal();

    assertEquals(await talker.rest(), ["reset"]);
    assertEquals(server.heard.includes("ruok"), false);
  });
});

describe("FaultProxy.delay()", () => {
  it("holds back each way for that long", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.delay(30);
    const start = performance.now();
    talker.ask(["ping"]);
    await talker.next();

    assert(performance.now() - start >= 60);
  });

  it("keeps the order when it is taken back", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.delay(30, "to-server");
    talker.ask(["create", "/a"]);
    await until(() => proxy.chunks === 2);
    proxy.delay(0);
    talker.ask(["create", "/b"]);
    talker.finish();

    assertEquals(await talker.rest(), ["1", "2", "end", "closed"]);
    assertEquals(server.heard, ["connect", "create", "create", "end"]);
  });

  it("lets heal() send at once what was held back", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.delay(1_000_000);
    talker.ask(["ping"], ["create", "/a"]);
    await until(() => proxy.chunks === 2);
    proxy.heal();

    assertEquals(await talker.take(2), ["-2", "1"]);
  });

  it("leaves no timer to close()", async () => {
    await using server = await FakeServer.start();
    const proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.delay(1_000_000);
    talker.ask(["ping"]);
    await until(() => proxy.chunks === 2);
    await proxy.close();

    assertEquals(await talker.rest(), ["reset"]);
  });

  it("throws a RangeError for a time that cannot be", async () => {
    await using proxy = await FaultProxy.start("127.0.0.1:1");

    for (const ms of [-1, NaN, Infinity]) {
      assertThrows(() => proxy.delay(ms), RangeError);
    }
  });
});

describe("FaultProxy.refuse()", () => {
  it("ends new connections at once, and no others", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using old = await new Talker(proxy.port).greet();

    proxy.refuse();
    await using refused = new Talker(proxy.port);
    const heard = await refused.rest();
    old.ask(["ping"]);

    assertEquals(heard, ["reset"]);
    assertEquals(await old.next(), "-2");
  });

  it("is over with refuse(false)", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);

    proxy.refuse();
    proxy.refuse(false);
    await using talker = new Talker(proxy.port);
    talker.write(hello());

    assertEquals(await talker.next(), "connect");
  });
});

describe("FaultProxy.heal()", () => {
  it("takes the rule away", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.rule = () => "drop";
    talker.ask(["ping"]);
    await until(() => proxy.count("request", "ping") === 1);
    proxy.heal();
    talker.ask(["create", "/a"]);

    assertEquals(await talker.next(), "1");
  });
});
