// What TestServer can do to itself and to its network, and what a real client makes of it; and how tests look on.
// On virtual time and in memory; what differs over TCP is in server_tcp_test.ts.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { bytes } from "../protocol/wire.ts";
import { Stage } from "./raw.ts";

describe("TestServer, looking on", () => {
  it("znode() shows a znode as it is, and undefined for none", async () => {
    await using stage = await Stage.start();
    const zk = await stage.client();
    await stage.clock.until(zk.create("/a", "data"));
    for (const name of ["c", "b"]) {
      await stage.clock.until(zk.create(`/a/${name}`));
    }

    const znode = stage.server.znode("/a")!;

    assertEquals(znode.data, bytes("data"));
    assertEquals(znode.acl, [{ perms: 31, scheme: "world", id: "anyone" }]);
    assertEquals(znode.children, ["b", "c"]);
    assertEquals(znode.stat, await stage.clock.until(zk.exists("/a")));
    assertEquals(stage.server.znode("/no"), undefined);
  });

  it("paths() are sorted and without those of ZooKeeper itself", async () => {
    await using stage = await Stage.start();
    const zk = await stage.client();

    for (const path of ["/zookeepers", "/a", "/a/b"]) {
      await stage.clock.until(zk.create(path));
    }

    assertEquals(stage.server.paths(), ["/a", "/a/b", "/zookeepers"]);
  });

  it("sessions and connections count what stands", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const [a, b] = [await stage.client(), await stage.client()];
    const both = [server.sessions, server.connections];

    await clock.until(a.close());

    assertEquals(both, [[a.session.id, b.session.id], 2]);
    assertEquals([server.sessions, server.connections], [[b.session.id], 1]);
  });

  it("watches() counts all, or those on one path", async () => {
    await using stage = await Stage.start();
    const zk = await stage.client();
    await stage.clock.until(zk.exists("/a", { watch() {} }));
    await stage.clock.until(zk.getChildren("/", { watch() {} }));

    const { server } = stage;

    assertEquals([server.watches(), server.watches("/a")], [2, 1]);
  });

  it("requests grow until clear(), and count() counts them by operation", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client();
    await clock.until(zk.exists("/"));
    await clock.until(zk.exists("/a"));
    const before = [
      server.count(),
      server.count("exists"),
      server.requests.length,
    ];

    server.clear();
    await clock.until(zk.exists("/"));

    assertEquals(before, [3, 2, 3]);
    assertEquals(server.requests.map(({ index, op }) => [index, op]), [
      [3, "exists"],
    ]);
  });

  it("without a port it has a name only its transport understands", async () => {
    await using stage = await Stage.start();

    const { port, servers } = stage.server;

    assertEquals([port, servers], [0, "embedded"]);
  });
});

describe("TestServer, faults of the server", () => {
  it("expire() ends a session: its ephemeral znodes go and its client gets another", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client();
    const { session } = zk;
    await clock.until(zk.create("/e", null, { mode: "ephemeral" }));

    const answers = [server.expire(session), server.expire(session.id)];
    await clock.pass(500);
    await clock.until(zk.create("/p"));

    assertEquals(answers, [true, false]);
    assertEquals([session.state, server.paths()], ["expired", ["/p"]]);
  });

  it("freeze(): nothing is answered and nothing expires; thaw() serves what came, and sessions live on by it", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client({ sessionTimeout: 4000 });
    const { session } = zk;
    await clock.until(zk.create("/e", null, { mode: "ephemeral" }));
    server.freeze();
    const late = zk.create("/late").then(() => "created", (e) => e.code);

    await clock.pass(60_000);
    const meanwhile = [server.paths(), session.state, server.sessions];
    server.thaw();
    await clock.pass(1);
    const served = server.paths();
    await clock.pass(5000);

    assertEquals(meanwhile, [["/e"], "expired", [session.id]]);
    assertEquals([served, server.paths()], [["/e", "/late"], ["/late"]]);
    assertEquals(await late, "ConnectionLoss");
  });

  it("thaw(): who said nothing meanwhile is expired", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached({ timeOut: 1000 });
    stage.server.freeze();

    await stage.clock.pass(5000);
    const before = stage.server.sessions.length;
    stage.server.thaw();
    await stage.clock.pass(0);

    assertEquals([before, stage.server.sessions, raw.isClosed], [1, [], true]);
  });

  it("a short freeze costs a client nothing but time", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client({ sessionTimeout: 9000 });
    server.freeze();
    const asked = zk.create("/a");

    await clock.pass(2000);
    server.thaw();
    const { path } = await clock.until(asked);

    assertEquals([path, server.count("connect")], ["/a", 1]);
  });

  it("setCounter() makes the next sequential name", async () => {
    await using stage = await Stage.start();
    const zk = await stage.client();
    await stage.clock.until(zk.create("/q"));
    const create = () =>
      stage.clock.until(
        zk.create("/q/n-", null, { mode: "persistent-sequential" }),
      );

    stage.server.setCounter("/q", 2 ** 31 - 2);

    assertEquals((await create()).path, "/q/n-2147483646");
    assertEquals((await create()).path, "/q/n-2147483647");
    assertEquals(await stage.outcome(create()), "NodeExists");
  });

  it("setCounter() throws for what has no 32 bits, and for a znode that is not there", async () => {
    await using stage = await Stage.start();

    for (const next of [2 ** 31, 0.5, NaN]) {
      assertThrows(() => stage.server.setCounter("/", next), RangeError);
    }
    assertThrows(() => stage.server.setCounter("/no", 1), Error, "not there");
  });

  it("reap() removes emptied containers and old TTL nodes, and nothing else", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client();
    for (const path of ["/never", "/emptied", "/full"]) {
      await clock.until(zk.create(path, null, { mode: "container" }));
    }
    for (const path of ["/emptied/x", "/full/x"]) {
      await clock.until(zk.create(path));
    }
    await clock.until(zk.delete("/emptied/x"));
    for (
      const [path, ttl] of [["/old", 500], ["/parent", 500], [
        "/young",
        5000,
      ]] as const
    ) {
      await clock.until(zk.create(path, null, { mode: "persistent-ttl", ttl }));
    }
    await clock.until(zk.create("/parent/x"));
    const deleted: string[] = [];
    await clock.until(
      zk.exists("/old", { watch: ({ type }) => deleted.push(type) }),
    );
    await clock.pass(1000);

    const reaped = server.reap();
    await clock.pass(1);

    assertEquals(reaped.sort(), ["/emptied", "/old"]);
    assertEquals(deleted, ["deleted"]);
    assertEquals(server.reap(), []);
  });

  it("reaps by itself every reapInterval", async () => {
    await using stage = await Stage.start({ reapInterval: 1000 });
    const zk = await stage.client();
    const options = { mode: "persistent-ttl", ttl: 500 } as const;
    await stage.clock.until(zk.create("/t", null, options));

    await stage.clock.pass(2000);

    assertEquals(stage.server.paths(), []);
  });

  it("without ttl, createTTL is refused and the connection stays", async () => {
    await using stage = await Stage.start({ ttl: false });
    const zk = await stage.client();
    const options = { mode: "persistent-ttl", ttl: 500 } as const;

    const outcome = await stage.outcome(zk.create("/t", null, options));

    assertEquals([outcome, stage.server.connections], ["Unimplemented", 1]);
  });
});

describe("TestServer, faults of the network", () => {
  it("cut() ends all connections, and clients come back", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const [a, b] = [await stage.client(), await stage.client()];

    server.cut();
    const none = server.connections;
    await clock.until(Promise.all([a.exists("/"), b.exists("/")]));

    assertEquals([none, server.connections, server.sessions.length], [0, 2, 2]);
  });

  it("refuseConnections() lets nobody in until it is off", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client();
    server.refuseConnections();
    server.cut();

    await clock.pass(5000);
    const refused = [server.connections, zk.session.state];
    server.refuseConnections(false);
    await clock.until(zk.exists("/"));

    assertEquals(refused, [0, "disconnected"]);
    assertEquals(server.connections, 1);
  });

  it("halfOpen(): the client notices by silence, and its session lives on", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client({ sessionTimeout: 9000 });
    const asked = zk.create("/a").then(() => "created", (e) => e.code);
    await clock.until(asked);

    server.halfOpen();
    const standing = server.connections;
    const start = clock.monotonic();
    await clock.until(zk.exists("/"));

    assertEquals([standing, server.sessions], [0, [zk.session.id]]);
    assert(clock.monotonic() - start > 3000, "it took silence to notice");
  });

  it("halfOpen() spares connections made later; heal() ends those that are half open", async () => {
    await using stage = await Stage.start();
    const dead = await stage.attached();
    stage.server.halfOpen();
    const alive = await stage.attached();
    await dead.say(bytes("anything"));
    const before = [dead.isClosed, alive.isClosed];

    stage.server.heal();
    await stage.clock.pass(1);

    assertEquals(before, [false, false]);
    assertEquals([dead.isClosed, alive.isClosed], [true, false]);
  });

  it("delay() holds back what comes and what goes, in order, and 0 ends that", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client();
    const took = async (asked: Promise<unknown>) => {
      const start = clock.monotonic();
      await clock.until(asked);
      return clock.monotonic() - start;
    };

    server.delay(200);
    const slow = await took(Promise.all([zk.exists("/"), zk.exists("/a")]));
    server.delay(0);
    const fast = await took(zk.exists("/"));

    assertEquals([slow, fast], [400, 0]);
  });

  it("delay() throws for what is no time", async () => {
    await using stage = await Stage.start();

    for (const ms of [-1, NaN, Infinity]) {
      assertThrows(() => stage.server.delay(ms), RangeError);
    }
  });

  it("crumble() sends in pieces, which a client puts together", async () => {
    await using stage = await Stage.start();
    const zk = await stage.client();
    await stage.clock.until(zk.create("/a", "data"));
    stage.server.crumble(1);

    const { data } = await stage.clock.until(zk.getData("/a"));

    assertEquals(data, bytes("data"));
  });

  it("crumble() sends pieces of that size at most", async () => {
    await using stage = await Stage.start();
    stage.server.crumble(10);
    const sizes: number[] = [];
    const raw = await stage.raw();
    const { data } = raw.handlers;
    raw.handlers.data = (chunk) => {
      sizes.push(chunk.length);
      data(chunk);
    };

    stage.server.garble(new Uint8Array(25));
    await stage.clock.pass(1);

    assertEquals(sizes, [10, 10, 5]);
  });

  it("crumble() throws for pieces that are none", async () => {
    await using stage = await Stage.start();

    for (const size of [0, -1, NaN]) {
      assertThrows(() => stage.server.crumble(size), RangeError);
    }
  });

  it("garble(): the client gives the connection up and comes back", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client();

    server.garble(new Uint8Array([0xff, 0xff, 0xff, 0xfe, 1, 2, 3]));
    await clock.pass(1);
    await clock.until(zk.exists("/"));

    assertEquals([server.count("connect"), zk.session.state], [2, "connected"]);
  });

  it("heal() ends everything", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client();
    server.refuse("exists", "NoAuth").catch(() => {});
    server.rule = () => "NoAuth";
    server.reception = "hang-up";
    server.delay(60_000);
    server.crumble(1);
    server.refuseConnections();
    server.freeze();
    const asked = zk.exists("/");
    await clock.pass(1);

    server.heal();
    const start = clock.monotonic();
    const stat = await clock.until(asked);
    const other = await stage.client();

    assertEquals([stat !== null, clock.monotonic() - start], [true, 0]);
    assertEquals([server.rule, server.reception], [undefined, "normal"]);
    assertEquals(other.session.state, "connected");
  });

  it("close() ends connections, may be called twice, and leaves no timers", async () => {
    const stage = await Stage.start();
    const raw = await stage.attached();
    const { server, clock } = stage;

    await clock.until(Promise.all([server.close(), server.close()]));
    await clock.pass(1);

    assertEquals([raw.isClosed, server.connections, clock.pending], [
      true,
      0,
      0,
    ]);
  });
});
