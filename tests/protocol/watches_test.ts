// The registry of watches: what fires what (reference, 7.1 and 7.2), once, and what a server is told after a reconnect.
// Pure: watchers are only counted, never called.

import { assert, assertEquals, assertGreater } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ServerEventType } from "../../protocol/codes.ts";
import {
  type Watcher,
  Watches,
  type WatchKind,
  type WatchLists,
} from "../../protocol/watches.ts";
import { listed } from "./watching.ts";

const kinds: WatchKind[] = [
  "data",
  "exist",
  "child",
  "persistent",
  "persistent-recursive",
];

function watcher(): Watcher {
  return () => {};
}

describe("Watches.fire()", () => {
  const table: Array<[ServerEventType, Record<WatchKind, 0 | 1>, WatchKind[]]> =
    [
      ["created", {
        data: 1,
        exist: 1,
        child: 0,
        persistent: 1,
        "persistent-recursive": 1,
      }, ["child"]],
      ["deleted", {
        data: 1,
        exist: 1,
        child: 1,
        persistent: 1,
        "persistent-recursive": 1,
      }, []],
      ["data-changed", {
        data: 1,
        exist: 1,
        child: 0,
        persistent: 1,
        "persistent-recursive": 1,
      }, ["child"]],
      ["children-changed", {
        data: 0,
        exist: 0,
        child: 1,
        persistent: 1,
        "persistent-recursive": 0,
      }, ["data", "exist"]],
    ];
  for (const [type, fires, left] of table) {
    it(`"${type}" concerns ${kinds.filter((kind) => fires[kind]).join(", ")} and leaves ${left.join(", ") || "no one-shot"} watch`, () => {
      const watches = new Watches();
      const watchers = Object.fromEntries(
        kinds.map((kind) => [kind, watcher()]),
      );
      for (const kind of kinds) watches.add(kind, "/a", watchers[kind]);

      const found = watches.fire(type, "/a");

      assertEquals(
        new Set(found),
        new Set(
          kinds.filter((kind) => fires[kind]).map((kind) => watchers[kind]),
        ),
      );
      assertEquals(
        Object.keys(listed(watches)).sort(),
        [...left, "persistent", "persistent-recursive"].sort(),
      );
    });
  }

  it("finds a one-shot watcher once and a persistent one again", () => {
    const watches = new Watches();
    const once = watcher(), always = watcher();
    watches.add("data", "/a", once);
    watches.add("persistent", "/a", always);

    const rounds = [1, 2, 3].map(() => watches.fire("data-changed", "/a"));

    assertEquals(rounds, [[once, always], [always], [always]]);
  });

  it("finds a watcher as often as it was given", () => {
    const watches = new Watches();
    const same = watcher();
    for (const kind of ["data", "data", "child"] as const) {
      watches.add(kind, "/a", same);
    }

    const found = watches.fire("deleted", "/a");

    assertEquals(found, [same, same, same]);
  });

  it("finds nobody on another path, also where one name begins with the other", () => {
    const watches = new Watches();
    for (const kind of kinds) watches.add(kind, "/a", watcher());

    const found = ["/", "/ab", "/b", "/b/a"].map((path) =>
      watches.fire("deleted", path)
    );

    assertEquals(found, [[], [], [], []]);
  });

  it("finds recursive watchers on every level above, the root too", () => {
    const watches = new Watches();
    const [root, a, ab, other] = [watcher(), watcher(), watcher(), watcher()];
    for (
      const [path, w] of [["/", root], ["/a", a], ["/a/b", ab], [
        "/a/bc",
        other,
      ]] as const
    ) {
      watches.add("persistent-recursive", path, w);
    }

    const found = watches.fire("created", "/a/b/c");

    assertEquals(new Set(found), new Set([ab, a, root]));
  });
});

describe("Watches", () => {
  it("forget() takes back one add() and no more", () => {
    const watches = new Watches();
    const same = watcher();
    watches.add("data", "/a", same);
    watches.add("data", "/a", same);

    watches.forget(["data", "exist"], "/a", same);

    assertEquals(watches.fire("data-changed", "/a"), [same]);
  });

  it("forget() finds the watch in whichever of the kinds it is", () => {
    const watches = new Watches();
    const same = watcher();
    watches.add("exist", "/a", same);

    watches.forget(["data", "exist"], "/a", same);

    assertEquals(listed(watches), {});
  });

  it("forget() of what was never added changes nothing", () => {
    const watches = new Watches();
    watches.add("data", "/a", watcher());

    watches.forget(["data"], "/a", watcher());
    watches.forget(["child"], "/b", watcher());

    assertEquals(Object.values(listed(watches)).flat().length, 1);
  });

  it("remove() takes every watch of the kinds and says whose they were", () => {
    const watches = new Watches();
    const [one, two, child] = [watcher(), watcher(), watcher()];
    watches.add("data", "/a", one);
    watches.add("exist", "/a", two);
    watches.add("child", "/a", child);

    const removed = watches.remove(["data", "exist"], "/a");

    assertEquals([removed, listed(watches)], [[one, two], { child: ["/a"] }]);
  });

  it("clear() names everybody once a call and leaves nothing", () => {
    const watches = new Watches();
    const same = watcher();
    for (const kind of kinds) watches.add(kind, "/a", same);
    watches.add("data", "/b", same);

    const all = watches.clear();

    assertEquals(all.map(({ path }) => path).sort(), [
      "/a",
      "/a",
      "/a",
      "/a",
      "/a",
      "/b",
    ]);
    assertEquals(
      [listed(watches), watches.clear(), watches.fire("deleted", "/a")],
      [{}, [], []],
    );
  });

  it("keeps nothing of 10,000 watches that fired (CURATOR-14, kazoo#542)", () => {
    const watches = new Watches();

    for (let i = 0; i < 10_000; i++) {
      watches.add("exist", `/a/${i}`, watcher());
      watches.fire("created", `/a/${i}`);
    }

    assertEquals(listed(watches), {});
  });
});

describe("Watches.lists()", () => {
  it("answers no list where nothing is watched", () => {
    const lists = [...new Watches().lists(100)];

    assertEquals(lists, []);
  });

  it("names each path once in the list of its kind", () => {
    const watches = new Watches();
    for (const kind of kinds) {
      watches.add(kind, `/${kind}`, watcher());
      watches.add(kind, `/${kind}`, watcher());
    }

    const lists = [...watches.lists(1000)];

    assertEquals(lists, [{
      data: ["/data"],
      exist: ["/exist"],
      child: ["/child"],
      persistent: ["/persistent"],
      "persistent-recursive": ["/persistent-recursive"],
    }]);
  });

  it("splits at the limit and loses no path (ZOOKEEPER-706)", () => {
    const watches = new Watches();
    const paths = Array.from(
      { length: 500 },
      (_, i) => `/lock/${"x".repeat(i % 90)}-${i}`,
    );
    for (const [i, path] of paths.entries()) {
      watches.add(kinds[i % 5], path, watcher());
    }
    const all = (lists: WatchLists) => Object.values(lists).flat();

    const lists = [...watches.lists(1000)];

    const sizes = lists.map((one) => all(one).join("").length);
    assert(sizes.every((size) => size <= 1000), `${sizes}`);
    assert(sizes.slice(0, -1).every((size) => size > 900), `${sizes}`);
    assertEquals(lists.flatMap(all).sort(), paths.sort());
  });

  it("puts a path longer than the limit into a list of its own", () => {
    const watches = new Watches();
    for (const path of ["/a", "/" + "b".repeat(50), "/c"]) {
      watches.add("data", path, watcher());
    }

    const lists = [...watches.lists(20)];

    assertEquals(lists.map(({ data }) => data.map((path) => path.length)), [
      [2],
      [51],
      [2],
    ]);
    assertGreater(lists.length, 2);
  });
});
