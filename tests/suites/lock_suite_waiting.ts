// Waiting for a lock that somebody has: the grant, giving up, and a connection that is lost meanwhile.
// Knows where versions differ: nowhere.
// Part of lock_suite.ts.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe } from "@std/testing/bdd";
import type { Target } from "../targets.ts";
import { countBecomes, type Kind, queueFor } from "./lock_suite_tools.ts";
import { tester, throughProxy, until, within } from "./tools.ts";

export function waitingSuite(target: Target, Lock: Kind): void {
  describe(`${Lock.name}.acquire(), while somebody has it,`, () => {
    grantTests(target, Lock);
    givingUpTests(target, Lock);
  });
}

function grantTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("waits, and is granted by the release", async ({ zk, root, open }) => {
    const held = await new Lock(zk, `${root}/lock`).acquire();
    const other = await open();
    const waiter = await queueFor(new Lock(other, `${root}/lock`));
    await other.ping();
    const before = waiter.isGranted;

    const released = await held.release();
    const next = await within("it is granted", waiter.acquired);

    assertEquals([before, released], [false, true]);
    assertEquals(waiter.ahead, [1]);
    assert(next.token > held.token, `${next.token}`);
    assertEquals([next.state, held.state], ["held", "released"]);
    await next.release();
  });

  test("waits for another hold of the same client, too", async ({ zk, root }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const held = await lock.acquire();
    const waiter = await queueFor(lock);
    await zk.ping();
    const before = waiter.isGranted;

    await held.release();
    const next = await within("it is granted", waiter.acquired);

    assertEquals(before, false);
    assert(next.token > held.token);
    assertEquals(await next.release(), true);
  });

  test("is granted when the holder's client is closed", async ({ zk, root, open }) => {
    const other = await open();
    await new Lock(other, `${root}/lock`).acquire();
    const waiter = await queueFor(new Lock(zk, `${root}/lock`));

    await other.close();

    const next = await within("it is granted", waiter.acquired);
    await next.release();
  });

  test("one after the other has it, each with a greater token", async ({ root, open }) => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => open()));
    const tokens: bigint[] = [];
    let inside = 0;
    let most = 0;

    await Promise.all(
      clients.flatMap((zk) =>
        [1, 2, 3].map(() =>
          new Lock(zk, `${root}/lock`).run(async ({ token }) => {
            most = Math.max(most, ++inside);
            tokens.push(token);
            await zk.ping();
            inside--;
          })
        )
      ),
    );

    assertEquals([most, tokens.length], [1, 12]);
    assertEquals(tokens, [...tokens].sort((a, b) => a < b ? -1 : 1));
    assertEquals(new Set(tokens).size, 12);
  });

  test("survives a lost connection, also if it is granted meanwhile", (world) =>
    throughProxy(target, world, async ({ zk, proxy, root }) => {
      const held = await new Lock(world.zk, `${root}/lock`).acquire();
      const waiter = await queueFor(new Lock(zk, `${root}/lock`));
      await zk.ping();
      const { id } = zk.session;
      proxy.refuse();
      proxy.cut();
      await until("it knows", () => zk.session.state === "disconnected");

      await held.release();
      proxy.heal();

      const next = await within("it is granted", waiter.acquired);
      assertEquals([waiter.ahead, zk.session.id], [[1], id]);
      await next.release();
    }));
}

function givingUpTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("rejects with the signal's reason, and leaves nothing", async ({ zk, root, open }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const held = await lock.acquire();
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const other = new Lock(await open(), lock.path);
    const waiter = await queueFor(other, { signal });

    giveUp.abort(new Error("no more"));

    await assertRejects(() => waiter.acquired, Error, "no more");
    await countBecomes(lock, 1);
    await held.release();
    await countBecomes(lock, 0);
  });

  test("and gives up harms nobody behind", async ({ zk, root, open }) => {
    const held = await new Lock(zk, `${root}/lock`).acquire();
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const middle = await queueFor(new Lock(await open(), `${root}/lock`), {
      signal,
    });
    const last = await queueFor(new Lock(await open(), `${root}/lock`));

    giveUp.abort();
    await assertRejects(() => middle.acquired, DOMException);
    await zk.ping();

    assertEquals(last.isGranted, false);
    await held.release();
    await (await within("the last has it", last.acquired)).release();
  });

  test("rejects with a TimeoutError when it took too long", async ({ zk, root, open }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const held = await lock.acquire();
    const other = new Lock(await open(), lock.path);

    const error = await assertRejects(
      () => other.acquire({ timeout: 50 }),
      DOMException,
    );

    assertEquals(error.name, "TimeoutError");
    await countBecomes(lock, 1);
    assertEquals(await held.release(), true);
  });

  test("rejects at the first reply if its timeout is 0", async ({ zk, root, open }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const held = await lock.acquire();
    const other = new Lock(await open(), lock.path);
    const queued: number[] = [];

    const error = await assertRejects(
      () => other.acquire({ timeout: 0, onQueued: (n) => queued.push(n) }),
      DOMException,
    );

    assertEquals([error.name, queued], ["TimeoutError", []]);
    await countBecomes(lock, 1);
    assertEquals(await held.release(), true);
  });
}
