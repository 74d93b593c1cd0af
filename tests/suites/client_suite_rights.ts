// ACLs and credentials: who may do what, and what becomes of a credential over time.
// Knows what each version checks.
// Part of client_suite.ts.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createHash } from "node:crypto";
import {
  type Acl,
  AuthFailedError,
  type Client,
  permissions,
} from "../../protocol/mod.ts";
import {
  anna,
  assertRefused,
  Ear,
  isSince,
  onceDisconnected,
  tester,
  textOf,
  throughProxy,
  until,
} from "./tools.ts";
import { connectTo, type Target } from "../targets.ts";

const { read, write, create, delete: remove, admin, all } = permissions;

function digest(text: string): string {
  const [user] = text.split(":");
  return `${user}:${createHash("sha1").update(text).digest("base64")}`;
}

const onlyAnna: Acl[] = [
  { perms: all, scheme: "digest", id: digest("anna:secret") },
];

function everybody(perms: number): Acl[] {
  return [{ perms, scheme: "world", id: "anyone" }];
}

export function rightsSuite(target: Target): void {
  describe("Client.getAcl() and setAcl()", () => aclTests(target));
  describe("A right", () => rightTests(target));
  describe("Client.addAuth()", () => authTests(target));
  describe("ConnectOptions.auth", () => optionTests(target));
}

function aclTests(target: Target): void {
  const test = tester(target);

  test("setAcl() replaces the ACL, and counts", async ({ zk, root }) => {
    const acl: Acl[] = [
      { perms: all, scheme: "world", id: "anyone" },
      { perms: read | write, scheme: "digest", id: digest("ben:x") },
      { perms: admin, scheme: "ip", id: "127.0.0.1" },
    ];

    const set = await zk.setAcl(root, acl, { version: 0 });

    const got = await zk.getAcl(root);
    assertEquals(got.acl, acl);
    assertEquals(got.stat, set);
    assertEquals([set.aversion, set.version], [1, 0]);
  });

  test("setAcl() with a version replaces only that one", async ({ zk, root }) => {
    await zk.setAcl(root, everybody(all), { version: 0 });

    await assertRefused(
      () => zk.setAcl(root, everybody(read), { version: 0 }),
      "BadVersion",
    );
  });

  test("setAcl() rejects with InvalidAcl for one that cannot be", async ({ zk, root }) => {
    const bad: Acl[][] = [
      [],
      [{ perms: all, scheme: "world", id: "anna" }],
      [{ perms: all, scheme: "digest", id: "no colon" }],
      [{ perms: all, scheme: "auth", id: "" }],
      [{ perms: all, scheme: "unheard-of", id: "x" }],
    ];

    for (const acl of bad) {
      await assertRefused(() => zk.setAcl(root, acl), "InvalidAcl");
    }
  });

  test("getAcl() rejects with NoNode where there is nothing", async ({ zk, root }) => {
    await assertRefused(() => zk.getAcl(`${root}/a`), "NoNode");
  });

  test("auth stands for whatever credentials the client has shown", async ({ root, open }) => {
    const zk = await open({ auth: [anna] });

    await zk.setAcl(root, [{ perms: all, scheme: "auth", id: "" }]);

    assertEquals((await zk.getAcl(root)).acl, onlyAnna);
  });

  // CVE-2019-0201; Debian's 3.4.13 has the fix of 3.4.14.
  test("getAcl() hides digests from those who may not change them", async ({ zk, root }) => {
    await zk.setAcl(root, [...onlyAnna, ...everybody(read)]);

    assertEquals((await zk.getAcl(root)).acl[0].id, "anna:x");
  });
}

/** What needs which right, of the znode or, to make and delete one, of its parent. */
const needs: Array<
  [string, number, (zk: Client, path: string) => Promise<unknown>]
> = [
  ["getData()", read, (zk, path) => zk.getData(path)],
  ["getChildren()", read, (zk, path) => zk.getChildren(path)],
  ["setData()", write, (zk, path) => zk.setData(path, "x")],
  ["setAcl()", admin, (zk, path) => zk.setAcl(path, everybody(all))],
  ["create()", create, (zk, path) => zk.create(`${path}/new`)],
  ["delete()", remove, (zk, path) => zk.delete(`${path}/old`)],
];

function rightTests(target: Target): void {
  const test = tester(target);

  for (const [name, perm, call] of needs) {
    test(`is needed for ${name}, and no other`, async ({ zk, root }) => {
      await zk.create(`${root}/a/old`, "", { parents: true });
      await zk.create(`${root}/b/old`, "", { parents: true });
      await zk.setAcl(`${root}/a`, [...everybody(all & ~perm), ...onlyAnna]);
      await zk.setAcl(`${root}/b`, [...everybody(perm), ...onlyAnna]);

      await assertRefused(() => call(zk, `${root}/a`), "NoAuth");
      await call(zk, `${root}/b`);
    });
  }

  // ZOOKEEPER-2590, also in 3.8.4.
  const checksExists = isSince(target, "3.8.4");
  test(
    checksExists
      ? "is needed for exists() as well, as of 3.8.4"
      : "is not needed for exists(), before 3.8.4",
    async ({ zk, root }) => {
      await zk.setAcl(root, everybody(all & ~read));

      if (checksExists) await assertRefused(() => zk.exists(root), "NoAuth");
      else assertEquals((await zk.exists(root))!.aversion, 1);
    },
  );

  test("for a check in a multi is the right to read", async ({ zk, root }) => {
    await zk.setAcl(root, everybody(all & ~read));

    await assertRefused(
      () => zk.multi([{ op: "check", path: root }]),
      "NoAuth",
    );
  });
}

function authTests(target: Target): void {
  const test = tester(target);

  test("opens what is closed to others", async ({ zk, root, open }) => {
    const other = await open();
    await zk.setAcl(root, onlyAnna);
    await assertRefused(() => zk.getData(root), "NoAuth");

    await zk.addAuth(anna);

    await zk.getData(root);
    await assertRefused(() => other.getData(root), "NoAuth");
  });

  test("of the same turn goes before the calls behind it", async ({ zk, root }) => {
    await zk.setAcl(root, onlyAnna);

    const [, stat] = await Promise.all([
      zk.addAuth(anna),
      zk.setData(root, "x"),
    ]);

    assertEquals(stat.version, 1);
  });

  test("adds to the credentials there are", async ({ zk, root }) => {
    await zk.create(`${root}/a`, "", { acl: onlyAnna });
    await zk.create(`${root}/b`, "", {
      acl: [{ perms: read, scheme: "digest", id: digest("ben:x") }],
    });

    await zk.addAuth(anna);
    await zk.addAuth({
      scheme: "digest",
      auth: new TextEncoder().encode("ben:x"),
    });

    await zk.getData(`${root}/a`);
    await zk.getData(`${root}/b`);
  });

  // node-zookeeper-client: a read asked while disconnected overtook the credential (anchors.md M5).
  test("is shown again after a reconnect, before watches and what was queued", (world) =>
    throughProxy(target, world, async ({ zk, proxy, root }) => {
      const path = `${root}/a`;
      const ear = new Ear();
      await zk.addAuth(anna);
      await zk.create(path, "mine", { acl: onlyAnna });
      await zk.exists(path, ear);
      const queued = onceDisconnected(zk, () => zk.getData(path));
      proxy.clear();

      proxy.cut();

      assertEquals(textOf((await queued).data), "mine");
      const sent = proxy.packets.filter(({ op, direction }) =>
        direction === "request" && op !== "ping"
      );
      assertEquals(sent.map(({ op }) => op), [
        "connect",
        "auth",
        "setWatches",
        "getData",
      ]);
    }));

  test("rejects if the server refuses, and the session goes on without it", (world) =>
    throughProxy(target, world, async ({ zk, proxy, root }) => {
      const path = `${root}/a`;
      const { session } = zk;
      await zk.create(path, "", { mode: "ephemeral" });

      const error = await assertRejects(
        () => zk.addAuth({ scheme: "unheard-of", auth: "x" }),
        AuthFailedError,
      );
      const stat = await zk.exists(path);
      proxy.clear();
      proxy.cut();
      await until("it is back", async () => await zk.exists(path) !== null);

      assertEquals(error.scheme, "unheard-of");
      assertStrictEquals(zk.session, session);
      assertEquals(stat!.ephemeralOwner, session.id);
      assert(!zk.signal.aborted);
      assertEquals(proxy.count("request", "auth"), 0);
    }));

  test("refused: a read of the same turn is asked again", async ({ zk, root }) => {
    const [auth, data] = await Promise.allSettled([
      zk.addAuth({ scheme: "unheard-of", auth: "x" }),
      zk.getData(root),
    ]);

    assertEquals(auth.status, "rejected");
    assertEquals(data.status, "fulfilled");
  });
}

function optionTests(target: Target): void {
  const test = tester(target);

  test("is shown before the first call", async ({ zk, root, open }) => {
    await zk.setAcl(root, onlyAnna);

    const other = await open({ auth: [anna] });

    await other.getData(root);
  });

  it("refused: connect() rejects, and nothing is left open", async () => {
    const auth = [anna, { scheme: "unheard-of", auth: "x" }];

    const error = await assertRejects(
      // So that a client which should not be is not left behind.
      async () => await (await connectTo(target, { auth })).close(),
      AuthFailedError,
    );

    assertEquals(error.scheme, "unheard-of");
  });
}
