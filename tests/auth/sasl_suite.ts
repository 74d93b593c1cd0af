// SASL DIGEST-MD5 on a server with users: who is let in as whom, who is not, and what goes first on each connection.
// The same assertions for real and embedded servers.
// Run by sasl_test.ts.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe } from "@std/testing/bdd";
import {
  type Acl,
  acl,
  AuthFailedError,
  connect,
  digestId,
  permissions,
  SequentialLock,
} from "../../mod.ts";
import { FaultProxy } from "../../testing/mod.ts";
import {
  anna as digestAnna,
  assertRefused,
  Ear,
  isSince,
  onceDisconnected,
  tester,
  throughProxy,
  until,
} from "../suites/tools.ts";
import type { SaslTarget } from "./targets.ts";

const anna = { user: "anna", password: "secret" };
const ben = { user: "ben", password: "other" };
const onlyAnna: Acl[] = [{
  perms: permissions.all,
  scheme: "sasl",
  id: "anna",
}];

export function saslSuite(target: SaslTarget): void {
  describe("ConnectOptions.sasl", () => {
    usersTests(target);
    orderTests(target);
    refusalTests(target);
  });
}

function usersTests(target: SaslTarget): void {
  const test = tester(target);

  for (const [user, password] of Object.entries(target.users)) {
    test(`proves the user ${user}`, async ({ root, open }) => {
      const zk = await open({ sasl: { user, password } });
      const path = `${root}/a`;

      await zk.create(path, "", { acl: acl.creatorAll });

      const { acl: [entry] } = await zk.getAcl(path);
      assertEquals(entry, { perms: 31, scheme: "sasl", id: user });
    }, { sasl: anna });
  }

  test("opens what is closed to other users", async ({ zk, root, open }) => {
    await zk.setAcl(root, onlyAnna);
    const other = await open({ sasl: ben });

    await assertRefused(() => other.getData(root), "NoAuth");
    await zk.getData(root);
  }, { sasl: anna });

  test("is added to by credentials", async ({ zk, root }) => {
    await zk.setAcl(root, acl.creatorAll);

    const { acl: entries } = await zk.getAcl(root);
    const ids = entries.map(({ scheme, id }) => `${scheme} ${id}`).sort();
    assertEquals(ids, [`digest ${digestId("anna", "secret")}`, "sasl anna"]);
  }, { sasl: anna, auth: [digestAnna] });

  test(
    "lets a lock live in znodes that are closed to others",
    async ({ zk, root, open }) => {
      const options = { acl: acl.creatorAll };
      const held = await new SequentialLock(zk, `${root}/l`, options).acquire();
      const other = await open({ sasl: ben });

      const refused = new SequentialLock(other, `${root}/l`).tryAcquire();

      await assertRefused(() => refused, "NoAuth");
      assert(await held.release());
    },
    { sasl: anna },
  );
}

function orderTests(target: SaslTarget): void {
  const test = tester(target);

  test(
    "goes before credentials, watches and what was queued, on every connection",
    (world) =>
      throughProxy(target, world, async ({ zk, proxy, root }) => {
        const path = `${root}/a`;
        await zk.create(path, "mine", { acl: onlyAnna });
        await zk.exists(path, new Ear());
        const queued = onceDisconnected(zk, () => zk.getData(path));
        proxy.clear();

        proxy.cut();

        await queued;
        const sent = proxy.packets.filter(({ op, direction }) =>
          direction === "request" && op !== "ping"
        );
        assertEquals(sent.map(({ op }) => op), [
          "connect",
          "sasl",
          "sasl",
          "auth",
          "setWatches",
          "getData",
        ]);
      }, { sasl: anna, auth: [digestAnna] }),
    { sasl: anna },
  );

  test(
    "cut off at every packet of it, it is begun again, and nothing is lost",
    (world) =>
      throughProxy(target, world, async ({ zk, proxy, root }) => {
        const { session } = zk;
        await zk.create(`${root}/e`, "", { mode: "ephemeral", acl: onlyAnna });
        let left = 3;
        proxy.rule = ({ op, direction }) => {
          const isCut = op === "sasl" && left > 0 &&
            (left === 1) === (direction === "request");
          if (!isCut) return undefined;
          left--;
          return "cut";
        };

        proxy.cut();
        const stat = await zk.exists(`${root}/e`);

        assertEquals(stat!.ephemeralOwner, session.id);
        assertStrictEquals(zk.session, session);
      }, { sasl: anna }),
    { sasl: anna },
  );
}

/** How many connections it takes to know that one is refused: 3.4 only hangs up, and once may be an accident. */
function connectionsToKnow(target: SaslTarget): number {
  return isSince(target, "3.5") ? 1 : 2;
}

function refusalTests(target: SaslTarget): void {
  const test = tester(target);
  const wrong = [
    ["a wrong password", { user: "anna", password: "SeCrEt-wrong" }],
    ["an unknown user", { user: "nobody", password: "SeCrEt-wrong" }],
    ["an empty password", { user: "anna", password: "" }],
  ] as const;

  for (const [what, sasl] of wrong) {
    test(
      `with ${what}: connect() rejects at once, and does not try again`,
      async () => {
        const proxy = await FaultProxy.start(target.servers);
        try {
          const error = await assertRejects(
            () => connect(proxy.servers, { sasl }),
            AuthFailedError,
          );

          assertEquals([error.scheme, error.code], ["sasl", "AuthFailed"]);
          assertEquals(
            proxy.count("request", "connect"),
            connectionsToKnow(target),
          );
          await until("nothing is open", () => proxy.connections === 0);
        } finally {
          await proxy.close();
        }
      },
      { sasl: anna },
    );
  }

  test(
    "whose password was changed meanwhile finishes the client",
    (world) =>
      throughProxy(target, world, async ({ zk, proxy, root }) => {
        const held = await new SequentialLock(zk, `${root}/l`).acquire();
        const queued = onceDisconnected(zk, () => zk.getData(root));
        queued.catch(() => {});
        proxy.clear();

        await target.changePassword("ben", "changed");
        try {
          const error = await assertRejects(() => queued, AuthFailedError);

          assertStrictEquals(zk.signal.reason, error);
          assertStrictEquals(zk.session.signal.reason, error);
          assertEquals([zk.session.state, held.state], ["auth-failed", "lost"]);
          assertInstanceOf(held.signal.reason.cause, AuthFailedError);
          const proofs = proxy.packets.filter(({ op, direction }) =>
            direction === "request" && op === "sasl"
          );
          assertEquals(proofs.length, 2 * connectionsToKnow(target));
        } finally {
          await target.changePassword("ben", "other");
        }
      }, { sasl: ben }),
    { sasl: anna },
  );
}
