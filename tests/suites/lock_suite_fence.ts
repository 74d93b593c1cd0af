// What only an exclusive lock has: one znode, a fence beside it, and a herd that waits for it.
// Knows where versions differ: nowhere.
// Part of lock_suite.ts.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe } from "@std/testing/bdd";
import { ExclusiveLock, LockLostError } from "../../lock/mod.ts";
import type { Packet } from "../../protocol/mod.ts";
import type { Target } from "../targets.ts";
import { queueFor, type Waiter, warningsOf } from "./lock_suite_tools.ts";
import { tester, throughProxy, until, within } from "./tools.ts";

export function fenceSuite(target: Target): void {
  describe("The znode of an ExclusiveLock", () => znodeTests(target));
  describe("The fence of an ExclusiveLock", () => fenceTests(target));
}

function znodeTests(target: Target): void {
  const test = tester(target);

  test("has the path of the lock, and a fence beside it that stays", async ({ zk, root }) => {
    const lock = new ExclusiveLock(zk, `${root}/lock`);

    const held = await lock.acquire();
    await held.release();

    assertEquals(held.path, lock.path);
    assertEquals(await zk.getChildren(root), ["lock-fence"]);
  });

  test("is waited for also if no lock of ours made it", async ({ zk, root, open }) => {
    const other = await open();
    await other.create(`${root}/lock`, "somebody", { mode: "ephemeral" });
    const lock = new ExclusiveLock(zk, `${root}/lock`);
    const waiter = await queueFor(lock);
    const [{ id, holder }] = await lock.contenders();

    await other.close();

    const held = await within("it is granted", waiter.acquired);
    assertEquals([id, holder], [null, true]);
    await held.release();
  });

  test("is taken by one write with one request, and given back by one", (world) =>
    throughProxy(target, world, async ({ zk, proxy, root }) => {
      const lock = new ExclusiveLock(zk, `${root}/lock`);
      await (await lock.acquire()).release();
      await zk.ping();
      proxy.clear();

      const held = await lock.acquire();
      const taking = [proxy.count("request"), proxy.chunks];
      await held.release();

      assertEquals(taking, [1, 1]);
      const ops = proxy.packets.filter(({ direction }) =>
        direction === "request"
      );
      assertEquals(ops.map(({ op }) => op), ["multi", "multi"]);
    }, { sessionTimeout: 30_000 }));

  test("wakes everybody who waits: that is the herd effect", async ({ zk, root, open }) => {
    const woken = new Set<number>();
    const listen = (i: number) => ({ op }: Packet) => {
      if (op === "event") woken.add(i);
    };
    const held = await new ExclusiveLock(zk, `${root}/lock`).acquire();
    const clients = await Promise.all(
      Array.from({ length: 10 }, (_, i) => open({ onPacket: listen(i) })),
    );
    const waiters: Waiter[] = [];
    for (const client of clients) {
      waiters.push(await queueFor(new ExclusiveLock(client, `${root}/lock`)));
    }
    await Promise.all(clients.map((client) => client.ping()));

    await held.release();
    await until("all are woken", () => woken.size === 10);

    const release = async ({ acquired }: Waiter) =>
      await (await acquired).release();
    const all = await within("all have it", Promise.all(waiters.map(release)));
    assertEquals(all, Array(10).fill(true));
  });
}

function fenceTests(target: Target): void {
  const test = tester(target);

  for (const successor of ["another client", "the same session"] as const) {
    test(`keeps a stale holder from what ${successor} has now`, (world) =>
      throughProxy(target, world, async ({ zk, proxy, root }) => {
        const { zk: other } = world;
        const stale = await new ExclusiveLock(zk, `${root}/lock`).acquire();
        // It hears of nothing.
        proxy.rule = ({ direction }) => direction === "event" ? "drop" : "pass";
        await other.delete(stale.path);
        const heir = successor === "another client" ? other : zk;
        const next = await new ExclusiveLock(heir, `${root}/lock`).acquire();

        await assertRejects(() => stale.guard([]), LockLostError);
        const released = await stale.release();

        assertEquals(released, false);
        assertEquals((await other.exists(next.path))!.czxid, next.token);
        assert(next.token > stale.token);
        await next.guard([{ op: "check", path: root }]);
        assertEquals(await next.release(), true);
      }));
  }

  test("refuses the check() of a holder that has been followed by another", async ({ zk, root, open }) => {
    const other = await open();
    const first = await new ExclusiveLock(zk, `${root}/lock`).acquire();
    const ops = [...first.check()];
    await first.release();
    const second = await new ExclusiveLock(other, `${root}/lock`).acquire();

    const error = await assertRejects(() => zk.multi(ops));

    assertEquals((error as { code?: string }).code, "BadVersion");
    assertEquals(await second.release(), true);
  });

  test("that was deleted lets the holder release, with a warning", async ({ zk, root }) => {
    const warnings = warningsOf(zk);
    const lock = new ExclusiveLock(zk, `${root}/lock`);
    const held = await lock.acquire();
    await zk.delete(`${root}/lock-fence`);

    const released = await held.release();

    assertEquals([released, warnings], [true, ["fence-missing"]]);
    assertEquals(await zk.getChildren(root), []);
    await (await lock.acquire()).release();
  });
}
