// Watches that a client lists after it came back (reference, 6.1), and those it asks about or removes.
// No connections: watchers are ears.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ServerVersion } from "../../testing/mod.ts";
import type { WatchList } from "../../testing/watch_tables.ts";
import { Ear, type Step, Watched } from "./watching.ts";

function list(over: Partial<WatchList>): WatchList {
  const none = { dataWatches: [], existWatches: [], childWatches: [] };
  return { relativeZxid: 0n, ...none, ...over };
}

/** What is told at once, and how many watches are armed then. */
function restored(
  over: Partial<WatchList>,
  ...steps: Step[]
): [heard: string[], armed: number] {
  const watched = new Watched("3.9", ...steps);
  const ear = new Ear();
  watched.tables.restore(list(over), ear, watched.replica.tree);
  return [ear.heard(), watched.tables.size];
}

describe("WatchTables.restore()", () => {
  const data = { dataWatches: ["/w"] };
  const exist = { existWatches: ["/w"] };
  const child = { childWatches: ["/w"] };
  const flat = { persistentWatches: ["/w"] };
  const deep = { persistentRecursiveWatches: ["/w"] };
  const cases: [
    what: string,
    over: Partial<WatchList>,
    steps: Step[],
    heard: string[],
    armed: number,
  ][] = [
    ["data, missing", data, [], ["deleted /w"], 0],
    ["data, unchanged", { ...data, relativeZxid: 1n }, ["+/w"], [], 1],
    [
      "data, changed",
      { ...data, relativeZxid: 1n },
      ["+/w", "=/w"],
      ["data-changed /w"],
      0,
    ],
    [
      "data, a child since",
      { ...data, relativeZxid: 1n },
      [
        "+/w",
        "+/w/x",
      ],
      [],
      1,
    ],
    [
      "data, rights since",
      { ...data, relativeZxid: 1n },
      ["+/w", "!/w"],
      [],
      1,
    ],
    [
      "data, deleted and made anew",
      { ...data, relativeZxid: 1n },
      ["+/w", "-/w", "+/w"],
      ["data-changed /w"],
      0,
    ],
    ["exist, missing", exist, [], [], 1],
    [
      "exist, present",
      { ...exist, relativeZxid: 9n },
      ["+/w"],
      ["created /w"],
      0,
    ],
    ["exist, made and deleted", exist, ["+/w", "-/w"], [], 1],
    ["child, missing", child, [], ["deleted /w"], 0],
    ["child, unchanged", { ...child, relativeZxid: 1n }, ["+/w"], [], 1],
    [
      "child, changed",
      { ...child, relativeZxid: 1n },
      ["+/w", "+/w/x"],
      ["children-changed /w"],
      0,
    ],
    [
      "child, data since",
      { ...child, relativeZxid: 1n },
      [
        "+/w",
        "=/w",
      ],
      [],
      1,
    ],
    ["persistent, missing", flat, [], [], 2],
    ["persistent, changed", flat, ["+/w", "=/w"], [], 2],
    ["recursive, missing", deep, [], [], 1],
    ["recursive, changed", deep, ["+/w", "=/w"], [], 1],
  ];

  for (const [what, over, steps, heard, armed] of cases) {
    it(`${what}: tells ${heard}, arms ${armed}`, () => {
      const result = restored(over, ...steps);

      assertEquals(result, [heard, armed]);
    });
  }

  it("tells what was missed in the order of the lists, without a zxid", () => {
    const watched = new Watched("3.9", "+/a", "+/b");
    const ear = new Ear();
    const all = list({
      dataWatches: ["/b", "/no", "/a"],
      existWatches: ["/a"],
      childWatches: ["/a", "/no"],
    });

    watched.tables.restore(all, ear, watched.replica.tree);

    assertEquals(ear.heard(), [
      "data-changed /b",
      "deleted /no",
      "data-changed /a",
      "created /a",
      "children-changed /a",
      "deleted /no",
    ]);
    assertEquals(new Set(ear.zxids), new Set([-1n]));
  });

  it("what was armed fires later", () => {
    const watched = new Watched("3.9", "+/w");
    const ear = new Ear();
    const all = list({
      ...data,
      ...child,
      ...{ existWatches: ["/v"], persistentRecursiveWatches: ["/u"] },
      relativeZxid: 1n,
    });
    watched.tables.restore(all, ear, watched.replica.tree);

    watched.do("=/w", "+/w/x", "+/v", "+/u", "+/u/x");

    assertEquals(ear.heard(), [
      "data-changed /w",
      "children-changed /w",
      "created /v",
      "created /u",
      "created /u/x",
    ]);
  });
});

describe("WatchTables.has() and remove()", () => {
  const kinds = ["data", "child", "persistent", "recursive"];
  const types = ["children", "data", "any", "persistent", "recursive"];
  const expected: Record<ServerVersion, Record<string, string>> = {
    "3.4": {},
    // Any watch in the table will do.
    "3.8": {
      data: "data any",
      child: "children any",
      persistent: "children data any persistent",
      recursive: "children data any recursive",
    },
    "3.9": {
      data: "data any",
      child: "children any",
      persistent: "any persistent",
      recursive: "any recursive",
    },
  };

  for (const version of ["3.8", "3.9"] as const) {
    for (const kind of kinds) {
      it(`a ${kind} watch of ${version} is of the types ${expected[version][kind]}`, () => {
        const found = types.filter((type) => {
          const watched = new Watched(version, "+/w");
          const ear = new Ear();
          watched.watch(ear, kind, "/w");
          const has = watched.tables.has("/w", ear, type);
          const removed = watched.tables.remove("/w", ear, type);
          assertEquals(has, removed);
          assertEquals(watched.tables.has("/w", ear, type), false);
          return has;
        });

        assertEquals(found.join(" "), expected[version][kind]);
      });
    }
  }

  it("remove() removes nobody else's, and nothing on another path", () => {
    const watched = new Watched("3.9", "+/w");
    const [ear, other] = [new Ear(), new Ear()];
    watched.watch(ear, "data", "/v");
    watched.watch(other, "data", "/w");

    const removed = watched.tables.remove("/w", ear, "any");

    assertEquals([removed, watched.tables.size], [false, 2]);
  });

  it("what was removed does not fire", () => {
    const watched = new Watched("3.9", "+/w");
    const ear = new Ear();
    watched.watch(ear, "recursive", "/w");
    watched.tables.remove("/w", ear, "any");

    watched.do("=/w", "+/w/x", "-/w/x", "-/w");

    assertEquals(ear.heard(), []);
  });

  it("removing one mode leaves the others of the path", () => {
    const watched = new Watched("3.9", "+/w");
    const ear = new Ear();
    watched.watch(ear, "data", "/w");
    watched.watch(ear, "persistent", "/w");

    watched.tables.remove("/w", ear, "data");
    watched.do("=/w", "=/w");

    assertEquals(ear.heard(), ["data-changed /w", "data-changed /w"]);
  });
});
