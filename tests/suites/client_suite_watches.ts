// One-shot watches: what fires them, how often, and in which order with replies.
// Knows what each version tells; addWatch() has a file of its own.
// Part of client_suite.ts.

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe } from "@std/testing/bdd";
import type { Client, Warning, Watcher } from "../../protocol/mod.ts";
import { assertRefused, Ear, Gathering, isSince, tester } from "./tools.ts";
import type { Target } from "../targets.ts";

/** A call that leaves a watch on `<root>/a`, and what it hears of each change. */
interface Row {
  call: (zk: Client, path: string, watch: Watcher) => Promise<unknown>;
  created?: string;
  deleted?: string;
  changed?: string;
  children?: string;
}

const rows: Record<string, Row> = {
  "exists()": {
    call: (zk, path, watch) => zk.exists(path, { watch }),
    created: "created /a",
    deleted: "deleted /a",
    changed: "data-changed /a",
  },
  "getData()": {
    call: (zk, path, watch) => zk.getData(path, { watch }),
    deleted: "deleted /a",
    changed: "data-changed /a",
  },
  "getChildren()": {
    call: (zk, path, watch) => zk.getChildren(path, { watch }),
    deleted: "deleted /a",
    children: "children-changed /a",
  },
  "getChildren2()": {
    call: (zk, path, watch) => zk.getChildren2(path, { watch }),
    deleted: "deleted /a",
    children: "children-changed /a",
  },
};

export function watchesSuite(target: Target): void {
  for (const [name, row] of Object.entries(rows)) {
    describe(`A watch of Client.${name}`, () => tableTests(target, row));
  }
  describe("A watch", () => {
    countTests(target);
    orderTests(target);
    endTests(target);
  });
}

/** Each change twice, so that a watch which fires twice is heard. */
function tableTests(target: Target, row: Row): void {
  const test = tester(target);

  test("hears of the creation, once", async ({ zk, root }) => {
    const ear = new Ear(root);
    const path = `${root}/a`;
    if (row.created) await row.call(zk, path, ear.watch);
    else await assertRefused(() => row.call(zk, path, ear.watch), "NoNode");

    await zk.create(path);
    await zk.delete(path);
    await zk.create(path);
    await zk.sync(root);

    assertEquals(ear.heard, row.created ? [row.created] : []);
  });

  test("hears of the deletion, once", async ({ zk, root }) => {
    const ear = new Ear(root);
    const path = `${root}/a`;
    await zk.create(path);
    await row.call(zk, path, ear.watch);

    await zk.delete(path);
    await zk.create(path);
    await zk.delete(path);
    await zk.sync(root);

    assertEquals(ear.heard, row.deleted ? [row.deleted] : []);
  });

  test("hears of new data, once", async ({ zk, root }) => {
    const ear = new Ear(root);
    const path = `${root}/a`;
    await zk.create(path);
    await row.call(zk, path, ear.watch);

    await zk.setData(path, "1");
    await zk.setData(path, "2");
    await zk.sync(root);

    assertEquals(ear.heard, row.changed ? [row.changed] : []);
  });

  test("hears of a child, once", async ({ zk, root }) => {
    const ear = new Ear(root);
    const path = `${root}/a`;
    await zk.create(path);
    await row.call(zk, path, ear.watch);

    await zk.create(`${path}/b`);
    await zk.setData(`${path}/b`, "x");
    await zk.delete(`${path}/b`);
    await zk.sync(root);

    assertEquals(ear.heard, row.children ? [row.children] : []);
  });

  test("hears of no ACL, no failure and no sync", async ({ zk, root }) => {
    const ear = new Ear(root);
    const path = `${root}/a`;
    await zk.create(path);
    await row.call(zk, path, ear.watch);

    await zk.setAcl(path, (await zk.getAcl(path)).acl);
    await assertRefused(() => zk.create(path), "NodeExists");
    await assertRefused(
      () => zk.setData(path, "", { version: 7 }),
      "BadVersion",
    );
    await zk.sync(path);

    assertEquals(ear.heard, []);
  });

  test("hears of what another client does", async ({ zk, root, open }) => {
    const ear = new Ear(root);
    const path = `${root}/a`;
    await zk.create(path);
    await row.call(zk, path, ear.watch);

    await (await open()).delete(path);

    assertEquals(await ear.hears(1), [row.deleted]);
  });

  // bonifaido/rust-zookeeper#82: those of a multi were missed.
  test("hears of what a multi does", async ({ zk, root }) => {
    const ear = new Ear(root);
    const path = `${root}/a`;
    await zk.create(path);
    await row.call(zk, path, ear.watch);

    await zk.multi([{ op: "check", path }, { op: "delete", path }]);
    await zk.sync(root);

    assertEquals(ear.heard, [row.deleted]);
  });
}

function countTests(target: Target): void {
  const test = tester(target);

  test("is one of its own for each call, also with the same function", async ({ zk, root }) => {
    const ear = new Ear(root);
    const { watch } = ear;
    await zk.exists(root, { watch });
    await zk.getData(root, { watch });
    await zk.getData(root, { watch: (event) => watch(event) });

    await zk.setData(root, "1");
    await zk.setData(root, "2");
    await zk.sync(root);

    assertEquals(ear.heard, Array(3).fill("data-changed ."));
  });

  test("on the children and one on the data both hear of the deletion", async ({ zk, root }) => {
    const data = new Ear(root);
    const children = new Ear(root);
    await zk.create(`${root}/a`);
    await zk.getData(`${root}/a`, data);
    await zk.getChildren(`${root}/a`, children);

    await zk.delete(`${root}/a`);
    await zk.sync(root);

    assertEquals(data.heard, ["deleted /a"]);
    assertEquals(children.heard, ["deleted /a"]);
  });

  test("can be left again by whoever was told", async ({ zk, root }) => {
    const heard: string[] = [];
    const again: Watcher = ({ type }) => {
      heard.push(type);
      if (heard.length < 3) void zk.exists(`${root}/a`, { watch: again });
    };
    await zk.exists(`${root}/a`, { watch: again });

    await zk.create(`${root}/a`);
    await zk.setData(`${root}/a`, "x");
    await zk.delete(`${root}/a`);
    await zk.create(`${root}/a`);
    await zk.sync(root);

    assertEquals(heard, ["created", "data-changed", "deleted"]);
  });

  test("is none if its call was given up", async ({ zk, root }) => {
    const ear = new Ear(root);
    const giveUp = new AbortController();
    const call = zk.exists(root, {
      ...ear,
      watch: ear.watch,
      signal: giveUp.signal,
    });

    giveUp.abort();
    await assertRejects(() => call, DOMException);
    await zk.setData(root, "x");
    await zk.sync(root);

    assertEquals(ear.heard, []);
  });

  test("that throws is a warning, and spoils nothing", async ({ zk, root }) => {
    const ear = new Ear(root);
    const warnings: Warning[] = [];
    zk.on("warning", (warning) => warnings.push(warning));
    const watch = () => {
      throw new Error("mine");
    };
    await zk.exists(root, { watch });
    await zk.exists(root, ear);

    await zk.setData(root, "x");
    await zk.sync(root);

    assertEquals(ear.heard, ["data-changed ."]);
    assertEquals(warnings.map(({ kind, path }) => [kind, path]), [
      ["watcher-threw", root],
    ]);
    assertStringIncludes(warnings[0].message, "mine");
  });
}

function orderTests(target: Target): void {
  const test = tester(target);

  test("fires before the reply to the change that fired it, and in its turn", async ({ root, open }) => {
    const network = new Gathering(target);
    const zk = await open({ transport: network.transport });
    const order: string[] = [];
    const watch: Watcher = ({ type }) => void order.push(type);
    network.hold();

    const calls = [
      zk.exists(root, { watch }).then(() => order.push("exists")),
      zk.setData(root, "x").then(() => order.push("setData")),
      zk.getData(root, { watch }).then(() => order.push("getData")),
      zk.delete(root).then(() => order.push("delete")),
    ];
    await network.deliver(6);
    await Promise.all(calls);

    assertEquals(order, [
      "exists",
      "data-changed",
      "setData",
      "getData",
      "deleted",
      "delete",
    ]);
  });

  test("fires after the reply to a create() that came before", async ({ root, open }) => {
    const network = new Gathering(target);
    const zk = await open({ transport: network.transport });
    const order: string[] = [];
    const watch: Watcher = ({ type }) => void order.push(type);
    const path = `${root}/a`;
    network.hold();

    const calls = [
      zk.create(path).then(() => order.push("create")),
      zk.exists(path, { watch }).then(() => order.push("exists")),
      zk.delete(path).then(() => order.push("delete")),
    ];
    await network.deliver(4);
    await Promise.all(calls);

    assertEquals(order, ["create", "exists", "deleted", "delete"]);
  });

  test("on the znode fires before that on its parent", async ({ zk, root }) => {
    const ear = new Ear(root);
    await zk.create(`${root}/a`);
    await zk.getChildren(root, ear);
    await zk.exists(`${root}/a`, ear);

    await zk.delete(`${root}/a`);
    await zk.sync(root);

    assertEquals(ear.heard, ["deleted /a", "children-changed ."]);
  });

  test(
    isSince(target, "3.9")
      ? "tells the zxid of the change, as of 3.9"
      : "tells no zxid, before 3.9",
    async ({ zk, root }) => {
      const ear = new Ear(root);
      await zk.exists(`${root}/a`, ear);

      const { zxid } = await zk.create(`${root}/a`);
      await ear.hears(1);

      const told = isSince(target, "3.9") ? zxid : undefined;
      assertEquals(ear.events[0].zxid, told);
    },
  );
}

function endTests(target: Target): void {
  const test = tester(target);

  test("hears of an ephemeral znode that goes with its session", async ({ zk, root, open }) => {
    const ear = new Ear(root);
    const other = await open();
    await other.create(`${root}/a`, "", { mode: "ephemeral" });
    await zk.exists(`${root}/a`, ear);

    await other.close();

    assertEquals(await ear.hears(1), ["deleted /a"]);
  });

  test("hears once that the client was closed", async ({ root, open }) => {
    const zk = await open();
    const ear = new Ear(root);
    await zk.exists(root, ear);
    await zk.exists(`${root}/a`, ear);
    await zk.getChildren(root, ear);

    await zk.close();

    assertEquals((await ear.hears(3)).sort(), [
      "session-lost .",
      "session-lost .",
      "session-lost /a",
    ]);
  });
}
