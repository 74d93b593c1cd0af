// What a held lock can do: prove itself, guard writes, be released; and run(), which does it for you.
// Knows where versions differ: nowhere.
// Part of lock_suite.ts.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { describe } from "@std/testing/bdd";
import {
  type HeldLock,
  type HeldLockState,
  LockLostError,
} from "../../lock/mod.ts";
import { ClientClosedError, MultiError, type Op } from "../../protocol/mod.ts";
import type { Target } from "../targets.ts";
import { countBecomes, type Kind, queueFor } from "./lock_suite_tools.ts";
import { remove, tester, textOf, Wiretap, within } from "./tools.ts";

export function holdingSuite(target: Target, Lock: Kind): void {
  describe(`${Lock.name}: HeldLock`, () => {
    releaseTests(target, Lock);
    tokenTests(target, Lock);
    guardTests(target, Lock);
  });
  describe(`${Lock.name}.run()`, () => runTests(target, Lock));
  describe(`${Lock.name} and Client.close()`, () => closeTests(target, Lock));
}

function releaseTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("release() answers true, removes the znode and ends the signal", async ({ zk, root }) => {
    const states: HeldLockState[] = [];
    const held = await new Lock(zk, `${root}/lock`).acquire({
      onState: (state) => states.push(state),
    });

    const releasing = held.release();
    const at = [held.state, held.signal.aborted, held.remaining];
    const released = await releasing;

    assertEquals([released, at], [true, ["released", true, 0]]);
    assertEquals(states, ["released"]);
    assertEquals(held.signal.reason.name, "AbortError");
    assertEquals(await zk.exists(held.path), null);
    assertThrows(() => held.assertHeld(), LockLostError);
    assertThrows(() => held.check(), LockLostError);
  });

  test("release() called again answers the same, and asks once", async ({ root, open }) => {
    const tap = new Wiretap();
    const zk = await open({ onPacket: tap.onPacket });
    const held = await new Lock(zk, `${root}/lock`).acquire();
    tap.clear();

    const both = await Promise.all([held.release(), held.release()]);
    const third = await held.release();

    assertEquals([...both, third], [true, true, true]);
    assertEquals(tap.sent.length, 1, `${tap.sent}`);
  });

  test("release() leaves the hold of a successor alone", async ({ zk, root }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const held = await lock.acquire();
    await held.release();
    const next = await lock.acquire();

    await held.release();
    await zk.sync(root);

    assertEquals((await zk.exists(next.path))!.czxid, next.token);
    assertEquals(await next.release(), true);
  });

  test("await using releases it, and lets the body's error through", async ({ zk, root }) => {
    const lock = new Lock(zk, `${root}/lock`);
    let held: HeldLock | undefined;

    const error = await assertRejects(async () => {
      await using mine = await lock.acquire();
      held = mine;
      throw new Error("of the body");
    }, Error);

    assertEquals([error.message, held!.state], ["of the body", "released"]);
    assertEquals(await lock.contenders(), []);
  });
}

function tokenTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("token grows from holder to holder", async ({ zk, root, open }) => {
    const other = await open();
    const tokens: bigint[] = [];
    for (const client of [zk, other, zk]) {
      const held = await new Lock(client, `${root}/lock`).acquire();
      tokens.push(held.token);
      await held.release();
    }

    const [first, second, third] = tokens;
    assert(first < second && second < third, `${tokens}`);
  });

  test("token grows also when everything was deleted in between", async ({ zk, root }) => {
    const lock = new Lock(zk, `${root}/locks/lock`);
    const first = await lock.acquire();
    await first.release();
    await remove(zk, `${root}/locks`);

    const second = await lock.acquire();

    assert(second.token > first.token, `${second.token}`);
    await second.release();
  });
}

function guardTests(target: Target, Lock: Kind): void {
  const test = tester(target);
  const write = (root: string): Op => ({
    op: "setData",
    path: root,
    data: "guarded",
  });

  test("guard() does it, and answers results without those of the checks", async ({ zk, root }) => {
    const held = await new Lock(zk, `${root}/lock`).acquire();

    const { results, zxid } = await held.guard([
      { op: "check", path: root },
      write(root),
    ]);

    assertEquals(results.length, 2);
    const { data, stat } = await zk.getData(root);
    assertEquals([textOf(data), stat.mzxid], ["guarded", zxid]);
    await held.release();
  });

  test("guard() whose own operation fails says which, and the lock is held on", async ({ zk, root }) => {
    const held = await new Lock(zk, `${root}/lock`).acquire();
    const wrong: Op = { op: "delete", path: `${root}/nothing` };

    const error = await assertRejects(
      () => held.guard([write(root), wrong]),
      MultiError,
    );

    assertEquals([error.code, error.index], ["NoNode", 1]);
    assertEquals((await zk.getData(root)).stat.version, 0);
    held.assertHeld();
    await held.release();
  });

  test("guard() is refused once somebody deleted the znode", async ({ zk, root, open }) => {
    const held = await new Lock(zk, `${root}/lock`).acquire();
    await (await open()).delete(held.path);

    await assertRejects(() => held.guard([write(root)]), LockLostError);

    assertEquals((await zk.getData(root)).stat.version, 0);
    assertEquals(held.state, "lost");
    assertInstanceOf(held.signal.reason, LockLostError);
    assertEquals(await held.release(), false);
  });

  test("check() makes a multi of another client hold or fail, too", async ({ zk, root, open }) => {
    const other = await open();
    const held = await new Lock(zk, `${root}/lock`).acquire();
    const ops = [...held.check(), write(root)];

    await other.multi(ops);
    await held.release();
    const error = await assertRejects(() => other.multi(ops), MultiError);

    assertEquals(error.index, 0);
    assertEquals((await zk.getData(root)).stat.version, 1);
  });
}

function runTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("answers what the work answers, and releases", async ({ zk, root }) => {
    const lock = new Lock(zk, `${root}/lock`);

    const answer = await lock.run(async ({ path, state }) => [
      state,
      (await zk.exists(path)) !== null,
    ]);

    assertEquals(answer, ["held", true]);
    assertEquals(await lock.contenders(), []);
  });

  test("rejects with what the work throws, and releases", async ({ zk, root }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const failure = new Error("of the work");

    const error = await assertRejects(() =>
      lock.run(() => {
        throw failure;
      })
    );

    assertStrictEquals(error, failure);
    assertEquals(await lock.contenders(), []);
  });

  test("rejects with a LockLostError if the lock was lost by then", async ({ zk, root, open }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const other = await open();
    const failure = new Error("of the work");

    const error = await assertRejects(
      () =>
        lock.run(async (held) => {
          await other.delete(held.path);
          await held.guard([]).catch(() => {});
          throw failure;
        }),
      LockLostError,
    );

    assertStrictEquals(error.cause, failure);
  });

  test("does not work if it is given up before", async ({ zk, root, open }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const held = await lock.acquire();
    let worked = false;

    const run = new Lock(await open(), lock.path)
      .run(() => void (worked = true), { timeout: 20 });

    await assertRejects(() => run, DOMException);
    await held.release();
    assertEquals(worked, false);
  });
}

function closeTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("a holder is told at once, and the lock is free", async ({ zk, root, open }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const other = await open();
    const held = await new Lock(other, lock.path).acquire();

    const closed = other.close();

    assertEquals([held.state, held.signal.aborted], ["lost", true]);
    assertInstanceOf(held.signal.reason, LockLostError);
    assertInstanceOf(held.signal.reason.cause, ClientClosedError);
    assertEquals(await held.release(), false);
    await closed;
    const next = await lock.tryAcquire();
    assertEquals(next?.state, "held");
    await next!.release();
  });

  test("a waiter rejects, and leaves nothing", async ({ zk, root, open }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const held = await lock.acquire();
    const other = await open();
    const waiter = await queueFor(new Lock(other, lock.path));

    const closed = other.close();
    const waited = within("it rejects", waiter.acquired);

    await assertRejects(() => waited, ClientClosedError);
    await closed;
    await countBecomes(lock, 1);
    await held.release();
    await countBecomes(lock, 0);
  });

  test("nobody can ask any more", async ({ root, open }) => {
    const other = await open();
    await other.close();
    const lock = new Lock(other, `${root}/lock`);

    await assertRejects(() => lock.acquire(), ClientClosedError);
    await assertRejects(() => lock.tryAcquire(), ClientClosedError);
  });
}
