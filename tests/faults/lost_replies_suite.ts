// Replies that never arrive: what was done must be found again, and nothing done twice.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ExclusiveLock, SequentialLock } from "../../mod.ts";
import type { Target } from "../targets.ts";
import {
  called,
  childrenBecome,
  leftovers,
  locks,
  scene,
  warmUp,
  within,
} from "./help.ts";

const options = { sessionTimeout: 10_000 };

export function lostRepliesSuite(target: Target): void {
  describe("SequentialLock.acquire()", () => {
    it("finds its znode again when the reply to its creation is lost (CURATOR-45, kazoo prefix)", async () => {
      await scene(target, options, async ({ proxy, far, near, path }) => {
        const lock = new SequentialLock(far, path);
        await warmUp(lock);
        const lost = proxy.dropReply("create", { thenCut: true });

        const held = await within("acquire()", lock.acquire());

        const { err } = await lost;
        assertEquals(err, 0); // The server had made it.
        const children = await near.getChildren(path);
        assertEquals(children.map((name) => `${path}/${name}`), [held.path]);
        assertEquals(held.token, (await near.exists(held.path))?.czxid);
        await held.release();
        // Or reaped already.
        await childrenBecome(near, path, (names) => names.length === 0);
      });
    });

    it("makes one znode when the connection is lost before its creation is sent", async () => {
      await scene(target, options, async ({ proxy, far, near, path }) => {
        const lock = new SequentialLock(far, path);
        await warmUp(lock);
        let cut = false;
        proxy.rule = ({ direction, op }) => {
          if (cut || direction !== "request" || op !== "create") return "pass";
          cut = true;
          return "cut";
        };

        const held = await within("acquire()", lock.acquire());

        assert(cut);
        assertEquals((await near.getChildren(path)).length, 1);
        await held.release();
      });
    });

    it("makes one znode when the replies to two creations in a row are lost (CURATOR-264)", async () => {
      await scene(target, options, async ({ proxy, far, near, path }) => {
        const lock = new SequentialLock(far, path);
        await warmUp(lock);
        let cuts = 0;
        proxy.rule = ({ direction, op }) => {
          const lose = direction === "reply" && cuts < 3 &&
            (op === "create" || op === "getChildren");
          if (!lose) return "pass";
          cuts++;
          return "cut";
        };

        const held = await within("acquire()", lock.acquire());

        assertEquals(cuts, 3);
        assertEquals((await near.getChildren(path)).length, 1);
        await held.release();
      });
    });

    it("keeps its place when the reply to the listing is lost (samuel/go-zookeeper#229)", async () => {
      await scene(target, options, async ({ proxy, far, near, path }) => {
        const first = await new SequentialLock(near, path).acquire();
        void proxy.dropReply("getChildren", { thenCut: true });
        const waiting = new SequentialLock(far, path).acquire();
        await childrenBecome(near, path, (names) => names.length === 2);
        const later = new SequentialLock(near, path).acquire();

        await first.release();

        const held = await within("the waiter", waiting);
        assertEquals((await near.getChildren(path)).length, 2);
        await held.release();
        const last = await within("the next", later);
        assert(first.token < held.token && held.token < last.token);
        await last.release();
      });
    });

    it("is granted by the reconnect when its predecessor went while the event was lost", async () => {
      await scene(target, options, async ({ proxy, far, near, path }) => {
        const first = await new SequentialLock(near, path).acquire();
        const waiting = new SequentialLock(far, path).acquire();
        await proxy.packet(({ op, direction }) =>
          direction === "reply" && op === "getData"
        );
        let lost = false;
        proxy.rule = ({ direction }) => {
          if (lost || direction !== "event") return "pass";
          lost = true;
          return "cut";
        };

        await first.release();

        const held = await within("the waiter", waiting);
        assert(lost);
        await held.release();
      });
    });

    it("asks again for its directory when that was reaped before the znode was made (Netflix/curator#307, kazoo#563)", async () => {
      await scene(target, options, async ({ far, near, path }) => {
        const lock = new SequentialLock(far, path);
        await warmUp(lock);
        await near.delete(path).catch(() => {}); // Reaped already: as well.

        const held = await within("acquire()", lock.acquire());

        assertEquals((await near.getChildren(path)).length, 1);
        await held.release();
      });
    });
  });

  describe("ExclusiveLock.acquire()", () => {
    it("knows its znode again when the reply to its creation is lost", async () => {
      await scene(target, options, async ({ proxy, far, near, path }) => {
        const lock = new ExclusiveLock(far, path);
        await warmUp(lock);
        const lost = proxy.dropReply("multi", { thenCut: true });

        const held = await within("acquire()", lock.acquire());

        assertEquals((await lost).err, 0);
        assertEquals(held.token, (await near.exists(path))?.czxid);
        assertEquals(await held.release(), true);
        assertEquals(await near.exists(path), null);
      });
    });

    it("does not take another hold of its session for its own", async () => {
      await scene(target, options, async ({ proxy, far, path }) => {
        const lock = new ExclusiveLock(far, path);
        const first = await lock.acquire();
        void proxy.dropReply("multi", { thenCut: true });

        const second = await lock.tryAcquire();

        assertEquals(second, null);
        assertEquals(
          first.state === "held" || first.state === "suspended",
          true,
        );
        assertEquals(await first.release(), true);
      });
    });
  });

  describe("release()", () => {
    for (const Lock of locks) {
      const op = Lock === SequentialLock ? "delete" : "multi";

      it(`of ${called(Lock)} happens once and is true when its reply is lost`, async () => {
        await scene(target, options, async ({ proxy, far, near, path }) => {
          const lock = new Lock(far, path);
          const held = await lock.acquire();
          const lost = proxy.dropReply(op, { thenCut: true });

          const released = await within("release()", held.release());

          assertEquals(released, true);
          assertEquals((await lost).err, 0);
          const parent = path.slice(0, path.lastIndexOf("/"));
          const name = path.slice(path.lastIndexOf("/") + 1);
          const left = Lock === SequentialLock
            ? await childrenBecome(near, path, () => true)
            : leftovers(await near.getChildren(parent)).filter((n) =>
              n === name
            );
          assertEquals(left, []);
        });
      });

      it(`of ${called(Lock)} is sent again when the request is lost`, async () => {
        await scene(target, options, async ({ proxy, far, near, path }) => {
          const held = await new Lock(far, path).acquire();
          let cut = false;
          proxy.rule = (packet) => {
            if (cut || packet.direction !== "request" || packet.op !== op) {
              return "pass";
            }
            cut = true;
            return "cut";
          };

          const released = await within("release()", held.release());

          assertEquals([released, cut], [true, true]);
          assertEquals(await near.exists(held.path), null);
        });
      });

      it(`of ${called(Lock)} answers in bounded time in a black hole, and happens when that ends (kazoo#732)`, async () => {
        const short = { sessionTimeout: 12_000 };
        await scene(target, short, async ({ proxy, far, near, path }) => {
          const held = await new Lock(far, path).acquire();
          const next = new Lock(near, path).acquire();
          proxy.blackHole();

          const released = await within("release()", held.release());

          // After a third of the timeout; silence is noticed at two thirds.
          assertEquals(far.session.state, "connected");
          assertEquals(released, true);
          assertEquals(held.signal.aborted, true);
          proxy.heal();
          const after = await within("the next holder", next);
          assert(after.token > held.token);
          await after.release();
        });
      });
    }
  });
}
