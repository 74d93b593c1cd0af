// Credentials of the scheme digest: what a wrong password costs, and ACL helpers that servers take.
// What goes first after a reconnect is in suites/client_suite_rights.ts.
// Runs on real and embedded servers.

import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { describe } from "@std/testing/bdd";
import {
  acl,
  AuthFailedError,
  connect,
  digestId,
  permissions,
  SequentialLock,
} from "../../mod.ts";
import { FaultProxy } from "../../testing/mod.ts";
import { assertRefused, tester, throughProxy } from "../suites/tools.ts";
import { embeddedTarget, type Target, targets } from "../targets.ts";

const all = [
  await embeddedTarget("3.4", "over TCP"),
  await embeddedTarget("3.9", "over TCP"),
  ...await targets(),
];
for (const target of all) {
  describe(target.name, () => {
    aclTests(target);
    passwordTests(target);
  });
}

function credential(text: string) {
  return { scheme: "digest", auth: text };
}

function aclTests(target: Target): void {
  const test = tester(target);
  const users = [["anna", "secret"], ["gräte", "пароль:x"], ["a b", ""]];

  for (const [user, password] of users) {
    test(`digestId() is the identity that the server gives ${user}`, async ({ zk, root }) => {
      await zk.addAuth(credential(`${user}:${password}`));

      await zk.setAcl(root, acl.creatorAll);

      const { acl: [{ id }] } = await zk.getAcl(root);
      assertEquals(id, digestId(user, password));
    });
  }

  test("digestId() in the ACL of create() opens a znode to that user alone", async ({ zk, root, open }) => {
    const id = digestId("ben", "other");
    const onlyBen = [{ perms: permissions.all, scheme: "digest", id }];
    const ben = await open({ auth: [credential("ben:other")] });

    await zk.create(`${root}/a`, "", { acl: onlyBen });

    await ben.getData(`${root}/a`);
    await assertRefused(() => zk.getData(`${root}/a`), "NoAuth");
  });

  test("acl.creatorAll without a credential is refused", async ({ zk, root }) => {
    const made = () => zk.create(`${root}/a`, "", { acl: acl.creatorAll });

    await assertRefused(made, "InvalidAcl");
  });

  test("acl.readOnly lets read, and nothing else", async ({ zk, root }) => {
    await zk.setAcl(root, acl.readOnly);

    await zk.getData(root);
    await assertRefused(() => zk.setData(root, ""), "NoAuth");
    await assertRefused(() => zk.create(`${root}/a`), "NoAuth");
    await assertRefused(() => zk.setAcl(root, acl.open), "NoAuth");
  });

  test("acl.open is what znodes have that are given none", async ({ zk, root }) => {
    const { acl: given } = await zk.getAcl(root);

    assertEquals(given, acl.open);
  });
}

function passwordTests(target: Target): void {
  const test = tester(target);

  test("A wrong password is NoAuth at once, for each call, and the client lives on", (world) =>
    throughProxy(target, world, async ({ zk, proxy, root }) => {
      const { session } = zk;
      const owner = await world.open({ auth: [credential("anna:secret")] });
      await owner.create(`${root}/l`, "", { acl: acl.creatorAll });

      const lock = new SequentialLock(zk, `${root}/l`);
      await assertRefused(() => zk.getData(`${root}/l`), "NoAuth");
      await assertRefused(() => lock.acquire(), "NoAuth");
      await assertRefused(() => lock.tryAcquire(), "NoAuth");

      assertStrictEquals(zk.session, session);
      assertEquals([session.state, proxy.count("request", "connect")], [
        "connected",
        1,
      ]);
    }, { auth: [credential("anna:wrong")] }));

  test("A scheme that the server does not know: connect() rejects, and does not try again", async () => {
    const proxy = await FaultProxy.start(target.servers);
    try {
      const auth = [{ scheme: "unheard-of", auth: "x" }];

      const error = await assertRejects(
        () => connect(proxy.servers, { auth }),
        AuthFailedError,
      );

      assertEquals(error.scheme, "unheard-of");
      assertEquals(proxy.count("request", "connect"), 1);
    } finally {
      await proxy.close();
    }
  });
}
