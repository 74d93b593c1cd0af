// Lock.resume(): a lock that goes from one client to another with its session.
// Knows no version.
// Part of lock_suite.ts.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe } from "@std/testing/bdd";
import { LockLostError } from "../../lock/mod.ts";
import { ClientClosedError } from "../../protocol/mod.ts";
import type { Target } from "../targets.ts";
import { countBecomes, type Kind, queueFor } from "./lock_suite_tools.ts";
import { tester } from "./tools.ts";

export function resumeSuite(target: Target, Lock: Kind): void {
  describe(`${Lock.name}.resume()`, () => {
    handOverTests(target, Lock);
    refusalTests(target, Lock);
  });
}

function handOverTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("goes on holding what another client held in this session", async ({ zk, root, open }) => {
    const first = await open();
    const path = `${root}/lock`;
    const before = await new Lock(first, path).acquire();
    const next = await open({ session: await first.detach() });
    const lock = new Lock(next, path);

    const held = await lock.resume(before.path, before.token);

    assertEquals([held.path, held.token], [before.path, before.token]);
    assertEquals([before.state, held.state], ["lost", "held"]);
    assertEquals(await new Lock(zk, path).tryAcquire(), null);
    const [holder] = await lock.contenders();
    assertEquals([holder.mine, holder.holder], [true, true]);
    await held.guard([{ op: "create", path: `${root}/written` }]);
    assertEquals(await held.release(), true);
    await (await new Lock(zk, path).acquire()).release();
  });

  test("tells who held it before that it is lost here", async ({ root, open }) => {
    const first = await open();
    const held = await new Lock(first, `${root}/lock`).acquire();

    await first.detach();

    const { reason } = held.signal;
    assert(reason instanceof LockLostError);
    assert(reason.cause instanceof ClientClosedError);
    assertEquals(await held.release(), false);
  });

  test("is not troubled by who waited in the client that left", async ({ zk, root, open }) => {
    const path = `${root}/lock`;
    const holder = await new Lock(zk, path).acquire();
    const first = await open();
    const waiter = await queueFor(new Lock(first, path));
    const refused = assertRejects(() => waiter.acquired, ClientClosedError);

    await first.detach();

    await refused;
    await countBecomes(new Lock(zk, path), 1);
    await holder.release();
    await (await new Lock(zk, path).acquire()).release();
  });
}

function refusalTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("rejects with a LockLostError if somebody deleted the znode", async ({ zk, root, open }) => {
    const first = await open();
    const path = `${root}/lock`;
    const before = await new Lock(first, path).acquire();
    const next = await open({ session: await first.detach() });
    await zk.delete(before.path);

    await assertRejects(
      () => new Lock(next, path).resume(before.path, before.token),
      LockLostError,
    );
  });

  test("rejects with a LockLostError for what another session holds", async ({ zk, root, open }) => {
    const path = `${root}/lock`;
    const held = await new Lock(zk, path).acquire();
    const other = await open();

    await assertRejects(
      () => new Lock(other, path).resume(held.path, held.token),
      LockLostError,
    );

    assertEquals(held.state, "held");
    await held.release();
  });

  test("rejects with a LockLostError for another token", async ({ zk, root }) => {
    const path = `${root}/lock`;
    const held = await new Lock(zk, path).acquire();

    await assertRejects(
      () => new Lock(zk, path).resume(held.path, held.token - 1n),
      LockLostError,
    );

    await held.release();
  });

  test("rejects with a TypeError for what cannot be of this lock", async ({ zk, root }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const noToken = 17 as unknown as bigint;

    await assertRejects(() => lock.resume(`${root}/x`, 17n), TypeError);
    await assertRejects(() => lock.resume(lock.path, noToken), TypeError);
  });
}
