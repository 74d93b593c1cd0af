// multi() and multiRead(): all or nothing, in order, and what each part answers.
// Knows which parts each version has.
// Part of client_suite.ts.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe } from "@std/testing/bdd";
import {
  type FailedOp,
  MultiError,
  type Op,
  type OpResult,
} from "../../protocol/mod.ts";
import { isSince, tester, textOf, Wiretap } from "./tools.ts";
import type { Target } from "../targets.ts";

export function multiSuite(target: Target): void {
  describe("Client.multi()", () => {
    doneTests(target);
    refusedTests(target);
  });
  if (isSince(target, "3.6")) {
    describe("Client.multiRead()", () => readTests(target));
  }
}

/** What a create answered; fails for any other result. */
function created(result: OpResult): OpResult & { op: "create" } {
  assert(result.op === "create", `not a create: ${result.op}`);
  return result;
}

function doneTests(target: Target): void {
  const test = tester(target);

  test("does all kinds of operations as one transaction", async ({ zk, root }) => {
    await zk.create(`${root}/old`);

    const { zxid, results } = await zk.multi([
      { op: "check", path: root },
      { op: "create", path: `${root}/a`, data: "1" },
      { op: "setData", path: `${root}/a`, data: "2", version: 0 },
      { op: "check", path: `${root}/a`, version: 1 },
      { op: "delete", path: `${root}/old`, version: 0 },
    ]);

    const { data, stat } = await zk.getData(`${root}/a`);
    assertEquals(results, [
      { op: "check" },
      { op: "create", path: `${root}/a` },
      { op: "setData", stat },
      { op: "check" },
      { op: "delete" },
    ]);
    assertEquals(textOf(data), "2");
    assertEquals([stat.czxid, stat.mzxid], [zxid, zxid]);
    assertEquals(await zk.getChildren(root), ["a"]);
  });

  test("answers the paths of sequential znodes, all of one czxid", async ({ zk, root }) => {
    const mode = "ephemeral-sequential";
    const path = `${root}/a/n-`;

    const { zxid, results } = await zk.multi([
      { op: "create", path: `${root}/a` },
      { op: "create", path, mode },
      { op: "create", path, mode },
    ]);

    const paths = results.map((result) => created(result).path);
    assertEquals(paths, [
      `${root}/a`,
      `${path}0000000000`,
      `${path}0000000001`,
    ]);
    for (const path of paths) {
      assertEquals((await zk.exists(path))!.czxid, zxid);
    }
  });

  test("keeps data and ACL of what it creates", async ({ zk, root }) => {
    const acl = [{ perms: 1, scheme: "world", id: "anyone" }];

    await zk.multi([
      { op: "create", path: `${root}/a`, data: null, acl },
      { op: "setData", path: root, data: Uint8Array.of(1, 2) },
    ]);

    assertEquals((await zk.getData(`${root}/a`)).data, null);
    assertEquals((await zk.getAcl(`${root}/a`)).acl, acl);
    assertEquals((await zk.getData(root)).data, Uint8Array.of(1, 2));
  });

  test("of nothing does nothing", async ({ zk }) => {
    const { zxid, results } = await zk.multi([]);

    assertEquals(results, []);
    assert(zxid > 0n);
  });

  test("of a thousand operations is done", async ({ zk, root }) => {
    const ops = Array.from({ length: 1000 }, (_, i): Op => ({
      op: "create",
      path: `${root}/${i}`,
    }));

    const { results } = await zk.multi(ops);

    assertEquals(results.length, 1000);
    assertEquals((await zk.getChildren(root)).length, 1000);
  });

  if (!isSince(target, "3.5")) return;

  test("creates containers and znodes with a ttl, and answers their Stats", async ({ zk, root }) => {
    const { results } = await zk.multi([
      { op: "create", path: `${root}/a`, mode: "container" },
      { op: "create", path: `${root}/b`, mode: "persistent-ttl", ttl: 60_000 },
    ]);

    for (const result of results) {
      const { path, stat } = created(result);
      assertEquals(stat, (await zk.exists(path))!);
    }
  });
}

function refusedTests(target: Target): void {
  const test = tester(target);

  test("does nothing if one operation fails, and tells which", async ({ zk, root }) => {
    const before = await zk.getChildren2(root);

    const error = await assertRejects(
      () =>
        zk.multi([
          { op: "create", path: `${root}/a` },
          { op: "setData", path: root, data: "x", version: 77 },
          { op: "delete", path: `${root}/a` },
        ]),
      MultiError,
      `Cannot do operation 1 of multi (setData ${root}): BadVersion (-103)`,
    );

    const results: FailedOp[] = [
      { op: "create", path: `${root}/a`, code: "Ok", number: 0 },
      { op: "setData", path: root, code: "BadVersion", number: -103 },
      {
        op: "delete",
        path: `${root}/a`,
        code: "RuntimeInconsistency",
        number: -2,
      },
    ];
    assertEquals(error.results, results);
    const { index, code, number, op, path } = error;
    assertEquals(
      { index, code, number, op, path },
      { index: 1, code: "BadVersion", number: -103, op: "multi", path: root },
    );
    assert(error.zxid! > before.stat.czxid);
    assertEquals(await zk.getChildren2(root), before);
  });

  const firsts: Array<[string, (root: string) => Op]> = [
    ["NodeExists", (path) => ({ op: "create", path })],
    ["NoNode", (root) => ({ op: "create", path: `${root}/a/b` })],
    ["NoNode", (root) => ({ op: "check", path: `${root}/a` })],
    ["NoNode", (root) => ({ op: "delete", path: `${root}/a` })],
    ["BadVersion", (path) => ({ op: "check", path, version: -2 })],
  ];
  for (const [code, first] of firsts) {
    const { op } = first("");
    test(`rejects with ${code} of a ${op} that stands first`, async ({ zk, root }) => {
      const error = await assertRejects(
        () => zk.multi([first(root), { op: "create", path: `${root}/a` }]),
        MultiError,
      );

      assertEquals([error.index, error.code], [0, code]);
      assertEquals(await zk.getChildren(root), []);
    });
  }

  test("rejects for the last operation if only that fails", async ({ zk, root }) => {
    const error = await assertRejects(
      () =>
        zk.multi([
          { op: "create", path: `${root}/a` },
          { op: "create", path: `${root}/a` },
        ]),
      MultiError,
    );

    assertEquals([error.index, error.code], [1, "NodeExists"]);
    assertEquals(await zk.exists(`${root}/a`), null);
  });

  test("rejects, and sends nothing, for what cannot be", async ({ root, open }) => {
    const tap = new Wiretap();
    const zk = await open({ onPacket: tap.onPacket });
    const { session } = zk;
    const big = new Uint8Array(600_000);
    tap.clear();

    await assertRejects(
      () =>
        zk.multi([
          { op: "setData", path: root, data: big },
          { op: "setData", path: root, data: big },
        ]),
      RangeError,
    );
    await assertRejects(
      () => zk.multi([{ op: "check", path: "a" }]),
      TypeError,
    );
    await assertRejects(
      () => zk.multi([{ op: "exists", path: root } as never]),
      TypeError,
    );

    assertEquals(tap.sent, []);
    assertStrictEquals(zk.session, session);
  });
}

function readTests(target: Target): void {
  const test = tester(target);

  test("answers each read in its place, and what is wrong with it", async ({ zk, root }) => {
    await zk.create(`${root}/a`, "1");

    const results = await zk.multiRead([
      { op: "getData", path: `${root}/a` },
      { op: "getChildren", path: `${root}/b` },
      { op: "getChildren", path: root },
    ]);

    assertEquals(results[0], {
      op: "getData",
      ...await zk.getData(`${root}/a`),
    });
    assertEquals(results[2], { op: "getChildren", children: ["a"] });
    assert(results[1].op === "error");
    const { code, op, path, zxid } = results[1].error;
    assertEquals(
      { code, op, path, zxid },
      { code: "NoNode", op: "getChildren", path: `${root}/b`, zxid: null },
    );
  });

  test("tells of a right that is missing", async ({ zk, root }) => {
    await zk.setAcl(root, [{ perms: 30, scheme: "world", id: "anyone" }]);

    const [result] = await zk.multiRead([{ op: "getData", path: root }]);

    assert(result.op === "error");
    assertEquals(result.error.code, "NoAuth");
  });

  test("of nothing answers nothing", async ({ zk }) => {
    assertEquals(await zk.multiRead([]), []);
  });

  test("rejects for what is no read", async ({ zk, root }) => {
    await assertRejects(
      () => zk.multiRead([{ op: "exists" as "getData", path: root }]),
      TypeError,
    );
  });
}
