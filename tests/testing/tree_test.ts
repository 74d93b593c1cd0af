// The tree: every number of a Stat (reference, 9.2), the counter of creates (9.3), and taking everything back.
// No server: changes are applied as they are.

import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Stat } from "../../protocol/znode.ts";
import {
  type Change,
  type Kind,
  parentOf,
  type Stamp,
  statOf,
  Tree,
} from "../../testing/tree.ts";
import { bytes } from "../protocol/wire.ts";

const open = [{ perms: 31, scheme: "world", id: "anyone" }];
const closed = [{ perms: 0, scheme: "world", id: "anyone" }];
const modern = { isCounterWrapping: false, hasConfig: true };
const old = { isCounterWrapping: true, hasConfig: false };
const last = 2 ** 31 - 1;

/** A tree, and changes one after the other: the nth is transaction n at the time 1000n. */
class Play {
  readonly tree: Tree;
  #step = 0n;

  constructor(rules = modern) {
    this.tree = new Tree(rules);
  }

  get stamp(): Stamp {
    this.#step++;
    return { zxid: this.#step, time: Number(this.#step) * 1000 };
  }

  create(path: string, over: Partial<Change & { type: "create" }> = {}): this {
    const parent = this.tree.get(parentOf(path));
    const change: Change = {
      type: "create",
      path,
      data: null,
      acl: open,
      kind: "persistent",
      owner: 0n,
      ttl: 0,
      creates: ((parent?.creates ?? 0) + 1) | 0,
      ...over,
    };
    this.tree.apply(change, this.stamp);
    return this;
  }

  change(change: Change): this {
    this.tree.apply(change, this.stamp);
    return this;
  }

  stat(path: string): Stat {
    return statOf(this.tree.get(path)!);
  }

  /** Some numbers of a Stat. */
  numbers(path: string, ...names: (keyof Stat)[]): number[] {
    const stat = this.stat(path);
    return names.map((name) => Number(stat[name]));
  }

  /** All that can be seen of it. */
  dump(): unknown {
    const { tree } = this;
    const znodes = tree.paths().sort().map((path) => {
      const { children, ...rest } = tree.get(path)!;
      return { ...rest, children: [...children].sort() };
    });
    const owned = tree.owners().map((id) => [id, tree.ephemeralsOf(id)]);
    return { znodes, owned, count: tree.ephemeralCount };
  }
}

describe("Tree", () => {
  it("a fresh znode has the Stat of its create", () => {
    const play = new Play();

    play.create("/a", { data: bytes("12345") });

    assertEquals(play.stat("/a"), {
      czxid: 1n,
      mzxid: 1n,
      ctime: 1000n,
      mtime: 1000n,
      version: 0,
      cversion: 0,
      aversion: 0,
      ephemeralOwner: 0n,
      dataLength: 5,
      numChildren: 0,
      pzxid: 1n,
    });
  });

  it("set-data moves mzxid, mtime, version and dataLength, and nothing else", () => {
    const play = new Play().create("/a");
    const before = play.stat("/a");

    play.change({ type: "set-data", path: "/a", data: bytes("x") });

    const moved = { mzxid: 2n, mtime: 2000n, version: 1, dataLength: 1 };
    assertEquals(play.stat("/a"), { ...before, ...moved });
  });

  it("set-acl moves aversion, and nothing else", () => {
    const play = new Play().create("/a");
    const before = play.stat("/a");

    play.change({ type: "set-acl", path: "/a", acl: closed });

    assertEquals(play.stat("/a"), { ...before, aversion: 1 });
    assertEquals(play.tree.get("/a")!.acl, closed);
  });

  it("create of a child moves the parent's pzxid, cversion and numChildren, and nothing else", () => {
    const play = new Play().create("/a");
    const before = play.stat("/a");

    play.create("/a/b");

    const moved = { pzxid: 2n, cversion: 1, numChildren: 1 };
    assertEquals(play.stat("/a"), { ...before, ...moved });
  });

  it("delete of a child moves the parent's pzxid and cversion", () => {
    const play = new Play().create("/a").create("/a/b").create("/a/c");

    play.change({ type: "delete", path: "/a/b" });

    assertEquals(
      play.numbers("/a", "pzxid", "cversion", "numChildren"),
      [4, 3, 1],
    );
  });

  it("a grandchild and a child's data move nothing above", () => {
    const play = new Play().create("/a").create("/a/b");
    const before = play.stat("/a");

    play.create("/a/b/c");
    play.change({ type: "set-data", path: "/a/b", data: null });

    assertEquals(play.stat("/a"), before);
  });

  const owners: [Kind, number][] = [
    ["persistent", 0],
    ["ephemeral", 7],
    ["container", 0],
    ["ttl", 0],
  ];
  for (const [kind, owner] of owners) {
    it(`the ephemeralOwner of a ${kind} znode is ${owner}`, () => {
      const play = new Play();

      play.create("/a", { kind, owner: kind === "ephemeral" ? 7n : 0n });

      assertEquals(play.numbers("/a", "ephemeralOwner"), [owner]);
    });
  }

  it("versions have 32 bits and go on below", () => {
    const play = new Play().create("/a");
    const znode = play.tree.get("/a")!;
    znode.version = znode.aversion = last;

    play.change({ type: "set-data", path: "/a", data: null });
    play.change({ type: "set-acl", path: "/a", acl: open });

    assertEquals(
      play.numbers("/a", "version", "aversion"),
      [-(2 ** 31), -(2 ** 31)],
    );
  });

  it("cversion is creates plus deletes in 32 bits", () => {
    const play = new Play().create("/a");
    play.tree.setCounter("/a", 2 ** 30);

    const empty = play.numbers("/a", "cversion");
    play.create("/a/b");

    assertEquals([empty, play.numbers("/a", "cversion")], [
      [-(2 ** 31)],
      [-(2 ** 31) + 1],
    ]);
  });

  it("a counter at 2^31-1 stays there, and pzxid with it", () => {
    const play = new Play().create("/a");
    play.tree.setCounter("/a", last);

    play.create("/a/b");

    assertEquals(play.tree.get("/a")!.creates, last);
    assertEquals(play.numbers("/a", "pzxid", "numChildren"), [1, 1]);
  });

  it("a counter at 2^31-1 goes on at -2^31 on 3.4", () => {
    const play = new Play(old).create("/a");
    play.tree.setCounter("/a", last);

    play.create("/a/b").create("/a/c");

    assertEquals(play.tree.get("/a")!.creates, -(2 ** 31) + 1);
    assertEquals(play.numbers("/a", "pzxid"), [3]);
  });

  it("a znode that is created again starts with a counter of 0", () => {
    const play = new Play().create("/a").create("/a/b");
    play.change({ type: "delete", path: "/a/b" });
    play.change({ type: "delete", path: "/a" });

    play.create("/a");

    assertEquals([play.tree.get("/a")!.creates], [0]);
  });

  it("a fresh tree has ZooKeeper's own znodes, of transaction 0", () => {
    const [newer, older] = [new Play(modern), new Play(old)];

    const paths = [newer, older].map(({ tree }) => tree.paths());

    assertEquals(paths, [
      ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"],
      ["/", "/zookeeper", "/zookeeper/quota"],
    ]);
    assertEquals(
      newer.numbers("/", "czxid", "ctime", "numChildren", "cversion"),
      [0, 0, 1, -1],
    );
  });

  it("get() finds the root by the empty path too", () => {
    const { tree } = new Play();

    const found = tree.get("");

    assertEquals(found, tree.get("/"));
  });

  it("ephemeralsOf() lists a session's ephemeral znodes as they were created", () => {
    const play = new Play();
    for (const path of ["/b", "/c", "/a"]) {
      play.create(path, { kind: "ephemeral", owner: 7n });
    }

    play.change({ type: "delete", path: "/c" });

    const { tree } = play;
    assertEquals(tree.ephemeralsOf(7n), ["/b", "/a"]);
    assertEquals(tree.ephemeralsOf(8n), []);
    assertEquals([tree.owners(), tree.ephemeralCount], [[7n], 2]);
  });

  it("a session whose last ephemeral znode goes is no owner", () => {
    const play = new Play().create("/a", { kind: "ephemeral", owner: 7n });

    play.change({ type: "delete", path: "/a" });

    assertEquals([play.tree.owners(), play.tree.ephemeralCount], [[], 0]);
  });

  it("attempt() shows changes while it runs and takes all of them back", () => {
    const play = new Play().create("/a").create("/a/e", {
      kind: "ephemeral",
      owner: 7n,
    });
    const before = play.dump();

    const seen = play.tree.attempt(() => {
      play.create("/a/b").create("/a/b/c", { kind: "ephemeral", owner: 8n });
      play.change({ type: "set-data", path: "/a", data: bytes("new") });
      play.change({ type: "set-acl", path: "/a", acl: closed });
      play.change({ type: "delete", path: "/a/e" });
      play.create("/a/e");
      play.change({ type: "set-data", path: "/a/b", data: bytes("new") });
      play.change({ type: "delete", path: "/a/b/c" });
      play.change({ type: "delete", path: "/a/b" });
      return play.numbers("/a", "version", "aversion", "cversion");
    });

    assertEquals(seen, [1, 1, 5]);
    assertEquals(play.dump(), before);
  });

  it("attempt() takes changes back if it throws", () => {
    const play = new Play().create("/a");
    const before = play.dump();

    assertThrows(
      () =>
        play.tree.attempt(() => {
          play.create("/a/b");
          throw new Error("enough");
        }),
      Error,
      "enough",
    );

    assertEquals(play.dump(), before);
  });

  it("attempt() takes back a counter that sticks, and one that wraps", () => {
    for (const rules of [modern, old]) {
      const play = new Play(rules).create("/a");
      play.tree.setCounter("/a", last);
      const before = play.dump();

      play.tree.attempt(() => play.create("/a/b").create("/a/c"));

      assertEquals(play.dump(), before);
    }
  });

  it("changes behind an attempt are for good", () => {
    const play = new Play().create("/a");
    play.tree.attempt(() => play.create("/a/b"));

    play.create("/a/c");

    assertEquals([...play.tree.get("/a")!.children], ["c"]);
  });

  it("apply() throws for a znode that is not there", () => {
    const { tree } = new Play();
    const stamp = { zxid: 1n, time: 0 };

    const error = assertThrows(() =>
      tree.apply({ type: "delete", path: "/no" }, stamp)
    );

    assertEquals(
      (error as Error).message,
      "Cannot change /no: it is not there",
    );
  });
});
