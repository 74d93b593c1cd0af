// What a server refuses: every error it can be brought to answer, and operations it has never heard of.
// Knows from which version on each operation is there.
// Part of client_suite.ts.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe } from "@std/testing/bdd";
import {
  type Client,
  ConnectionLossError,
  type ErrorCode,
  ServerError,
} from "../../protocol/mod.ts";
import {
  assertRefused,
  isSince,
  statesOf,
  tester,
  until,
  Wiretap,
} from "./tools.ts";
import type { Target } from "../targets.ts";

export function errorsSuite(target: Target): void {
  describe("ServerError", () => codeTests(target));
  const missing = Object.entries(newer)
    .filter(([, { since }]) => !isSince(target, since));
  if (missing.length === 0) return;
  describe("An operation this server has not", () => {
    for (const [name, { call, op }] of missing) {
      missingTests(target, name, op, call);
    }
    neighbourTests(target);
  });
}

/** How to get an error. The znode has a child `e`, ephemeral, and `p`, persistent with a child of its own. */
interface Row {
  number: number;
  /** As the server calls it. */
  op: string;
  /** Below the test's own znode; null for none. */
  path: string | null;
  since?: string;
  call: (zk: Client, root: string) => Promise<unknown>;
}

const rows: Array<[ErrorCode, Row]> = [
  ["NoNode", {
    number: -101,
    op: "getData",
    path: "/a",
    call: (zk, root) => zk.getData(`${root}/a`),
  }],
  ["NoNode", {
    number: -101,
    op: "create",
    path: "/a/b",
    call: (zk, root) => zk.create(`${root}/a/b`),
  }],
  ["NoAuth", {
    number: -102,
    op: "getChildren2",
    path: "/closed",
    call: (zk, root) => zk.getChildren2(`${root}/closed`),
  }],
  ["BadVersion", {
    number: -103,
    op: "setData",
    path: "/p",
    call: (zk, root) => zk.setData(`${root}/p`, "", { version: 7 }),
  }],
  ["NoChildrenForEphemerals", {
    number: -108,
    op: "create",
    path: "/e/a",
    call: (zk, root) => zk.create(`${root}/e/a`),
  }],
  ["NodeExists", {
    number: -110,
    op: "create",
    path: "/p",
    call: (zk, root) => zk.create(`${root}/p`),
  }],
  ["NotEmpty", {
    number: -111,
    op: "delete",
    path: "/p",
    call: (zk, root) => zk.delete(`${root}/p`),
  }],
  ["InvalidAcl", {
    number: -114,
    op: "setACL",
    path: "/p",
    call: (zk, root) => zk.setAcl(`${root}/p`, []),
  }],
  ["InvalidAcl", {
    number: -114,
    op: "create",
    path: "/a",
    call: (zk, root) => zk.create(`${root}/a`, "", { acl: [] }),
  }],
  ["NoWatcher", {
    number: -121,
    op: "removeWatches",
    path: "/p",
    since: "3.5",
    call: (zk, root) => zk.removeWatches(`${root}/p`),
  }],
  // Unless the server is set up for it.
  ["ReconfigDisabled", {
    number: -123,
    op: "reconfig",
    path: null,
    since: "3.5",
    call: (zk) => zk.reconfig({ leaving: "3" }),
  }],
];

function codeTests(target: Target): void {
  const test = tester(target);

  for (const [code, { number, op, path, since, call }] of rows) {
    if (since && !isSince(target, since)) continue;
    test(`${code}, of ${op}, says what was asked`, async ({ zk, root }) => {
      const acl = [{ perms: 0, scheme: "world", id: "anyone" }];
      await zk.create(`${root}/p/a`, "", { parents: true });
      await zk.create(`${root}/e`, "", { mode: "ephemeral" });
      const { zxid } = await zk.create(`${root}/closed`, "", { acl });

      const error = await assertRefused(() => call(zk, root), code);

      const full = path && root + path;
      assertEquals([error.number, error.op, error.path], [number, op, full]);
      assert(error.zxid !== null && error.zxid >= zxid, `${error.zxid}`);
      assertInstanceOf(error, Error);
      const what = full ? `${op} ${full}` : op;
      assertEquals(error.message, `Cannot ${what}: ${code} (${number})`);
      assertEquals(error.name, "ServerError");
    });
  }

  test("BadArguments is what deleting the server's own znodes brings", async ({ zk }) => {
    for (const path of ["/", "/zookeeper", "/zookeeper/quota"]) {
      const error = await assertRefused(() => zk.delete(path), "BadArguments");

      assertEquals([error.number, error.path], [-8, path]);
    }
  });

  test("leaves the session and the calls around it alone", async ({ zk, root }) => {
    const { session } = zk;

    const results = await Promise.allSettled([
      zk.create(`${root}/a`),
      zk.create(`${root}/a`),
      zk.setData(`${root}/a`, "x"),
    ]);

    assertEquals(results.map(({ status }) => status), [
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    assertStrictEquals(zk.session, session);
  });
}

/** Operations newer than the oldest server, by the method that asks. */
const newer: Record<
  string,
  {
    since: string;
    /** As the server calls it. */
    op: string;
    call: (zk: Client, path: string) => Promise<unknown>;
  }
> = {
  "create2()": {
    since: "3.5",
    op: "create2",
    call: (zk, path) => zk.create2(path),
  },
  "create() of a container": {
    since: "3.5",
    op: "createContainer",
    call: (zk, path) => zk.create(path, "", { mode: "container" }),
  },
  "create() with a ttl": {
    since: "3.5",
    op: "createTTL",
    call: (zk, path) =>
      zk.create(path, "", { mode: "persistent-ttl", ttl: 1000 }),
  },
  "reconfig()": {
    since: "3.5",
    op: "reconfig",
    call: (zk) => zk.reconfig({ leaving: "3" }),
  },
  "checkWatches()": {
    since: "3.5",
    op: "checkWatches",
    call: (zk, path) => zk.checkWatches(path),
  },
  "removeWatches()": {
    since: "3.5",
    op: "removeWatches",
    call: (zk, path) => zk.removeWatches(path),
  },
  "multiRead()": {
    since: "3.6",
    op: "multiRead",
    call: (zk, path) => zk.multiRead([{ op: "getData", path }]),
  },
  "getEphemerals()": {
    since: "3.6",
    op: "getEphemerals",
    call: (zk) => zk.getEphemerals(),
  },
  "getAllChildrenNumber()": {
    since: "3.6",
    op: "getAllChildrenNumber",
    call: (zk, path) => zk.getAllChildrenNumber(path),
  },
  "addWatch()": {
    since: "3.6",
    op: "addWatch",
    call: (zk, path) => zk.addWatch(path, () => {}),
  },
  "whoAmI()": { since: "3.7", op: "whoAmI", call: (zk) => zk.whoAmI() },
};

/** Such a server answers, and hangs up: apache/shardingsphere-elasticjob#1265. */
function missingTests(
  target: Target,
  name: string,
  op: string,
  call: (zk: Client, path: string) => Promise<unknown>,
): void {
  const test = tester(target);

  test(`${name} is refused, the second time without being sent; the session goes on`, async ({ root, open }) => {
    const tap = new Wiretap();
    const zk = await open({ onPacket: tap.onPacket });
    const { session } = zk;
    await zk.create(`${root}/e`, "", { mode: "ephemeral" });

    const first = await assertRefused(
      () => call(zk, `${root}/a`),
      "Unimplemented",
    );
    // It may still answer what comes behind, before it hangs up.
    const connects = () => tap.sent.filter((op) => op === "connect").length;
    const isBack = () => connects() === 2 && session.state === "connected";
    await until("it is back", isBack);
    tap.clear();
    const second = await assertRefused(
      () => call(zk, `${root}/a`),
      "Unimplemented",
    );
    const stat = await zk.exists(`${root}/e`);

    assertEquals([first.op, first.number, second.op], [op, -6, op]);
    assertEquals(first.zxid, null);
    assertEquals(tap.sent, ["exists"]);
    assertStrictEquals(zk.session, session);
    assertEquals(stat!.ephemeralOwner, session.id);
  });
}

function neighbourTests(target: Target): void {
  const test = tester(target);

  test("costs a read behind it nothing, a write the certainty", async ({ zk, root }) => {
    const states = statesOf(zk);

    const [missing, read, write] = await Promise.allSettled([
      zk.whoAmI(),
      zk.exists(root),
      zk.setData(root, "x"),
    ]);

    assert(missing.status === "rejected" && write.status === "rejected");
    assertInstanceOf(missing.reason, ServerError);
    assertInstanceOf(write.reason, ConnectionLossError);
    assertEquals(write.reason.outcome, "unknown");
    assertEquals(read.status, "fulfilled");
    await until("it is back", () => zk.session.state === "connected");
    assertEquals(states, ["disconnected", "connected"]);
  });

  // The server cannot even read it, but stays.
  test("is MarshallingError inside a multi", async ({ zk, root }) => {
    const states = statesOf(zk);

    const error = await assertRejects(
      () => zk.multi([{ op: "create", path: `${root}/a`, mode: "container" }]),
      ServerError,
    );

    assertEquals([error.code, error.number], ["MarshallingError", -5]);
    assertEquals(await zk.exists(`${root}/a`), null);
    assertEquals(states, []);
  });
}
