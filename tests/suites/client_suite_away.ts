// A client that loses its connection, or its session: what it is told, what is kept, what is asked again.
// Knows where versions differ: nowhere, but that addWatch() came with 3.6.
// Part of client_suite.ts; losing servers is in session_test.ts.

import {
  assert,
  assertEquals,
  assertGreater,
  assertInstanceOf,
  assertLess,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe } from "@std/testing/bdd";
import {
  type Client,
  ClientClosedError,
  ConnectionLossError,
  type ConnectOptions,
  SessionExpiredError,
} from "../../protocol/mod.ts";
import { expireSession, type FaultProxy } from "../../testing/mod.ts";
import {
  Ear,
  isSince,
  onceDisconnected,
  type Proxied,
  statesOf,
  tester,
  textOf,
  throughProxy,
  until,
  within,
} from "./tools.ts";
import type { Target } from "../targets.ts";

export function awaySuite(target: Target): void {
  describe("A lost connection", () => {
    watchTests(target);
    requestTests(target);
    closeTests(target);
  });
  describe("A session that is ended behind the client's back", () => {
    expiryTests(target);
  });
}

/** `it()`, with a client behind a proxy and one that is not. */
function proxied(target: Target): (
  name: string,
  use: (world: Proxied & { other: Client }) => Promise<void>,
  options?: ConnectOptions,
) => void {
  const test = tester(target);
  return (name, use, options) =>
    test(name, (world) =>
      throughProxy(
        target,
        world,
        (proxied) => use({ ...proxied, other: world.zk }),
        options,
      ));
}

/** Cuts the connection, and lets no other come until heal(). */
async function takeAway(zk: Client, proxy: FaultProxy): Promise<void> {
  proxy.refuse();
  proxy.cut();
  await until("it knows", () => zk.session.state === "disconnected");
}

async function isBack(zk: Client): Promise<void> {
  await until("it is back", () => zk.session.state === "connected");
}

function watchTests(target: Target): void {
  const test = proxied(target);

  // kazoo#151, rust-zookeeper#97, go-zookeeper#123: watches were lost, and waiters slept for ever.
  test("keeps the session and its watches", async ({ zk, proxy, root, other }) => {
    const { session } = zk;
    const { id } = session;
    const ear = new Ear(root);
    const states = statesOf(zk);
    await zk.create(`${root}/e`, "", { mode: "ephemeral" });
    await zk.exists(`${root}/new`, ear);
    await zk.getData(`${root}/e`, ear);
    await zk.getChildren(`${root}/e`, ear);

    proxy.cut();
    await until("it came back", () => states.length === 2);
    await zk.sync(root);
    assertEquals(ear.heard, []);
    await other.create(`${root}/new`);
    await other.setData(`${root}/e`, "x");
    await ear.hears(2);
    await other.delete(`${root}/e`);

    assertEquals(await ear.hears(3), [
      "created /new",
      "data-changed /e",
      "deleted /e",
    ]);
    assertEquals(states, ["disconnected", "connected"]);
    assertStrictEquals(zk.session, session);
    assertEquals(session.id, id);
  });

  test("hears afterwards of every change that was made meanwhile, once", async ({ zk, proxy, root, other }) => {
    const ear = new Ear(root);
    for (const name of ["changed", "gone", "parent", "same"]) {
      await zk.create(`${root}/${name}`);
    }
    await zk.getData(`${root}/changed`, ear);
    await zk.exists(`${root}/gone`, ear);
    await zk.exists(`${root}/new`, ear);
    await zk.getChildren(`${root}/parent`, ear);
    await zk.getData(`${root}/same`, ear);
    await zk.getChildren(`${root}/same`, ear);
    await zk.exists(`${root}/never`, ear);
    await takeAway(zk, proxy);

    await other.setData(`${root}/changed`, "x");
    await other.delete(`${root}/gone`);
    await other.create(`${root}/new`);
    await other.create(`${root}/parent/child`);
    proxy.heal();
    await isBack(zk);
    await zk.sync(root);

    assertEquals(ear.heard.sort(), [
      "children-changed /parent",
      "created /new",
      "data-changed /changed",
      "deleted /gone",
    ]);
  });

  if (!isSince(target, "3.6")) return;

  test("keeps watches of addWatch(), of both kinds", async ({ zk, proxy, root, other }) => {
    const one = new Ear(root);
    const all = new Ear(root);
    const states = statesOf(zk);
    await zk.create(`${root}/a`);
    await zk.addWatch(root, one.watch);
    await zk.addWatch(`${root}/a`, all.watch, { mode: "persistent-recursive" });

    proxy.cut();
    await until("it came back", () => states.length === 2);
    // Its watches go first; nobody tells it of what comes before them.
    await zk.sync(root);
    await other.create(`${root}/a/b`);
    await other.setData(root, "x");
    await other.create(`${root}/c`);
    await one.hears(2);

    assertEquals(one.heard, ["data-changed .", "children-changed ."]);
    assertEquals(all.heard, ["created /a/b"]);
  });

  test("does not bring back watches that were removed", async ({ zk, proxy, root, other }) => {
    const ear = new Ear(root);
    const states = statesOf(zk);
    await zk.addWatch(root, ear.watch);
    await zk.getData(root, ear);
    await zk.removeWatches(root);
    proxy.clear();

    proxy.cut();
    await until("it came back", () => states.length === 2);
    await other.setData(root, "x");
    await zk.sync(root);

    assertEquals(ear.heard, ["watch-removed .", "watch-removed ."]);
    assertEquals(proxy.packets.filter(({ op }) => /Watches/.test(op)), []);
  });
}

/** What has to be waited for: one server is enough. */
export function patienceSuite(target: Target): void {
  const test = proxied(target);
  const sessionTimeout = 4_000;
  const long = 9_000;

  describe("A connection that falls silent", () => {
    test(
      "is given up after 2/3 of the timeout",
      async ({ zk, proxy, root }) => {
        await zk.exists(root);
        const start = performance.now();

        proxy.blackHole();
        await until("it knows", () => zk.session.state === "disconnected");

        const waited = performance.now() - start;
        assert(waited > 2_500, `${waited} ms`);
        proxy.heal();
        await isBack(zk);
      },
      { sessionTimeout },
    );

    // kazoo#582, kazoo#577: it hung.
    test(
      "does not keep close() longer than a third of the timeout",
      async ({ zk, proxy, root }) => {
        proxy.blackHole();
        const call = zk.getData(root);
        const start = performance.now();

        const closed = zk.close();
        await assertRejects(() => call, ClientClosedError);
        await closed;

        // At 2/3 the connection would be given up as silent.
        assertLess(performance.now() - start, long * 2 / 3);
      },
      { sessionTimeout: long },
    );
  });
}

function requestTests(target: Target): void {
  const test = proxied(target);

  test("asks reads again, and rejects writes that may have happened", async ({ zk, proxy, root }) => {
    await zk.setData(root, "x");
    const lost = proxy.dropReply("getData", { thenCut: true });

    const [read, write, sync] = await Promise.allSettled([
      zk.getData(root),
      zk.create(`${root}/a`),
      zk.sync(root),
    ]);
    await lost;

    assert(read.status === "fulfilled" && write.status === "rejected");
    assertEquals(textOf(read.value.data), "x");
    assertEquals(sync.status, "fulfilled");
    assertInstanceOf(write.reason, ConnectionLossError);
    const { op, path, outcome } = write.reason;
    assertEquals([op, path, outcome], ["create", `${root}/a`, "unknown"]);
  });

  test("leaves a write of which the reply is lost done", async ({ zk, proxy, root }) => {
    const lost = proxy.dropReply("create", { thenCut: true });

    await assertRejects(() => zk.create(`${root}/a`), ConnectionLossError);

    assertEquals((await lost).err, 0);
    assert(await zk.exists(`${root}/a`));
  });

  test("keeps what is asked meanwhile, in order, and sends it as it was then", async ({ zk, proxy, root }) => {
    const bytes = Uint8Array.of(1);
    await takeAway(zk, proxy);

    const calls = [
      zk.create(`${root}/a`, bytes),
      zk.setData(`${root}/a`, "2", { version: 0 }),
      zk.delete(`${root}/a`, { version: 1 }),
      zk.create(`${root}/a`, bytes),
    ];
    bytes[0] = 9;
    proxy.heal();
    await Promise.all(calls);

    const { data } = await zk.getData(`${root}/a`);
    assertEquals(data, Uint8Array.of(1));
  });

  test("does not send what was given up meanwhile", async ({ zk, proxy, root }) => {
    const giveUp = new AbortController();
    await takeAway(zk, proxy);

    const call = zk.create(`${root}/a`, "", { signal: giveUp.signal });
    giveUp.abort();
    await assertRejects(() => call, DOMException);
    proxy.heal();

    assertEquals(await zk.getChildren(root), []);
  });

  test("keeps a credential that is shown meanwhile", async ({ zk, proxy, root }) => {
    const { id } = zk.session;
    await takeAway(zk, proxy);

    const auth = zk.addAuth({ scheme: "digest", auth: "anna:secret" });
    const acl = [{ perms: 31, scheme: "auth", id: "" }];
    const made = zk.create(`${root}/a`, "", { acl });
    proxy.heal();
    await Promise.all([auth, made]);

    assertEquals((await zk.getAcl(`${root}/a`)).acl[0].scheme, "digest");
    assertEquals(zk.session.id, id);
  });
}

function closeTests(target: Target): void {
  const test = proxied(target);

  test("is tried to be overcome by close(), so that nobody waits for the timeout", async ({ zk, proxy, root, other }) => {
    await zk.create(`${root}/a`, "", { mode: "ephemeral" });
    await takeAway(zk, proxy);

    const closed = zk.close();
    proxy.heal();
    await closed;

    await other.sync(root);
    assertEquals(await other.exists(`${root}/a`), null);
  });
}

function expiryTests(target: Target): void {
  const test = proxied(target);
  const server = target.servers;

  // node-zkplus#15, node-zookeeper-client#2: nobody was told, and the client was of no more use.
  test("is told to everybody, and the same client goes on with a new one", async ({ zk, root }) => {
    const { session } = zk;
    const { id } = session;
    const ear = new Ear(root);
    const states = statesOf(zk);
    await zk.exists(root, ear);

    await expireSession(zk, server);
    await until("it has a new one", () => states.length === 3);
    await zk.create(`${root}/a`, "", { mode: "ephemeral" });

    assertEquals(states, ["disconnected", "expired", "connected"]);
    assertEquals(ear.heard, ["session-lost ."]);
    assertEquals(session.state, "expired");
    assertInstanceOf(session.signal.reason, SessionExpiredError);
    assertEquals(session.signal.reason.sessionId, id);
    assert(zk.session !== session && zk.session.id !== id);
    assert(!zk.session.signal.aborted && !zk.signal.aborted);
    const { ephemeralOwner } = (await zk.exists(`${root}/a`))!;
    assertEquals(ephemeralOwner, zk.session.id);
  });

  test("takes its ephemeral znodes with it at once", async ({ zk, root, other }) => {
    await zk.create(`${root}/a`, "", { mode: "ephemeral" });

    await expireSession(zk, server);

    await other.sync(root);
    assertEquals(await other.exists(`${root}/a`), null);
  });

  test("makes what was asked reject, and say whether it may have happened", async ({ zk, proxy, root }) => {
    const first = proxy.dropReply("getData", { thenCut: true });
    const read = zk.getData(root);
    const queued = onceDisconnected(zk, () => zk.create(`${root}/a`));
    const rejections = Promise.allSettled([read, queued]);
    proxy.rule = ({ op }) => op === "connect" ? "cut" : undefined;
    await first;

    await expireSession(zk, server);
    proxy.heal();
    const [sent, unsent] = await within("they settle", rejections);

    assert(sent.status === "rejected" && unsent.status === "rejected");
    assertInstanceOf(sent.reason, SessionExpiredError);
    assertInstanceOf(unsent.reason, SessionExpiredError);
    assertEquals(
      [sent.reason.outcome, unsent.reason.outcome],
      ["unknown", "not-sent"],
    );
    assertEquals(await zk.getChildren(root), []);
  });

  test("leaves its credentials to the next", async ({ zk, root }) => {
    const { session } = zk;
    await zk.addAuth({ scheme: "digest", auth: "anna:secret" });
    await zk.setAcl(root, [{ perms: 31, scheme: "auth", id: "" }]);

    await expireSession(zk, server);
    await until("it knows", () => session.signal.aborted);

    assertEquals((await zk.getData(root)).stat.aversion, 1);
  });

  test("may be the reason to close the client, or to ask again, at once", async ({ zk, root }) => {
    const { session } = zk;
    let answer: Promise<unknown> | undefined;
    session.signal.addEventListener("abort", () => {
      answer = zk.exists(root).finally(() => zk.close());
    });

    await expireSession(zk, server);
    await until("it knows", () => answer !== undefined);

    assertGreater(Number((await answer as { czxid: bigint }).czxid), 0);
    await zk.close();
    assertEquals(zk.session.state, "closed");
  });
}
