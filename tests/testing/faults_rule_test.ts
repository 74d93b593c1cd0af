// FaultProxy.rule and the faults that choose packets: what becomes of each, on both sides.
// Needs no ZooKeeper: the server is a scripted one.
// Run with Deno's leak checks, which see what close() left behind.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect, ConnectionLossError } from "../../protocol/mod.ts";
import { FaultProxy } from "../../testing/mod.ts";
import { FakeServer } from "./fake_server.ts";
import { brief, hello, Talker, until } from "./talker.ts";

describe("FaultProxy.rule", () => {
  it("drop takes one packet out of the stream", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.rule = ({ xid }) => xid === 2 ? "drop" : "pass";
    talker.ask(["create", "/a"], ["create", "/b"], ["create", "/c"]);

    assertEquals(await talker.take(2), ["1", "3"]);
    assertEquals([...server.znodes], ["/a", "/c"]);
    assertEquals(proxy.packets.map(brief)[3], "request create 2 lost");
  });

  it("cut ends both sides without the packet, but with all before it", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.rule = ({ xid }) => xid === 3 ? "cut" : undefined;
    talker.ask(["create", "/a"], ["create", "/b"], ["create", "/c"]);
    await talker.rest();
    await until(() => server.connections === 0);

    assertEquals([...server.znodes], ["/a", "/b"]);
  });

  it("cut of a reply leaves the client those before it", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.rule = ({ direction, xid }) =>
      direction === "reply" && xid === 2 ? "cut" : "pass";
    talker.ask(["create", "/a"], ["create", "/b"]);
    const heard = await talker.rest();

    assertEquals(heard[0], "1");
    assert(!heard.includes("2"));
    assertEquals([...server.znodes], ["/a", "/b"]);
  });

  it("pass-then-cut of a request lets the server have it, and the client no reply", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.rule = ({ op }) => op === "create" ? "pass-then-cut" : "pass";
    talker.ask(["create", "/a"]);

    assertEquals(await talker.rest(), ["reset"]);
    await until(() => server.znodes.has("/a"));
  });

  it("pass-then-cut of a reply lets the client have it whole, even 5 MB", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();
    server.dataLength = 5_000_000;

    proxy.rule = ({ direction, op }) =>
      direction === "reply" && op === "getData" ? "pass-then-cut" : "pass";
    talker.ask(["getData"], ["ping"]);

    assertEquals((await talker.take(2))[0], "1");
    await until(() => server.connections === 0);
  });

  it("is asked once the packet is counted", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.rule = () => proxy.count("request", "create") === 2 ? "cut" : "pass";
    talker.ask(["create", "/a"], ["create", "/b"]);
    await talker.rest();

    assertEquals([...server.znodes], ["/a"]);
  });

  it("that throws cuts the connection and makes close() reject", async () => {
    await using server = await FakeServer.start();
    const proxy = await FaultProxy.start(server.servers);
    await using talker = new Talker(proxy.port);

    proxy.rule = () => {
      throw new RangeError("a mistake");
    };
    talker.write(hello());
    const heard = await talker.rest();

    assertEquals(heard, ["reset"]);
    await assertRejects(() => proxy.close(), RangeError, "a mistake");
  });

  it("that answers nonsense makes close() reject", async () => {
    await using server = await FakeServer.start();
    const proxy = await FaultProxy.start(server.servers);
    await using talker = new Talker(proxy.port);

    proxy.rule = () => "keep" as "pass";
    talker.write(hello());
    await talker.rest();

    await assertRejects(() => proxy.close(), TypeError, "keep");
  });
});

describe("FaultProxy.dropReply()", () => {
  it("drops one reply to that operation, and no request", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    const dropped = proxy.dropReply("create");
    talker.ask(["ping"], ["create", "/a"], ["create", "/b"]);

    assertEquals(await talker.take(2), ["-2", "2"]);
    assertEquals(brief(await dropped), "reply create 1 0 lost");
    assertEquals([...server.znodes], ["/a", "/b"]);
  });

  it("cuts as well with thenCut, so that a client learns that it may have happened", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using zk = await connect(proxy.servers);

    const dropped = proxy.dropReply("create", { thenCut: true });
    const error = await assertRejects(
      () => zk.create("/a"),
      ConnectionLossError,
    );

    assertEquals(error.outcome, "unknown");
    assertEquals((await dropped).err, 0);
    assert(await zk.exists("/a"));
  });

  it("rejects if heal() comes first, which nobody has to hear", async () => {
    await using proxy = await FaultProxy.start("127.0.0.1:1");

    const unheard = proxy.dropReply("create");
    const dropped = proxy.dropReply("create");
    proxy.heal();

    await assertRejects(() => dropped, Error, "healed first");
    assert(unheard instanceof Promise);
  });
});

describe("FaultProxy.dropReplies()", () => {
  it("drops every reply to that operation until heal()", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.dropReplies("create");
    talker.ask(["create", "/a"], ["create", "/b"], ["ping"]);
    const heard = await talker.next();
    proxy.heal();
    talker.ask(["create", "/c"]);

    assertEquals(heard, "-2");
    assertEquals(await talker.next(), "3");
    assertEquals(server.znodes.size, 3);
  });
});

describe("FaultProxy.cutAfter()", () => {
  it("hands on exactly that many packets", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    const last = proxy.cutAfter(2);
    talker.ask(["create", "/a"], ["create", "/b"], ["create", "/c"]);
    await talker.rest();
    await until(() => server.connections === 0);

    assertEquals(brief(await last), "request create 2");
    assertEquals([...server.znodes], ["/a", "/b"]);
  });

  it("does not count what is dropped", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using talker = await new Talker(proxy.port).greet();

    proxy.cutAfter(3);
    proxy.dropReplies("ping");
    talker.ask(["ping"], ["create", "/a"]);

    assertEquals((await talker.take(2))[0], "1");
  });

  it("leaves a connection alone that comes afterwards", async () => {
    await using server = await FakeServer.start();
    await using proxy = await FaultProxy.start(server.servers);
    await using first = new Talker(proxy.port);

    const last = proxy.cutAfter(1);
    first.write(hello());
    await last;
    await using second = await new Talker(proxy.port).greet();
    second.ask(["ping"]);

    assertEquals(await second.next(), "-2");
  });

  it("throws a RangeError for a number that cannot be", async () => {
    await using proxy = await FaultProxy.start("127.0.0.1:1");

    for (const count of [0, -1, 1.5, NaN]) {
      assertThrows(() => proxy.cutAfter(count), RangeError);
    }
  });
});
