// Taking a lock that may be free: acquire(), tryAcquire(), contenders(), and what a lock can be asked for.
// Knows where versions differ: nowhere.
// Part of lock_suite.ts.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe } from "@std/testing/bdd";
import type { AcquireOptions } from "../../lock/mod.ts";
import { permissions } from "../../protocol/mod.ts";
import type { Target } from "../targets.ts";
import { countBecomes, type Kind, queueFor } from "./lock_suite_tools.ts";
import { anna, assertRefused, tester, textOf, Wiretap } from "./tools.ts";

export function takingSuite(target: Target, Lock: Kind): void {
  describe(`${Lock.name}.acquire()`, () => {
    grantTests(target, Lock);
    placeTests(target, Lock);
  });
  describe(`${Lock.name}.tryAcquire()`, () => tryTests(target, Lock));
  describe(`${Lock.name}.contenders()`, () => listTests(target, Lock));
}

function grantTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("answers a lock that is held, with the czxid of its znode as token", async ({ zk, root }) => {
    const held = await new Lock(zk, `${root}/lock`).acquire();

    const { czxid, ephemeralOwner } = (await zk.exists(held.path))!;
    assertEquals([held.state, held.signal.aborted], ["held", false]);
    assert(held.remaining > 0);
    held.assertHeld();
    assertEquals([czxid, ephemeralOwner], [held.token, zk.session.id]);
    await held.release();
  });

  test("keeps the data it is given", async ({ zk, root }) => {
    const lock = new Lock(zk, `${root}/lock`);

    const held = await lock.acquire({ data: "host-17" });

    assertEquals(textOf((await zk.getData(held.path)).data), "host-17");
    await held.release();
  });

  test("does not call onQueued if nobody is ahead", async ({ zk, root }) => {
    const queued: number[] = [];

    const held = await new Lock(zk, `${root}/lock`).acquire({
      onQueued: (ahead) => queued.push(ahead),
    });

    assertEquals(queued, []);
    await held.release();
  });

  test("with a timeout of 0 grants what is free", async ({ zk, root }) => {
    const lock = new Lock(zk, `${root}/lock`);
    // Before 3.5 the first one ever costs a connection: there are no containers.
    await (await lock.acquire()).release();

    const held = await lock.acquire({ timeout: 0 });

    assertEquals(held.state, "held");
    await held.release();
  });

  test("whose signal has aborted rejects with its reason, and sends nothing", async ({ root, open }) => {
    const tap = new Wiretap();
    const zk = await open({ onPacket: tap.onPacket });
    const signal = AbortSignal.abort(new Error("not wanted"));
    tap.clear();

    const acquired = new Lock(zk, `${root}/lock`).acquire({ signal });

    await assertRejects(() => acquired, Error, "not wanted");
    assertEquals(tap.sent, []);
  });

  test("whose signal aborts behind the grant changes nothing", async ({ zk, root }) => {
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const held = await new Lock(zk, `${root}/lock`).acquire({ signal });

    giveUp.abort();

    await zk.ping();
    held.assertHeld();
    assertEquals(await held.release(), true);
  });

  test("rejects, and sends nothing, for arguments that cannot be", async ({ root, open }) => {
    const tap = new Wiretap();
    const zk = await open({ onPacket: tap.onPacket });
    const lock = new Lock(zk, `${root}/lock`);
    const acquire = (options: unknown) => () =>
      lock.acquire(options as AcquireOptions);
    tap.clear();

    for (const timeout of [-1, NaN, Infinity]) {
      await assertRejects(acquire({ timeout }), RangeError);
    }
    await assertRejects(acquire({ signal: {} }), TypeError);
    await assertRejects(acquire({ onQueued: 1 }), TypeError);
    for (const path of ["/", "lock", "/lock/", "/a//b"]) {
      assertThrows(() => new Lock(zk, path), TypeError);
    }

    assertEquals(tap.sent, []);
  });
}

function placeTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("makes what is missing above", async ({ zk, root }) => {
    const lock = new Lock(zk, `${root}/a/b/lock`);

    const held = await lock.acquire();

    assert(await zk.exists(`${root}/a/b`));
    assertEquals(await held.release(), true);
  });

  test("gives its znodes the acl of the lock, and those above it", async ({ zk, root, open }) => {
    const mine = await open({ auth: [anna] });
    const acl = [{ perms: permissions.all, scheme: "auth", id: "" }];
    const lock = new Lock(mine, `${root}/a/lock`, { acl });

    const held = await lock.acquire();

    for (const path of [held.path, `${root}/a`]) {
      const [{ scheme, perms }] = (await mine.getAcl(path)).acl;
      assertEquals([scheme, perms], ["digest", permissions.all]);
    }
    await assertRefused(() => zk.getData(held.path), "NoAuth");
    assertEquals(await held.release(), true);
  });

  test("rejects if it may not make its znodes", async ({ zk, root }) => {
    const acl = [{ perms: permissions.read, scheme: "world", id: "anyone" }];
    await zk.create(`${root}/closed`, "", { acl });

    const acquired = new Lock(zk, `${root}/closed/lock`).acquire();

    await assertRefused(() => acquired, "NoAuth");
  });

  test("meets those who call the same path by another name, in a chroot", async ({ zk, root, open }) => {
    const inside = await open({ chroot: root });
    const held = await new Lock(inside, "/lock").acquire();
    const outside = new Lock(zk, `${root}/lock`);

    const waiter = await queueFor(outside);
    await held.release();
    const next = await waiter.acquired;

    assert(held.path.startsWith("/lock"), held.path);
    assert(next.token > held.token);
    await next.release();
  });
}

function tryTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("answers the lock if nobody has it", async ({ zk, root }) => {
    const held = await new Lock(zk, `${root}/lock`).tryAcquire();

    assertEquals(held?.state, "held");
    await held!.release();
  });

  test("answers null if somebody is ahead, and leaves nothing", async ({ zk, root, open }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const held = await lock.acquire();
    const other = new Lock(await open(), lock.path);

    const tried = await Promise.all([other.tryAcquire(), other.tryAcquire()]);

    assertEquals(tried, [null, null]);
    await countBecomes(lock, 1);
    await held.release();
    await countBecomes(lock, 0);
  });

  test("answers the lock to one of many who ask at once", async ({ root, open }) => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => open()));

    const tried = await Promise.all(
      clients.map((zk) => new Lock(zk, `${root}/lock`).tryAcquire()),
    );

    const held = tried.filter((one) => one !== null);
    assertEquals(held.length, 1);
    assertEquals(await held[0].release(), true);
  });

  test("rejects with the reason of a signal that has aborted", async ({ zk, root }) => {
    const signal = AbortSignal.abort(new Error("not wanted"));

    const tried = new Lock(zk, `${root}/lock`).tryAcquire({ signal });

    await assertRejects(() => tried, Error, "not wanted");
  });
}

function listTests(target: Target, Lock: Kind): void {
  const test = tester(target);

  test("is empty where nobody ever locked, and makes nothing", async ({ zk, root }) => {
    const contenders = await new Lock(zk, `${root}/lock`).contenders();

    assertEquals(contenders, []);
    assertEquals(await zk.getChildren(root), []);
  });

  test("shows the holder, and whose it is", async ({ zk, root, open }) => {
    const lock = new Lock(zk, `${root}/lock`);
    const held = await lock.acquire();
    const other = new Lock(await open(), lock.path);

    const [mine] = await lock.contenders();
    const [theirs] = await other.contenders();

    assertEquals([mine.path, mine.kind], [held.path, "lock"]);
    assertEquals([mine.holder, mine.mine], [true, true]);
    assertEquals(theirs, { ...mine, mine: false });
    assert(mine.id !== null);
    await held.release();
    assertEquals(await lock.contenders(), []);
  });
}
