// addWatch(), removeWatches(), checkWatches(): watches that stay, and how any watch is taken away.
// Knows where 3.8 and 3.9 differ.
// Part of client_suite.ts.

import { assertEquals, assertRejects } from "@std/assert";
import { describe } from "@std/testing/bdd";
import type { AddWatchMode, WatcherType } from "../../protocol/mod.ts";
import { assertRefused, Ear, isSince, tester } from "./tools.ts";
import type { Target } from "../targets.ts";

/** addWatch() came with 3.6, the other two with 3.5. */
export function persistentSuite(target: Target): void {
  if (isSince(target, "3.5")) {
    describe("Client.removeWatches()", () => removeTests(target));
    describe("Client.checkWatches()", () => checkTests(target));
  }
  if (!isSince(target, "3.6")) return;
  describe("Client.addWatch()", () => addTests(target));
}

function addTests(target: Target): void {
  const test = tester(target);

  test("persistent: hears of every change of the znode and its children's names", async ({ zk, root }) => {
    const ear = new Ear(root);
    const path = `${root}/a`;
    await zk.addWatch(path, ear.watch);

    await zk.create(path);
    await zk.setData(path, "1");
    await zk.setData(path, "2");
    await zk.create(`${path}/b`);
    await zk.setData(`${path}/b`, "x");
    await zk.delete(`${path}/b`);
    await zk.delete(path);
    await zk.create(path);
    await zk.sync(root);

    assertEquals(ear.heard, [
      "created /a",
      "data-changed /a",
      "data-changed /a",
      "children-changed /a",
      "children-changed /a",
      "deleted /a",
      "created /a",
    ]);
  });

  test("persistent-recursive: hears of every change below, and of no children's names", async ({ zk, root }) => {
    const ear = new Ear(root);
    await zk.addWatch(root, ear.watch, { mode: "persistent-recursive" });

    await zk.create(`${root}/a/b`, "", { parents: true });
    await zk.setData(`${root}/a/b`, "x");
    await zk.setData(root, "x");
    await zk.delete(`${root}/a/b`);
    await zk.sync(root);

    assertEquals(ear.heard, [
      "created /a",
      "created /a/b",
      "data-changed /a/b",
      "data-changed .",
      "deleted /a/b",
    ]);
  });

  test("persistent-recursive: of the root hears of everything", async ({ zk, root }) => {
    const ear = new Ear(root);
    await zk.addWatch("/", ear.watch, { mode: "persistent-recursive" });

    await zk.create(`${root}/a`);
    await zk.sync(root);

    // Others are at work on the same server.
    const mine = ear.heard.filter((event) => event === "created /a");
    assertEquals(mine, ["created /a"]);
  });

  test("several recursive watches each hear of a change once", async ({ zk, root }) => {
    const outer = new Ear(root);
    const inner = new Ear(root);
    const mode = "persistent-recursive";
    await zk.create(`${root}/a`);
    await zk.addWatch(root, outer.watch, { mode });
    await zk.addWatch(`${root}/a`, inner.watch, { mode });

    await zk.create(`${root}/a/b`);
    await zk.create(`${root}/c`);
    await zk.sync(root);

    assertEquals(outer.heard, ["created /a/b", "created /c"]);
    assertEquals(inner.heard, ["created /a/b"]);
  });

  test("hears once that the session is over", async ({ root, open }) => {
    const zk = await open();
    const ear = new Ear(root);
    await zk.addWatch(root, ear.watch);

    await zk.close();

    assertEquals(await ear.hears(1), ["session-lost ."]);
  });

  // ZOOKEEPER-4466: before 3.9 the later kind of watch replaces the earlier.
  test(
    isSince(target, "3.9")
      ? "lives beside a one-shot watch, as of 3.9"
      : "is replaced by a one-shot watch, before 3.9",
    async ({ zk, root }) => {
      const ear = new Ear(root);
      await zk.addWatch(root, ear.watch);
      await zk.getData(root, new Ear(root));

      await zk.setData(root, "1");
      await zk.setData(root, "2");
      await zk.sync(root);

      const count = isSince(target, "3.9") ? 2 : 1;
      assertEquals(ear.heard, Array(count).fill("data-changed ."));
    },
  );

  test("rejects for a mode that is none", async ({ zk, root }) => {
    const mode = "for ever" as AddWatchMode;

    await assertRejects(
      () => zk.addWatch(root, () => {}, { mode }),
      TypeError,
    );
  });
}

function removeTests(target: Target): void {
  const test = tester(target);

  const modes: AddWatchMode[] = isSince(target, "3.6")
    ? ["persistent", "persistent-recursive"]
    : [];
  for (const mode of modes) {
    test(`takes a ${mode} watch away, and says so once`, async ({ zk, root }) => {
      const ear = new Ear(root);
      await zk.addWatch(root, ear.watch, { mode });

      await zk.removeWatches(root);
      await zk.create(`${root}/a`);
      await zk.setData(root, "x");
      await zk.sync(root);

      assertEquals(ear.heard, ["watch-removed ."]);
      await assertRefused(() => zk.removeWatches(root), "NoWatcher");
    });
  }

  const kinds: Array<[WatcherType, "data" | "children", string[]]> = [
    ["data", "data", ["watch-removed ."]],
    ["children", "children", ["watch-removed ."]],
    ["any", "data", ["watch-removed ."]],
    ["any", "children", ["watch-removed ."]],
  ];
  for (const [type, kind, heard] of kinds) {
    test(`${type}: takes a one-shot watch on the ${kind} away`, async ({ zk, root }) => {
      const ear = new Ear(root);
      if (kind === "data") await zk.getData(root, ear);
      else await zk.getChildren(root, ear);

      await zk.removeWatches(root, { type });
      await zk.create(`${root}/a`);
      await zk.setData(root, "x");
      await zk.sync(root);

      assertEquals(ear.heard, heard);
    });
  }

  test("takes a watch for a creation away", async ({ zk, root }) => {
    const ear = new Ear(root);
    await zk.exists(`${root}/a`, ear);

    await zk.removeWatches(`${root}/a`, { type: "data" });
    await zk.create(`${root}/a`);
    await zk.sync(root);

    assertEquals(ear.heard, ["watch-removed /a"]);
  });

  test("takes away all watches of its kind at once, and no others", async ({ zk, root }) => {
    const data = new Ear(root);
    const children = new Ear(root);
    await zk.getData(root, data);
    await zk.exists(root, data);
    await zk.getChildren(root, children);

    await zk.removeWatches(root, { type: "data" });
    await zk.create(`${root}/a`);
    await zk.sync(root);

    assertEquals(data.heard, ["watch-removed .", "watch-removed ."]);
    assertEquals(children.heard, ["children-changed ."]);
  });

  test("rejects with NoWatcher for the wrong kind, and takes nothing away", async ({ zk, root }) => {
    const ear = new Ear(root);
    await zk.getData(root, ear);

    await assertRefused(
      () => zk.removeWatches(root, { type: "children" }),
      "NoWatcher",
    );
    await zk.setData(root, "x");
    await zk.sync(root);

    assertEquals(ear.heard, ["data-changed ."]);
  });

  test("leaves other clients' watches alone", async ({ zk, root, open }) => {
    const ear = new Ear(root);
    const other = await open();
    await other.getData(root, ear);
    await zk.getData(root, new Ear(root));

    await zk.removeWatches(root);
    await zk.setData(root, "x");

    assertEquals(await ear.hears(1), ["data-changed ."]);
  });
}

function checkTests(target: Target): void {
  const test = tester(target);

  test("finds a watch by its kind", async ({ zk, root }) => {
    await zk.getData(root, new Ear(root));
    const ask = (type: WatcherType) => zk.checkWatches(root, { type });

    assertEquals(
      [await ask("data"), await ask("children"), await ask("any")],
      [true, false, true],
    );
    assertEquals(await zk.checkWatches(root), true);
  });

  test("finds no watch that has fired", async ({ zk, root }) => {
    await zk.getData(root, new Ear(root));

    await zk.setData(root, "x");

    assertEquals(await zk.checkWatches(root), false);
  });

  if (!isSince(target, "3.6")) return;

  // 3.9 looks into a table of its own for those of addWatch().
  test(
    isSince(target, "3.9")
      ? "counts a persistent watch as neither data nor children, as of 3.9"
      : "counts a persistent watch as both data and children, before 3.9",
    async ({ zk, root }) => {
      await zk.addWatch(root, () => {});
      const ask = (type: WatcherType) => zk.checkWatches(root, { type });

      const both = !isSince(target, "3.9");
      assertEquals(
        [await ask("data"), await ask("children"), await ask("any")],
        [both, both, true],
      );
    },
  );
}
