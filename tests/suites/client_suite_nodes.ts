// Reading, writing and deleting znodes; what else a server can be asked.
// Knows what each version can do; watches, ACLs and multi() have files of their own.
// Part of client_suite.ts.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe } from "@std/testing/bdd";
import { permissions } from "../../protocol/mod.ts";
import {
  assertRefused,
  isSince,
  tester,
  textOf,
  until,
  Wiretap,
} from "./tools.ts";
import type { Target } from "../targets.ts";

export function nodesSuite(target: Target): void {
  describe("Client.delete()", () => deleteTests(target));
  describe("Client.exists()", () => existsTests(target));
  describe("Client.getData() and setData()", () => dataTests(target));
  describe("Client.getChildren()", () => childrenTests(target));
  describe("Client.ensurePath()", () => ensureTests(target));
  describe("Client", () => otherTests(target));
}

function deleteTests(target: Target): void {
  const test = tester(target);

  test("removes the znode", async ({ zk, root }) => {
    await zk.create(`${root}/a`);

    await zk.delete(`${root}/a`);

    assertEquals(await zk.exists(`${root}/a`), null);
  });

  test("version: removes only that one", async ({ zk, root }) => {
    await zk.create(`${root}/a`);
    await zk.setData(`${root}/a`, "x");

    await assertRefused(
      () => zk.delete(`${root}/a`, { version: 0 }),
      "BadVersion",
    );
    assert(await zk.exists(`${root}/a`));
    await zk.delete(`${root}/a`, { version: 1 });

    assertEquals(await zk.exists(`${root}/a`), null);
  });

  test("leaves a znode with children alone: NotEmpty", async ({ zk, root }) => {
    await zk.create(`${root}/a`);
    await zk.create(`${root}/a/b`);

    await assertRefused(() => zk.delete(`${root}/a`), "NotEmpty");

    assertEquals((await zk.exists(`${root}/a`))!.numChildren, 1);
  });

  test("rejects with NoNode where there is nothing", async ({ zk, root }) => {
    await assertRefused(() => zk.delete(`${root}/a`), "NoNode");
  });
}

function existsTests(target: Target): void {
  const test = tester(target);

  test("answers null where there is nothing", async ({ zk, root }) => {
    assertEquals(await zk.exists(`${root}/a`), null);
  });

  test("answers a Stat whose every field moves as it should", async ({ zk, root }) => {
    const path = `${root}/a`;
    const { zxid: czxid } = await zk.create(path, "x");
    const before = (await zk.exists(path))!;
    const { mzxid } = await zk.setData(path, "four");
    const { acl } = await zk.getAcl(path);
    await zk.setAcl(path, acl);
    await zk.create(`${path}/b`);
    await zk.create(`${path}/c`);
    await zk.delete(`${path}/b`);
    const { zxid: pzxid } = await zk.create(`${path}/d`);

    const { ctime, mtime, ...rest } = (await zk.exists(path))!;

    // cversion counts creates and deletes of children: protocol.md §9.2.
    assertEquals(rest, {
      czxid,
      mzxid,
      version: 1,
      cversion: 4,
      aversion: 1,
      ephemeralOwner: 0n,
      dataLength: 4,
      numChildren: 2,
      pzxid,
    });
    assertEquals(ctime, before.ctime);
    assert(mtime >= ctime && Math.abs(Number(mtime) - Date.now()) < 600_000);
  });
}

function dataTests(target: Target): void {
  const test = tester(target);

  test("getData() rejects with NoNode where there is nothing", async ({ zk, root }) => {
    await assertRefused(() => zk.getData(`${root}/a`), "NoNode");
  });

  test("getData() of a large znode answers all of it", async ({ zk, root }) => {
    const data = crypto.getRandomValues(new Uint8Array(60_000));
    await zk.setData(root, data);

    assertEquals((await zk.getData(root)).data, data);
  });

  test("setData() answers the new Stat", async ({ zk, root }) => {
    const set = await zk.setData(root, "new");

    const { data, stat } = await zk.getData(root);
    assertEquals(textOf(data), "new");
    assertEquals(stat, set);
    assertEquals([stat.version, stat.dataLength], [1, 3]);
  });

  test("setData() can take the data away", async ({ zk, root }) => {
    await zk.setData(root, "x");

    await zk.setData(root, null);

    assertEquals((await zk.getData(root)).data, null);
  });

  test("setData() with a version replaces only that one", async ({ zk, root }) => {
    await zk.setData(root, "first", { version: 0 });

    await assertRefused(
      () => zk.setData(root, "second", { version: 0 }),
      "BadVersion",
    );

    assertEquals(textOf((await zk.getData(root)).data), "first");
  });

  test("setData() of the root is as good as of any znode", async ({ zk }) => {
    const { data } = await zk.getData("/");

    const { version } = await zk.setData("/", data);

    assertEquals((await zk.getData("/")).stat.version, version);
  });

  test("calls of one turn are done in the order in which they were made", async ({ zk, root }) => {
    const path = `${root}/a`;

    const [, set, read, , gone] = await Promise.all([
      zk.create(path, "1"),
      zk.setData(path, "2"),
      zk.getData(path),
      zk.delete(path),
      zk.exists(path),
    ]);

    assertEquals([set.version, textOf(read.data), gone], [1, "2", null]);
  });
}

function childrenTests(target: Target): void {
  const test = tester(target);

  test("answers the names of the children", async ({ zk, root }) => {
    for (const name of ["b", "a", "ü"]) await zk.create(`${root}/${name}`);

    assertEquals((await zk.getChildren(root)).sort(), ["a", "b", "ü"]);
  });

  test("of the root has the server's own znode", async ({ zk }) => {
    assert((await zk.getChildren("/")).includes("zookeeper"));
  });

  test("answers no names where there are no children", async ({ zk, root }) => {
    assertEquals(await zk.getChildren(root), []);
  });

  test("rejects with NoNode where there is nothing", async ({ zk, root }) => {
    await assertRefused(() => zk.getChildren(`${root}/a`), "NoNode");
  });

  test("2: answers the parent's Stat as well", async ({ zk, root }) => {
    await zk.create(`${root}/a`);

    const { children, stat } = await zk.getChildren2(root);

    assertEquals(children, ["a"]);
    assertEquals(stat, (await zk.exists(root))!);
  });
}

function ensureTests(target: Target): void {
  const test = tester(target);

  test("makes what is missing, and leaves alone what is there", async ({ zk, root }) => {
    await zk.create(`${root}/a`, "kept");

    await zk.ensurePath(`${root}/a/b/c`);
    await zk.ensurePath(`${root}/a/b/c`);

    assertEquals(textOf((await zk.getData(`${root}/a`)).data), "kept");
    assert(await zk.exists(`${root}/a/b/c`));
  });

  test("makes the chroot, where it is missing", async ({ zk, root, open }) => {
    const inside = await open({ chroot: `${root}/app/one` });
    await assertRefused(() => inside.create("/a"), "NoNode");

    await inside.ensurePath("/");
    await inside.create("/a");

    assert(await zk.exists(`${root}/app/one/a`));
  });

  test("may be called by many at once", async ({ zk, root, open }) => {
    const clients = [zk, await open(), await open()];

    await Promise.all(
      clients.flatMap((zk) =>
        ["/a/b/c", "/a/b/d", "/a/b/c/e"].map((path) =>
          zk.ensurePath(root + path)
        )
      ),
    );

    assertEquals((await zk.getChildren(`${root}/a/b`)).sort(), ["c", "d"]);
  });

  test("is one request where nothing is missing", async ({ open, root }) => {
    const tap = new Wiretap();
    const zk = await open({ onPacket: tap.onPacket });
    await zk.ensurePath(`${root}/a/b`);
    tap.clear();

    await zk.ensurePath(`${root}/a/b`);

    assertEquals(tap.sent, ["create"]);
  });

  test("needs no rights where nothing is missing", async ({ zk, root }) => {
    await zk.ensurePath(`${root}/a/b`);
    const perms = permissions.all & ~permissions.create;
    await zk.setAcl(`${root}/a`, [{ perms, scheme: "world", id: "anyone" }]);

    await zk.ensurePath(`${root}/a/b`);

    await assertRefused(() => zk.ensurePath(`${root}/a/c`), "NoAuth");
  });
}

function otherTests(target: Target): void {
  const test = tester(target);

  test("sync() resolves, also where there is nothing", async ({ zk, root }) => {
    await zk.sync(root);
    await zk.sync(`${root}/nothing`);
  });

  test("ping() answers the time it took", async ({ zk }) => {
    const start = performance.now();

    const took = await zk.ping();

    // Not above 0: edge workers' clocks have whole milliseconds.
    assert(took >= 0 && took <= performance.now() - start, `${took} ms`);
  });

  test("serverVersion() is what the server says", async ({ zk }) => {
    const { session } = zk;

    const version = await zk.serverVersion();

    if (target.version !== "unknown") assertEquals(version, target.version);
    assertStrictEquals(zk.session, session);
    assertEquals(session.state, "connected");
  });

  test("session.timeout is what the server grants", async ({ open }) => {
    const zk = await open({ sessionTimeout: 100_000 });

    // Our servers grant from 400 ms to a minute.
    if (target.isOurs) assertEquals(zk.session.timeout, 60_000);
    else assert(zk.session.timeout > 0);
  });

  test("environment tells the time", async ({ zk }) => {
    const { environment } = zk;
    const start = environment.monotonic();

    await zk.ping();

    // Edge workers' clocks have whole milliseconds.
    await until("it passes", () => environment.monotonic() > start);
    assert(Math.abs(environment.wall() - Date.now()) < 1_000);
  });

  if (isSince(target, "3.5")) {
    test("getConfig() answers the configuration", async ({ zk }) => {
      const { data, stat } = await zk.getConfig();

      assertEquals(stat.dataLength, data?.length ?? 0);
    });
  } else {
    test("getConfig() rejects with NoNode: it came with 3.5", async ({ zk }) => {
      await assertRefused(() => zk.getConfig(), "NoNode");
    });
  }

  if (isSince(target, "3.6")) sinceThreeSix(target);
  if (isSince(target, "3.7")) {
    test("whoAmI() knows the address, and each credential", async ({ zk }) => {
      const before = await zk.whoAmI();

      await zk.addAuth({ scheme: "digest", auth: "anna:secret" });

      assertEquals(before.map(({ authScheme }) => authScheme), ["ip"]);
      // The server keeps them as a set, in any order.
      const after = await zk.whoAmI();
      after.sort((a, b) => a.authScheme < b.authScheme ? -1 : 1);
      assertEquals(after, [
        { authScheme: "digest", user: "anna" },
        before[0],
      ]);
    });
  }
}

function sinceThreeSix(target: Target): void {
  const test = tester(target);

  test("getEphemerals() answers those of this session alone", async ({ zk, root, open }) => {
    const other = await open();
    const mode = "ephemeral";
    await zk.create(`${root}/a`, "", { mode });
    await zk.create(`${root}/ab`, "", { mode });
    await zk.create(`${root}/persistent`);
    await other.create(`${root}/other`, "", { mode });

    const all = await zk.getEphemerals();
    const some = await zk.getEphemerals(`${root}/ab`);
    const none = await zk.getEphemerals(`${root}/b`);

    assertEquals(all.sort(), [`${root}/a`, `${root}/ab`]);
    assertEquals([some, none], [[`${root}/ab`], []]);
  });

  test("getAllChildrenNumber() counts the whole subtree", async ({ zk, root }) => {
    await zk.ensurePath(`${root}/a/b`);
    await zk.create(`${root}/c`);

    assertEquals(await zk.getAllChildrenNumber(root), 3);
    assertEquals(await zk.getAllChildrenNumber(`${root}/c`), 0);
  });

  test("getAllChildrenNumber() rejects with NoNode where there is nothing", async ({ zk, root }) => {
    await assertRefused(
      () => zk.getAllChildrenNumber(`${root}/a`),
      "NoNode",
    );
  });

  test("getEphemerals() rejects for what cannot begin a path", async ({ zk }) => {
    await assertRejects(() => zk.getEphemerals("a"), TypeError);
  });
}
