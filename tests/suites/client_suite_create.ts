// create() and create2(): every mode, every kind of data, where the limits are.
// Knows what each version can do; not how it is asked.
// Part of client_suite.ts.

import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe } from "@std/testing/bdd";
import { type CreateMode, permissions, type Stat } from "../../protocol/mod.ts";
import { isSince, tester, textOf, until, Wiretap } from "./tools.ts";
import type { Target } from "../targets.ts";

/** The largest body of a request, and what a create puts around its path and data. */
const largest = 1_048_575;
const around = 8 + 4 + 4 + (4 + 4 + 4 + 5 + 4 + 6) + 4;

const everybody = [{ perms: permissions.all, scheme: "world", id: "anyone" }];
const readers = [{ perms: permissions.read, scheme: "world", id: "anyone" }];

export function createSuite(target: Target): void {
  describe("Client.create()", () => {
    dataTests(target);
    modeTests(target);
    optionTests(target);
  });
  if (isSince(target, "3.5")) {
    describe("Client.create2()", () => create2Tests(target));
    describe("Client.create() of what comes and goes", () => reapTests(target));
  }
}

function dataTests(target: Target): void {
  const test = tester(target);

  const kinds: Array<[string, string | Uint8Array | null, number[] | null]> = [
    ["null", null, null],
    ["empty text", "", []],
    ["no bytes", new Uint8Array(0), []],
    ["bytes", Uint8Array.of(0, 255, 1), [0, 255, 1]],
    ["text, as UTF-8", "ü🔒", [195, 188, 240, 159, 148, 146]],
  ];
  for (const [name, data, bytes] of kinds) {
    test(`keeps ${name}`, async ({ zk, root }) => {
      await zk.create(`${root}/a`, data);

      const read = await zk.getData(`${root}/a`);
      assertEquals(read.data && [...read.data], bytes);
      assertEquals(read.stat.dataLength, bytes?.length ?? 0);
    });
  }

  test("makes empty data, not null, when it is given none", async ({ zk, root }) => {
    await zk.create(`${root}/a`);

    assertEquals(textOf((await zk.getData(`${root}/a`)).data), "");
  });

  test("sends as much as the server takes, and not a byte more", async ({ open, root }) => {
    const tap = new Wiretap();
    const zk = await open({ onPacket: tap.onPacket });
    const { session } = zk;
    const data = new Uint8Array(largest - around - `${root}/a`.length).fill(7);
    tap.clear();

    await zk.create(`${root}/a`, data);
    await assertRejects(
      () => zk.create(`${root}/b`, new Uint8Array(data.length + 1)),
      RangeError,
      "1048576 bytes",
    );

    assertEquals(tap.sent, ["create"]);
    assertEquals(tap.packets[0].bytes.length, largest);
    assertEquals((await zk.getData(`${root}/a`)).data, data);
    assertStrictEquals(zk.session, session);
  });

  test("keeps a path of every script", async ({ zk, root }) => {
    const { path } = await zk.create(`${root}/ü 日本 ..x ok.`);

    assertEquals(path, `${root}/ü 日本 ..x ok.`);
    assertEquals(await zk.getChildren(root), ["ü 日本 ..x ok."]);
  });
}

function modeTests(target: Target): void {
  const test = tester(target);

  test("answers the path and the zxid that made the znode", async ({ zk, root }) => {
    const { path, zxid } = await zk.create(`${root}/a`, "x");

    const { czxid, mzxid, ephemeralOwner } = (await zk.exists(path))!;
    assertEquals(path, `${root}/a`);
    assertEquals([czxid, mzxid, ephemeralOwner], [zxid, zxid, 0n]);
  });

  test("ephemeral: the znode belongs to the session", async ({ zk, root }) => {
    await zk.create(`${root}/a`, "", { mode: "ephemeral" });

    const stat = (await zk.exists(`${root}/a`))!;
    assertEquals(stat.ephemeralOwner, zk.session.id);
  });

  for (
    const mode of ["persistent-sequential", "ephemeral-sequential"] as const
  ) {
    test(`${mode}: the server counts the parent's children`, async ({ zk, root }) => {
      const paths: string[] = [];
      for (const name of ["a-", "b-", ""]) {
        paths.push((await zk.create(`${root}/${name}`, "", { mode })).path);
      }

      assertEquals(paths, [
        `${root}/a-0000000000`,
        `${root}/b-0000000001`,
        `${root}/0000000002`,
      ]);
      const owner = mode === "ephemeral-sequential" ? zk.session.id : 0n;
      assertEquals((await zk.exists(paths[2]))!.ephemeralOwner, owner);
    });
  }

  if (!isSince(target, "3.5")) return;

  const timed: CreateMode[] = ["persistent-ttl", "persistent-sequential-ttl"];
  for (const mode of ["container", ...timed] as const) {
    test(`${mode}: the znode belongs to no session`, async ({ zk, root }) => {
      const ttl = mode === "container" ? undefined : 60_000;

      const { path, zxid } = await zk.create(`${root}/a`, "x", { mode, ttl });

      const number = mode.includes("sequential") ? "0000000000" : "";
      assertEquals(path, `${root}/a${number}`);
      const { czxid, ephemeralOwner } = (await zk.exists(path))!;
      assertEquals([czxid, ephemeralOwner], [zxid, 0n]);
    });
  }
}

function optionTests(target: Target): void {
  const test = tester(target);

  test("parents: makes what is missing above", async ({ zk, root }) => {
    await zk.create(`${root}/a/b/c`, "deep", { parents: true });

    assertEquals(textOf((await zk.getData(`${root}/a/b/c`)).data), "deep");
    assertEquals(textOf((await zk.getData(`${root}/a`)).data), "");
  });

  test("parents: makes the parent of a number without a name", async ({ zk, root }) => {
    const mode = "persistent-sequential";

    const { path } = await zk.create(`${root}/a/`, "", { mode, parents: true });

    assertEquals(path, `${root}/a/0000000000`);
  });

  test("parents: sends one request where nothing is missing", async ({ open, root }) => {
    const tap = new Wiretap();
    const zk = await open({ onPacket: tap.onPacket });
    tap.clear();

    await zk.create(`${root}/a`, "", { parents: true });

    assertEquals(tap.sent, ["create"]);
  });

  test("acl: goes before that of connect()", async ({ open, root }) => {
    const zk = await open({ acl: readers });

    await zk.create(`${root}/a`);
    await zk.create(`${root}/b`, "", { acl: everybody });

    assertEquals((await zk.getAcl(`${root}/a`)).acl, readers);
    assertEquals((await zk.getAcl(`${root}/b`)).acl, everybody);
  });

  test("acl: also goes to the parents that are missing", async ({ zk, root }) => {
    const perms = permissions.all & ~permissions.write;
    const acl = [{ perms, scheme: "world", id: "anyone" }];

    await zk.create(`${root}/a/b`, "", { acl, parents: true });

    assertEquals((await zk.getAcl(`${root}/a`)).acl, acl);
    assertEquals((await zk.getAcl(`${root}/a/b`)).acl, acl);
  });

  test("rejects, and sends nothing, for arguments that cannot be", async ({ open, root }) => {
    const tap = new Wiretap();
    const zk = await open({ onPacket: tap.onPacket });
    tap.clear();
    const path = `${root}/a`;
    const ttl = "persistent-ttl";

    await assertRejects(() => zk.create("a"), TypeError);
    await assertRejects(() => zk.create(`${root}/`), TypeError);
    await assertRejects(() => zk.create(`${root}/\u007f`), TypeError);
    await assertRejects(() => zk.create(path, 1 as never), TypeError);
    await assertRejects(() => zk.create(path, "", { ttl: 1 }), TypeError);
    await assertRejects(() => zk.create(path, "", { mode: ttl }), RangeError);
    for (const bad of [0, -1, 1.5, 2 ** 40]) {
      const options = { mode: ttl, ttl: bad } as const;
      await assertRejects(() => zk.create(path, "", options), RangeError);
    }
    const mode = "forever" as CreateMode;
    await assertRejects(() => zk.create(path, "", { mode }), TypeError);

    assertEquals(tap.sent, []);
  });
}

function create2Tests(target: Target): void {
  const test = tester(target);

  const modes: CreateMode[] = [
    "persistent",
    "ephemeral",
    "persistent-sequential",
    "ephemeral-sequential",
    "container",
    "persistent-ttl",
    "persistent-sequential-ttl",
  ];
  for (const mode of modes) {
    test(`${mode}: answers the Stat that exists() shows`, async ({ zk, root }) => {
      const ttl = mode.endsWith("ttl") ? 60_000 : undefined;

      const made = await zk.create2(`${root}/a`, "abc", { mode, ttl });

      const stat: Stat = (await zk.exists(made.path))!;
      assertEquals(made.stat, stat);
      assertEquals([stat.czxid, stat.dataLength], [made.zxid, 3]);
      assertMatch(made.path, /\/a(\d{10})?$/);
    });
  }

  test("parents: makes what is missing above", async ({ zk, root }) => {
    const { path, stat } = await zk.create2(`${root}/a/b`, "", {
      parents: true,
    });

    assertEquals((await zk.exists(path))!.czxid, stat.czxid);
  });
}

/** Our servers look every second for what has had its time. */
function reapTests(target: Target): void {
  if (!target.isOurs) return;
  const test = tester(target);

  test("a container goes some time after its last child", async ({ zk, root }) => {
    const path = `${root}/a`;
    await zk.create(path, "", { mode: "container" });
    await zk.create(`${path}/b`);
    await zk.delete(`${path}/b`);

    await until("it is gone", async () => await zk.exists(path) === null);
  });

  test("a znode with a ttl goes when nobody touched it for so long", async ({ zk, root }) => {
    const path = `${root}/a`;
    await zk.create(path, "", { mode: "persistent-ttl", ttl: 60_000 });
    await zk.create(`${path}-2`, "", { mode: "persistent-ttl", ttl: 50 });

    const isGone = async () => await zk.exists(`${path}-2`) === null;
    await until("it is gone", isGone);

    assert(await zk.exists(path));
  });
}
