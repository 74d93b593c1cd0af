// Watches on the server's side: what fires what (reference, 7.2), for how long, who is not told, and what differs by version.
// No connections: watchers are ears.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ServerVersion } from "../../testing/mod.ts";
import { Ear, type Step, Watched } from "./watching.ts";

describe("WatchTables", () => {
  const fires: [
    kind: string,
    path: string,
    before: Step[],
    step: Step,
    heard: string[],
  ][] = [
    ["data", "/w", [], "+/w", ["created /w"]],
    ["data", "/w", ["+/w"], "=/w", ["data-changed /w"]],
    ["data", "/w", ["+/w"], "-/w", ["deleted /w"]],
    ["data", "/w", ["+/w"], "+/w/x", []],
    ["data", "/w", ["+/w"], "!/w", []],
    ["child", "/w", ["+/w"], "+/w/x", ["children-changed /w"]],
    ["child", "/w", ["+/w", "+/w/x"], "-/w/x", ["children-changed /w"]],
    ["child", "/w", ["+/w", "+/w/x"], "=/w/x", []],
    ["child", "/w", ["+/w"], "=/w", []],
    ["child", "/w", ["+/w"], "-/w", ["deleted /w"]],
    ["child", "/w", ["+/w", "+/w/x"], "+/w/x/y", []],
    ["child", "/", [], "+/w", ["children-changed /"]],
    ["persistent", "/w", [], "+/w", ["created /w"]],
    ["persistent", "/w", ["+/w"], "=/w", ["data-changed /w"]],
    ["persistent", "/w", ["+/w"], "-/w", ["deleted /w"]],
    ["persistent", "/w", ["+/w"], "+/w/x", ["children-changed /w"]],
    ["persistent", "/w", ["+/w", "+/w/x"], "=/w/x", []],
    ["recursive", "/w", [], "+/w", ["created /w"]],
    ["recursive", "/w", ["+/w"], "+/w/x", ["created /w/x"]],
    ["recursive", "/w", ["+/w", "+/w/x"], "=/w/x", ["data-changed /w/x"]],
    ["recursive", "/w", ["+/w", "+/w/x"], "-/w/x", ["deleted /w/x"]],
    ["recursive", "/w", ["+/w", "+/w/x"], "+/w/x/y", ["created /w/x/y"]],
    ["recursive", "/", ["+/w"], "+/w/x", ["created /w/x"]],
    ["recursive", "/w", [], "+/ww", []],
    ["recursive", "/w", ["+/w"], "-/w", ["deleted /w"]],
  ];

  for (const version of ["3.8", "3.9"] as const) {
    for (const [kind, path, before, step, heard] of fires) {
      it(`${step} fires a ${kind} watch on ${path} of ${version}: ${heard}`, () => {
        const watched = new Watched(version, ...before);
        const ear = new Ear();
        watched.watch(ear, kind, path);

        watched.do(step);

        assertEquals(ear.heard(), heard);
      });
    }
  }

  it("tells of the znode first, then of its parent", () => {
    const watched = new Watched("3.9", "+/w", "+/w/x");
    const ear = new Ear();
    watched.watch(ear, "child", "/w");
    watched.watch(ear, "data", "/w/x");

    watched.do("-/w/x");

    assertEquals(ear.heard(), ["deleted /w/x", "children-changed /w"]);
  });

  it("tells one who watches data and children of a deleted znode once", () => {
    const watched = new Watched("3.9", "+/w");
    const [both, child] = [new Ear(), new Ear()];
    watched.watch(both, "child", "/w");
    watched.watch(both, "data", "/w");
    watched.watch(child, "child", "/w");

    watched.do("-/w");

    assertEquals([both.heard(), child.heard()], [["deleted /w"], [
      "deleted /w",
    ]]);
    assertEquals(watched.tables.size, 0);
  });

  it("tells of each change of one transaction, in order and with its zxid", () => {
    const watched = new Watched("3.9", "+/w");
    const ear = new Ear();
    watched.watch(ear, "persistent", "/w");

    watched.together("+/w/x", "=/w", "-/w/x", "-/w");

    assertEquals(ear.heard(), [
      "children-changed /w",
      "data-changed /w",
      "children-changed /w",
      "deleted /w",
    ]);
    assertEquals(ear.zxids, [2n, 2n, 2n, 2n]);
  });

  it("a standard watch lasts for one event, however often it was set", () => {
    const watched = new Watched("3.9", "+/w");
    const ear = new Ear();
    for (let i = 0; i < 3; i++) watched.watch(ear, "data", "/w");

    watched.do("=/w", "=/w");

    assertEquals(ear.heard(), ["data-changed /w"]);
  });

  it("a standard watch on data survives what happens to the children, and the other way round", () => {
    const watched = new Watched("3.9", "+/w");
    const ear = new Ear();
    watched.watch(ear, "data", "/w");
    watched.watch(ear, "child", "/w");

    watched.do("+/w/x", "+/w/y", "=/w");

    assertEquals(ear.heard(), ["children-changed /w", "data-changed /w"]);
  });

  it("persistent watches last over events, deletion and recreation", () => {
    const watched = new Watched("3.9", "+/w");
    const [flat, deep] = [new Ear(), new Ear()];
    watched.watch(flat, "persistent", "/w");
    watched.watch(deep, "recursive", "/w");

    watched.do("=/w", "-/w", "+/w", "=/w");

    const all = ["data-changed", "deleted", "created", "data-changed"];
    assertEquals(flat.heard(), all.map((type) => `${type} /w`));
    assertEquals(deep.heard(), all.map((type) => `${type} /w`));
  });

  it("several recursive watches above a change are one event", () => {
    const watched = new Watched("3.9", "+/w", "+/w/x");
    const ear = new Ear();
    for (const path of ["/", "/w", "/w/x"]) {
      watched.watch(ear, "recursive", path);
    }

    watched.do("=/w/x");

    assertEquals(ear.heard(), ["data-changed /w/x"]);
  });

  it("everybody who watches is told", () => {
    const watched = new Watched("3.9", "+/w");
    const ears = [new Ear(), new Ear(), new Ear()];
    for (const ear of ears) watched.watch(ear, "data", "/w");

    watched.do("=/w");

    assertEquals(ears.map((ear) => ear.heard().length), [1, 1, 1]);
  });

  it("removeAll() removes all watches of one, and none of another", () => {
    const watched = new Watched("3.9", "+/w");
    const [gone, here] = [new Ear(), new Ear()];
    for (const ear of [gone, here]) {
      for (const kind of ["data", "child", "recursive"]) {
        watched.watch(ear, kind, "/w");
      }
      watched.watch(ear, "persistent", "/v");
    }
    const all = watched.tables.size;

    watched.tables.removeAll(gone);
    watched.do("=/w", "+/w/x", "+/v");

    assertEquals(gone.heard(), []);
    assertEquals(here.heard().length, 4);
    assertEquals(all, 8);
  });

  it("counts watches by path", () => {
    const watched = new Watched("3.9", "+/w");
    watched.watch(new Ear(), "data", "/w");
    watched.watch(new Ear(), "persistent", "/w");
    watched.watch(new Ear(), "data", "/v");

    const { tables } = watched;

    assertEquals([tables.sizeAt("/w"), tables.sizeAt("/no")], [3, 0]);
    assertEquals(tables.size, 4);
  });
});

describe("WatchTables, modes on one path", () => {
  const mixes: [
    first: string,
    second: string,
    steps: Step[],
    on38: string[],
    on39: string[],
  ][] = [
    ["persistent", "data", ["=/w", "=/w"], ["data-changed /w"], [
      "data-changed /w",
      "data-changed /w",
    ]],
    ["data", "persistent", ["=/w", "=/w"], [
      "data-changed /w",
      "data-changed /w",
    ], ["data-changed /w", "data-changed /w"]],
    ["persistent", "child", ["+/w/x", "+/w/y"], ["children-changed /w"], [
      "children-changed /w",
      "children-changed /w",
    ]],
    // Only its own table: data events go on.
    ["persistent", "child", ["=/w", "=/w"], [
      "data-changed /w",
      "data-changed /w",
    ], ["data-changed /w", "data-changed /w"]],
    ["recursive", "data", ["=/w", "+/w/x"], ["data-changed /w"], [
      "data-changed /w",
      "created /w/x",
    ]],
    ["child", "recursive", ["+/w/x"], ["created /w/x"], [
      "created /w/x",
      "children-changed /w",
    ]],
    ["persistent", "recursive", ["+/w/x"], ["created /w/x"], [
      "created /w/x",
      "children-changed /w",
    ]],
    ["recursive", "persistent", ["+/w/x"], ["children-changed /w"], [
      "created /w/x",
      "children-changed /w",
    ]],
  ];

  for (const [first, second, steps, on38, on39] of mixes) {
    for (const [version, heard] of [["3.8", on38], ["3.9", on39]] as const) {
      it(`${first}, then ${second} on ${version}: ${steps} tell ${heard}`, () => {
        const watched = new Watched(version, "+/w");
        const ear = new Ear();
        watched.watch(ear, first, "/w");
        watched.watch(ear, second, "/w");

        watched.do(...steps);

        assertEquals(ear.heard(), heard);
      });
    }
  }
});

describe("WatchTables, who may not read", () => {
  const nobody = { perms: 30, scheme: "world", id: "anyone" };
  const heard = (version: ServerVersion, kind: string, ...steps: Step[]) => {
    const watched = new Watched(version, "+/w", "+/w/x", "!/w/x", "!/w");
    const ear = new Ear();
    watched.watch(ear, kind, kind === "child" ? "/w" : "/w/x");
    watched.do(...steps);
    return ear.heard();
  };
  const cases: [kind: string, step: Step, on34: string[]][] = [
    ["data", "=/w/x", ["data-changed /w/x"]],
    ["data", "-/w/x", ["deleted /w/x"]],
    ["child", "-/w/x", ["children-changed /w"]],
    ["child", "+/w/y", ["children-changed /w"]],
  ];

  for (const [kind, step, on34] of cases) {
    it(`${step} is told by a ${kind} watch on 3.4 only`, () => {
      const results = (["3.4", "3.8", "3.9"] as const)
        .map((version) => heard(version, kind, step));

      assertEquals(results, [on34, [], []]);
    });
  }

  it("an identity that may read is told", () => {
    const watched = new Watched("3.9", "+/w");
    const ann = { scheme: "digest", id: "ann:hash" };
    const acl = [nobody, { perms: 1, ...ann }];
    watched.replica.tree.get("/w")!.acl = acl;
    const [reads, other] = [new Ear(ann), new Ear()];
    for (const ear of [reads, other]) watched.watch(ear, "data", "/w");

    watched.do("=/w");

    assertEquals([reads.heard(), other.heard()], [["data-changed /w"], []]);
  });

  it("who is not told has lost a standard watch all the same", () => {
    const watched = new Watched("3.9", "+/w", "!/w");
    const ear = new Ear();
    watched.watch(ear, "data", "/w");

    watched.do("=/w");

    assertEquals(watched.tables.size, 0);
  });
});
