// What only a queue has: an order, one waiter woken at a time, a directory, and neighbours of other clients.
// Knows where versions differ: containers came with 3.5; who reaps them, and whose counters can be set.
// Part of lock_suite.ts.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe } from "@std/testing/bdd";
import {
  type HeldLock,
  SequenceExhaustedError,
  SequentialLock,
} from "../../lock/mod.ts";
import { joinPath, type Packet } from "../../protocol/mod.ts";
import type { Target } from "../targets.ts";
import { queueFor, type Waiter, warningsOf } from "./lock_suite_tools.ts";
import { isSince, tester, throughProxy, until, within } from "./tools.ts";

export function queueSuite(target: Target): void {
  describe("The queue of a SequentialLock", () => {
    orderTests(target);
    costTests(target);
    neighbourTests(target);
    directoryTests(target);
    if (target.embedded) numberTests(target);
  });
}

function orderTests(target: Target): void {
  const test = tester(target);

  test("serves in the order of arrival, and says how many are ahead", async ({ zk, root, open }) => {
    const lock = new SequentialLock(zk, `${root}/lock`);
    const held = await lock.acquire();
    const waiters: Waiter[] = [];
    for (let i = 0; i < 4; i++) {
      waiters.push(await queueFor(new SequentialLock(await open(), lock.path)));
    }
    const paths = (await lock.contenders()).map(({ path }) => path);
    const granted: string[] = [];

    await held.release();
    for (const { acquired } of waiters) {
      const next = await within("it is granted", acquired);
      granted.push(next.path);
      await next.release();
    }

    assertEquals(waiters.map(({ ahead }) => ahead), [[1], [2], [3], [4]]);
    assertEquals([held.path, ...granted], paths);
  });

  test("is shown by contenders(), the holder first", async ({ zk, root, open }) => {
    const lock = new SequentialLock(zk, `${root}/lock`);
    const held = await lock.acquire();
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const other = new SequentialLock(await open(), lock.path);
    const waiter = await queueFor(other, { signal });

    const line = await lock.contenders();

    assertEquals(line.map(({ holder }) => holder), [true, false]);
    assertEquals(line.map(({ mine }) => mine), [true, false]);
    assertEquals(line.map(({ kind }) => kind), ["lock", "lock"]);
    assertEquals(line[0].path, held.path);
    assert(line[0].sequence! < line[1].sequence!);
    giveUp.abort();
    await assertRejects(() => waiter.acquired);
    await held.release();
  });
}

/** Operations in the packets that clients sent through a proxy. */
function requests(
  packets: readonly { direction: string; op: string | null }[],
) {
  return packets.filter(({ direction }) => direction === "request")
    .map(({ op }) => op);
}

function costTests(target: Target): void {
  const test = tester(target);

  test("is entered by one write with two requests, and left by one", (world) =>
    throughProxy(target, world, async ({ zk, proxy, root }) => {
      const lock = new SequentialLock(zk, `${root}/lock`);
      await (await lock.acquire()).release();
      await zk.ping();
      proxy.clear();

      const held = await lock.acquire();
      const taking = [requests(proxy.packets), proxy.chunks];
      proxy.clear();
      await held.release();

      assertEquals(taking, [["create", "getChildren"], 1]);
      assertEquals([requests(proxy.packets), proxy.chunks], [["delete"], 1]);
    }, { sessionTimeout: 30_000 }));

  test("costs a waiter one watch of the one ahead, and one more list", (world) =>
    throughProxy(target, world, async ({ zk, proxy, root }) => {
      const held = await new SequentialLock(world.zk, `${root}/lock`).acquire();
      proxy.clear();

      const waiter = await queueFor(new SequentialLock(zk, `${root}/lock`));
      await zk.ping();
      await held.release();
      const next = await within("it is granted", waiter.acquired);

      assertEquals(requests(proxy.packets).filter((op) => op !== "ping"), [
        "create",
        "getChildren",
        "getData",
        "getChildren",
      ]);
      await next.release();
    }, { sessionTimeout: 30_000 }));

  test("with 50 waiters: each release wakes exactly one", async ({ zk, root, open }) => {
    const woken: number[] = [];
    const listen = (i: number) => ({ op }: Packet) => {
      if (op === "event") woken.push(i);
    };
    const lock = new SequentialLock(zk, `${root}/lock`);
    const clients = await Promise.all(
      Array.from({ length: 50 }, (_, i) => open({ onPacket: listen(i) })),
    );
    let held: HeldLock = await lock.acquire();
    const waiters: Waiter[] = [];
    for (const client of clients) {
      waiters.push(await queueFor(new SequentialLock(client, lock.path)));
    }
    // The watch is set after onQueued; a ping behind it says that it stands.
    await Promise.all(clients.map((client) => client.ping()));

    for (const [i, { acquired }] of waiters.entries()) {
      woken.length = 0;
      await held.release();
      held = await within(`number ${i} is granted`, acquired);

      assertEquals(woken, [i]);
    }
    await held.release();
    assertEquals(woken.length, 1);
  });
}

function neighbourTests(target: Target): void {
  const test = tester(target);

  test("passes over children that are no contenders, with a warning", async ({ zk, root }) => {
    const warnings = warningsOf(zk);
    await zk.create(`${root}/lock/config`, "", { parents: true });
    const lock = new SequentialLock(zk, `${root}/lock`);

    const held = await lock.acquire();

    assertEquals(warnings, ["foreign-child"]);
    assertEquals((await lock.contenders()).length, 1);
    await held.release();
    assertEquals(await zk.getChildren(lock.path), ["config"]);
  });

  for (
    const prefix of [
      "_c_0f6e7d8c-1111-4222-8333-0123456789ab-lock-", // Curator, go-zk
      "0123456789abcdef0123456789abcdef__lock__", // kazoo
    ]
  ) {
    test(`waits behind ${prefix}, of another client`, async ({ zk, root, open }) => {
      const other = await open();
      const lock = new SequentialLock(zk, `${root}/lock`);
      const { path } = await other.create(`${lock.path}/${prefix}`, "", {
        mode: "ephemeral-sequential",
        parents: true,
      });
      const waiter = await queueFor(lock);
      const [first] = await lock.contenders();

      await other.delete(path);

      const held = await within("it is granted", waiter.acquired);
      assertEquals([first.path, first.holder, first.mine], [path, true, false]);
      assertEquals(first.kind, "lock");
      await held.release();
    });
  }

  test("goes on if an operator deletes somebody in the middle", async ({ zk, root, open }) => {
    const lock = new SequentialLock(zk, `${root}/lock`);
    const held = await lock.acquire();
    const middle = await queueFor(new SequentialLock(await open(), lock.path));
    const [, { path }] = await lock.contenders();
    const other = await open();
    const last = await queueFor(new SequentialLock(other, lock.path));
    await other.ping(); // Its watch stands.

    await zk.delete(path);
    await other.ping();
    await other.ping();
    const before = last.isGranted;
    await held.release();
    const next = await within("the last has it", last.acquired);
    await until("the middle is back", () => middle.ahead.length === 2);
    await next.release();

    await (await within("the middle has it", middle.acquired)).release();
    assertEquals([before, last.ahead, middle.ahead], [false, [2], [1, 1]]);
  });
}

function directoryTests(target: Target): void {
  const test = tester(target);

  test("stands in a directory that is made for it, whatever is missing above", async ({ zk, root }) => {
    const lock = new SequentialLock(zk, `${root}/a/b/lock`);

    const held = await lock.acquire();

    assertEquals(
      (await zk.getChildren(lock.path)).map((name) =>
        joinPath(lock.path, name)
      ),
      [held.path],
    );
    await held.release();
  });

  test("comes together again when its directory is deleted in between", async ({ zk, root }) => {
    const lock = new SequentialLock(zk, `${root}/lock`);
    await (await lock.acquire()).release();
    await zk.delete(lock.path).catch(() => {}); // Reaped already: as well.

    const held = await lock.acquire();

    assertEquals(held.state, "held");
    await held.release();
  });

  if (!target.isOurs) return; // Others may look once a minute.

  if (isSince(target, "3.5")) {
    test("leaves a directory that goes by itself, as of 3.5", async ({ zk, root }) => {
      const lock = new SequentialLock(zk, `${root}/lock`);

      await (await lock.acquire()).release();

      const isGone = async () => await zk.exists(lock.path) === null;
      await until("it is gone", isGone);
    });
  } else {
    test("leaves a directory, before 3.5", async ({ zk, root }) => {
      const lock = new SequentialLock(zk, `${root}/lock`);

      await (await lock.acquire()).release();

      assertEquals(await zk.getChildren(lock.path), []);
    });
  }
}

/** Of two thousand million numbers a real server would have to give all. */
function numberTests(target: Target): void {
  const embedded = target.embedded!;
  const test = tester(target);
  const last = 2 ** 31 - 1;

  test("warns when its numbers come to their end", async ({ zk, root }) => {
    const warnings = warningsOf(zk);
    const lock = new SequentialLock(zk, `${root}/lock`);
    await zk.create(lock.path);
    await embedded.setCounter(lock.path, last - 1_000);

    const held = await lock.acquire();

    assertEquals(warnings, ["sequence-health"]);
    assert(held.path.endsWith(`-${last - 1_000}`), held.path);
    await held.release();
  });

  test("refuses when they are used up, and leaves nothing (ZOOKEEPER-3249)", async ({ zk, root }) => {
    const lock = new SequentialLock(zk, `${root}/lock`);
    await zk.create(lock.path);
    await embedded.setCounter(lock.path, last);

    const error = await assertRejects(
      () => lock.acquire(),
      SequenceExhaustedError,
    );

    assertEquals([error.path, error.sequence], [lock.path, last]);
    const isEmpty = async () => (await zk.getChildren(lock.path)).length === 0;
    await until("it is gone", isEmpty);
  });

  test("starts its numbers again when its directory was deleted", async ({ zk, root }) => {
    const lock = new SequentialLock(zk, `${root}/lock`);
    await zk.create(lock.path);
    await embedded.setCounter(lock.path, last);
    await assertRejects(() => lock.acquire(), SequenceExhaustedError);
    await until(
      "it can go",
      () => zk.delete(lock.path).then(() => true, () => false),
    );

    const held = await lock.acquire();

    assert(held.path.endsWith("-0000000000"), held.path);
    await held.release();
  });
}
