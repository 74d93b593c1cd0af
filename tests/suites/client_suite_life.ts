// Giving up calls, close(), and packets that are too large: how things end.
// Knows no version.
// Part of client_suite.ts.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertLess,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe } from "@std/testing/bdd";
import {
  type Client,
  ClientClosedError,
  type Op,
  ProtocolError,
} from "../../protocol/mod.ts";
import {
  assertRefused,
  Ear,
  isSince,
  statesOf,
  tester,
  textOf,
  until,
  Wiretap,
  within,
  type World,
} from "./tools.ts";
import type { Target } from "../targets.ts";

export function lifeSuite(target: Target): void {
  describe("CallOptions.signal", () => signalTests(target));
  describe("Client.close()", () => closeTests(target));
  describe("A packet above maxPacket", () => sizeTests(target));
}

/** Every call that can be given up. */
const calls: Record<
  string,
  (zk: Client, path: string, signal: AbortSignal) => Promise<unknown>
> = {
  create: (zk, path, signal) => zk.create(path, "", { signal }),
  create2: (zk, path, signal) => zk.create2(path, "", { signal }),
  delete: (zk, path, signal) => zk.delete(path, { signal }),
  exists: (zk, path, signal) => zk.exists(path, { signal }),
  getData: (zk, path, signal) => zk.getData(path, { signal }),
  setData: (zk, path, signal) => zk.setData(path, "", { signal }),
  getChildren: (zk, path, signal) => zk.getChildren(path, { signal }),
  getChildren2: (zk, path, signal) => zk.getChildren2(path, { signal }),
  getAcl: (zk, path, signal) => zk.getAcl(path, { signal }),
  setAcl: (zk, path, signal) => zk.setAcl(path, [], { signal }),
  addWatch: (zk, path, signal) => zk.addWatch(path, () => {}, { signal }),
  removeWatches: (zk, path, signal) => zk.removeWatches(path, { signal }),
  checkWatches: (zk, path, signal) => zk.checkWatches(path, { signal }),
  getEphemerals: (zk, path, signal) => zk.getEphemerals(path, { signal }),
  getAllChildrenNumber: (zk, path, signal) =>
    zk.getAllChildrenNumber(path, { signal }),
  whoAmI: (zk, _, signal) => zk.whoAmI({ signal }),
  getConfig: (zk, _, signal) => zk.getConfig({ signal }),
  reconfig: (zk, _, signal) => zk.reconfig({}, { signal }),
  multi: (zk, path, signal) => zk.multi([{ op: "check", path }], { signal }),
  multiRead: (zk, path, signal) =>
    zk.multiRead([{ op: "getData", path }], { signal }),
  ensurePath: (zk, path, signal) => zk.ensurePath(path, { signal }),
  sync: (zk, path, signal) => zk.sync(path, { signal }),
  ping: (zk, _, signal) => zk.ping({ signal }),
  serverVersion: (zk, _, signal) => zk.serverVersion({ signal }),
};

function signalTests(target: Target): void {
  const test = tester(target);

  test("aborted before: every call rejects with its reason, and sends nothing", async ({ root, open }) => {
    const tap = new Wiretap();
    const zk = await open({ onPacket: tap.onPacket });
    const reason = new Error("not wanted");
    const signal = AbortSignal.abort(reason);
    tap.clear();

    for (const [name, call] of Object.entries(calls)) {
      const error = await assertRejects(() => call(zk, `${root}/a`, signal));
      assertStrictEquals(error, reason, name);
    }

    assertEquals(tap.sent, []);
  });

  test("aborted after sending: the call rejects at once, and it happens all the same", async ({ zk, root }) => {
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const order: string[] = [];

    const call = zk.create(`${root}/a`, "", { signal })
      .catch((error) => order.push(error.name));
    const later = zk.exists(`${root}/a`).then((stat) =>
      order.push(stat ? "there" : "not there")
    );
    giveUp.abort();
    await Promise.all([call, later]);

    assertEquals(order, ["AbortError", "there"]);
  });

  test("aborted after the answer changes nothing", async ({ zk, root }) => {
    const giveUp = new AbortController();
    const ear = new Ear(root);

    await zk.exists(root, { watch: ear.watch, signal: giveUp.signal });
    giveUp.abort();
    await zk.setData(root, "x");

    assertEquals(await ear.hears(1), ["data-changed ."]);
  });

  test("may be shared by many calls", async ({ zk, root }) => {
    const giveUp = new AbortController();
    const { signal } = giveUp;

    const calls = Array.from(
      { length: 100 },
      () => zk.exists(root, { signal }),
    );
    giveUp.abort();
    const settled = await Promise.allSettled(calls);

    assert(settled.every(({ status }) => status === "rejected"));
    assert(await zk.exists(root));
  });
}

function closeTests(target: Target): void {
  const test = tester(target);

  test("removes ephemeral znodes before it resolves", async ({ zk, root, open }) => {
    const other = await open();
    await other.create(`${root}/a`, "", { mode: "ephemeral" });
    await other.create(`${root}/b`);

    await other.close();

    // The leader has committed it; a follower may lag.
    await zk.sync(root);
    assertEquals(await zk.getChildren(root), ["b"]);
  });

  // kazoo#744: what was asked before was dropped, the goodbye as well.
  test("sends what was asked in the same turn, and answers it", async ({ zk, root, open }) => {
    const other = await open();

    const made = other.create(`${root}/a`, "x");
    const read = other.getData(`${root}/a`);
    const closed = other.close();

    assertEquals((await made).path, `${root}/a`);
    assertEquals(textOf((await read).data), "x");
    await closed;
    assert(await zk.exists(`${root}/a`));
  });

  test("ends session and client, and says so once", async ({ root, open }) => {
    const zk = await open();
    const { session } = zk;
    const states = statesOf(zk);

    const first = zk.close();
    assert(session.signal.aborted && zk.signal.aborted);
    const second = zk.close();
    await Promise.all([first, second]);
    await zk.close();

    assertEquals(states, ["closed"]);
    assertEquals(session.state, "closed");
    assertStrictEquals(zk.session, session);
    assertInstanceOf(session.signal.reason, ClientClosedError);
    assertInstanceOf(zk.signal.reason, ClientClosedError);
    await assertRejects(() => zk.exists(root), ClientClosedError);
  });

  test("makes every call reject with a ClientClosedError from then on", async ({ root, open }) => {
    const zk = await open();
    const { signal } = new AbortController();
    void zk.close();

    for (const call of Object.values(calls)) {
      await assertRejects(() => call(zk, root, signal), ClientClosedError);
    }
    await assertRejects(
      () => zk.addAuth({ scheme: "digest", auth: "a:b" }),
      ClientClosedError,
    );
    await zk.close();
  });

  test("is what await using does", async ({ zk, root, open }) => {
    const other = await open();
    await other.create(`${root}/a`, "", { mode: "ephemeral" });

    await other[Symbol.asyncDispose]();

    await zk.sync(root);
    assertEquals(await zk.exists(`${root}/a`), null);
  });

  test("may be called by whoever is told of it", async ({ open }) => {
    const zk = await open();
    const closed: Array<Promise<void>> = [];
    zk.on("state", () => closed.push(zk.close()));

    await zk.close();
    await Promise.all(closed);

    assertEquals(closed.length, 1);
  });

  test("may be called by whoever gets an answer", async ({ root, open }) => {
    const zk = await open();

    await zk.exists(root).then(() => zk.close());

    assertEquals(zk.session.state, "closed");
  });
}

/** The names alone are more than a MiB, to which Java clients limit themselves (ZOOKEEPER-3593). */
const crowd = 30_000;
const longName = "contender-with-a-rather-long-name-";

/** One crowd for all tests of a target: it takes a while to come together. */
async function gather({ zk, root }: World): Promise<void> {
  const step = 2_000;
  const multis: Array<Promise<unknown>> = [];
  for (let from = 0; from < crowd; from += step) {
    const ops = Array.from({ length: step }, (_, i): Op => ({
      op: "create",
      path: `${root}/${longName}${from + i}`,
    }));
    multis.push(zk.multi(ops));
  }
  await Promise.all(multis);
}

function sizeTests(target: Target): void {
  const test = tester(target);

  // ZOOKEEPER-3593, apache/druid#10808: the client reconnects for ever.
  test("rejects that call with a ProtocolError; the session goes on, and nothing loops", async (world) => {
    await gather(world);
    const { zk, root, open } = world;
    assertEquals((await zk.getChildren(root)).length, crowd);
    const tap = new Wiretap();
    const small = await open({ maxPacket: 1_000_000, onPacket: tap.onPacket });
    const { session } = small;
    await small.create(`${root}/e`, "", { mode: "ephemeral" });

    const error = await assertRejects(
      () => within("it settles", small.getChildren(root)),
      ProtocolError,
      "the limit is 1000000",
    );

    assertLess(1_000_000, Number(/(\d+) bytes/.exec(error.message)![1]));
    const stat = await small.exists(`${root}/e`);
    assertEquals(stat!.ephemeralOwner, session.id);
    assertStrictEquals(small.session, session);
    assertEquals(tap.sent.filter((op) => op === "connect").length, 2);
  });

  test("rejects the call, also of a znode whose data is too large, and asks the others again", async ({ zk, root, open }) => {
    const small = await open({ maxPacket: 10_000 });
    await zk.setData(root, new Uint8Array(20_000));
    await zk.create(`${root}/a`, "x");

    const [large, other] = await Promise.allSettled([
      within("it settles", small.getData(root)),
      small.getData(`${root}/a`),
    ]);

    assert(large.status === "rejected" && other.status === "fulfilled");
    assertInstanceOf(large.reason, ProtocolError);
    assertEquals(textOf(other.value.data), "x");
  });

  test("leaves no watch", async ({ zk, root, open }) => {
    const small = await open({ maxPacket: 10_000 });
    const ear = new Ear(root);
    await zk.setData(root, new Uint8Array(20_000));
    await assertRejects(() => small.getData(root, ear), ProtocolError);
    await until("it is back", () => small.session.state === "connected");

    await small.setData(root, "x");
    await small.sync(root);

    assertEquals(ear.heard, []);
    if (!isSince(target, "3.5")) return;
    await assertRefused(() => small.removeWatches(root), "NoWatcher");
  });
}
