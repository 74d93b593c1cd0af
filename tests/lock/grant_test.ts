// When a lock may be granted: by a server that can write, to a session that lasts, to nobody who gave up.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ExclusiveLock } from "../../lock/exclusive_lock.ts";
import { leaseOf } from "../../lock/lease.ts";
import { SequentialLock } from "../../lock/sequential_lock.ts";
import type { Packet } from "../../protocol/api.ts";
import type { VirtualClock } from "../../testing/clock.ts";
import { inScene, locks, type Road, type Scene, T } from "./embedded.ts";

/** What grants a lock that nobody has. */
const grants: Record<string, string> = {
  SequentialLock: "getChildren",
  ExclusiveLock: "multi",
};

/** Runs something, once, when the reply to an operation is there, and before anybody heard of it. */
function atReply(name: string, run: () => void): (packet: Packet) => void {
  let xid: number | null | undefined;
  let done = false;
  return ({ direction, op, xid: its }) => {
    if (direction === "sent" && op === name) xid ??= its;
    if (done || direction !== "received" || its !== xid) return;
    done = true;
    queueMicrotask(run);
  };
}

/** The server has no leader any more: whoever comes from now on can only read. */
function cutOff({ server }: Scene, road: Road): void {
  const writes = ["create", "createContainer", "delete", "multi", "sync"];
  road.readOnly = true;
  server.rule = ({ op }) => writes.includes(op) ? "NotReadOnly" : undefined;
  road.sever();
}

function back({ server }: Scene, road: Road): void {
  road.readOnly = false;
  server.heal();
  road.sever();
}

/** Nothing is sent for so long, by the clock on the wall, that a grant needs a heartbeat first. */
async function stall(clock: VirtualClock): Promise<void> {
  clock.jump(0.6 * T);
  await clock.pass(0.02 * T);
}

for (const Lock of locks) {
  describe(`${Lock.name}.acquire()`, () => {
    it(
      "asks in the turn in which it is called, in one write with what was asked before",
      inScene(async ({ clock, connected }) => {
        const { client, road } = await connected();
        await clock.until(client.ensurePath("/l-fence"));
        road.writes.length = 0;

        const read = client.exists("/");
        const acquired = new Lock(client, "/l").acquire();
        const ping = client.ping();
        await clock.until(Promise.all([read, ping]));
        const [first] = road.writes;

        const claim = Lock === SequentialLock ? "create" : "multi";
        // The listing waits for the end of the turn.
        assertEquals(first.slice(0, 3), ["exists", claim, "ping"]);
        await clock.until((await clock.until(acquired)).release());
      }),
    );

    it(
      "does not grant while the server is read-only",
      inScene(async (scene) => {
        const { server, clock, connected } = scene;
        let onPacket = (_: Packet) => {};
        const { client, road } = await connected({
          readOnly: true,
          onPacket: (packet) => onPacket(packet),
        });
        const lock = new Lock(client, "/l");
        await clock.until((await clock.until(lock.acquire())).release());
        server.clear();
        onPacket = atReply(grants[Lock.name], () => cutOff(scene, road));
        let granted = false;
        const acquired = lock.acquire().then((held) => (granted = true, held));

        await clock.pass(1_000);

        const seen = [client.session.state, granted];
        assertEquals(seen, ["connected-read-only", false]);
        assert(server.count("getChildren") + server.count("multi") <= 2);
        back(scene, road);
        const held = await clock.until(acquired);
        assertEquals([client.session.state, held.state], ["connected", "held"]);
        await clock.until(held.release());
      }),
    );

    it(
      "grants after a stall only when a heartbeat was confirmed",
      inScene(async ({ server, clock, connected }) => {
        const { client } = await connected();
        const lock = new Lock(client, "/l");
        await clock.until(client.ensurePath("/l-fence"));
        await stall(clock);
        server.clear();

        const held = await clock.until(lock.acquire());

        const beats = Lock === SequentialLock ? 1 : 2; // The claim is one, too.
        assertEquals(server.count("multi"), beats);
        assert(held.remaining > T / 2, `${held.remaining}`);
        await clock.until(held.release());
      }),
    );

    it(
      "enters again if its znode is deleted while it waits for that heartbeat",
      inScene(async ({ server, clock, connected }) => {
        const { client, warnings } = await connected();
        const other = await connected();
        await clock.until(client.ensurePath("/l-fence"));
        await stall(clock);
        const acquired = new Lock(client, "/l").acquire();
        await clock.pass(100);
        const [path] = server.paths().filter((p) => p.startsWith("/l/"))
          .concat("/l");

        await clock.until(other.client.delete(path));

        const held = await clock.until(acquired);
        assertEquals(warnings, ["requeued"]);
        await clock.until(held.release());
      }),
    );

    it(
      "that is given up while it waits for that heartbeat deletes its znode at once",
      inScene(async ({ server, clock, connected }) => {
        const { client } = await connected();
        await clock.until(client.ensurePath("/l-fence"));
        await stall(clock);
        const stop = new AbortController();
        const acquired = new Lock(client, "/l").acquire({
          signal: stop.signal,
        });
        acquired.catch(() => {});
        await clock.pass(100);
        const before = server.paths();

        stop.abort(new Error("enough"));
        await clock.pass(10);

        assert(before.some((path) => /^\/l($|\/)/.test(path)), `${before}`);
        const left = server.paths().filter((path) => path.startsWith("/l/"))
          .concat(Lock === ExclusiveLock ? server.paths() : []);
        assertEquals(left.filter((path) => path !== "/l-fence"), []);
        await assertRejects(() => acquired, Error, "enough");
      }),
    );
  });
}

describe("SequentialLock.acquire()", () => {
  it(
    "asks for the heartbeat it needs in the same write in which it looks again",
    inScene(async ({ clock, connected }) => {
      const near = await connected();
      const far = await connected();
      const first = await clock.until(
        new SequentialLock(near.client, "/l").acquire(),
      );
      const acquired = new SequentialLock(far.client, "/l").acquire();
      await clock.pass(3 * T);
      far.road.writes.length = 0;

      await clock.until(first.release());
      const second = await clock.until(acquired);

      assertEquals(far.road.writes, [["multi", "getChildren"]]);
      assert(leaseOf(far.client).lasting);
      await clock.until(second.release());
    }),
  );
});
