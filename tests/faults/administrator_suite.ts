// What an administrator can do to a lock: end its session, delete its znode.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  ExclusiveLock,
  LockLostError,
  MultiError,
  SequentialLock,
  SessionExpiredError,
  type Warning,
  type WatchEvent,
} from "../../mod.ts";
import { expireSession } from "../../testing/mod.ts";
import type { Target } from "../targets.ts";
import {
  aborted,
  called,
  childrenBecome,
  freshPath,
  locks,
  scene,
  within,
} from "./help.ts";

const options = { sessionTimeout: 10_000 };

export function administratorSuite(target: Target): void {
  describe("A session that a twin ends", () => {
    for (const Lock of locks) {
      it(`aborts the signal of ${called(Lock)}, and the same client acquires again (kazoo#2, docker/libkv#156)`, async () => {
        await scene(target, options, async ({ far, near, path }) => {
          const lock = new Lock(far, path);
          const held = await lock.acquire();
          const session = far.session;
          const told: WatchEvent[] = [];
          await far.exists("/", { watch: (event) => void told.push(event) });

          await expireSession(far, target.servers);

          const reason = await within("loss", aborted(held.signal));
          assertInstanceOf(reason, LockLostError);
          assertInstanceOf(reason.cause, SessionExpiredError);
          assertThrows(() => held.assertHeld(), LockLostError);
          assertEquals(held.state, "lost");
          assertEquals(session.state, "expired");
          assert(far.session !== session);
          assertEquals(await held.release(), false);
          assertEquals(told, [{ type: "session-lost", path: "/" }]);
          const again = await within("acquire()", lock.acquire());
          assert(again.token > held.token);
          await again.release();
          await (await new Lock(near, path).acquire()).release();
        });
      });

      it(`makes waiters of ${called(Lock)} enter again, with a warning`, async () => {
        await scene(target, options, async ({ far, near, path }) => {
          const held = await new Lock(near, path).acquire();
          const warnings: Warning[] = [];
          far.on("warning", (warning) => void warnings.push(warning));
          const queued: number[] = [];
          let again = () => {};
          const requeued = new Promise<void>((resolve) => again = resolve);
          let first = () => {};
          const waiting = new Promise<void>((resolve) => first = resolve);
          const acquired = new Lock(far, path).acquire({
            onQueued(ahead) {
              if (queued.push(ahead) === 1) first();
              else again();
            },
          });
          await within("queueing", waiting);

          await expireSession(far, target.servers);

          await within("queueing again", requeued);
          assertEquals(queued, [1, 1]);
          assertEquals(warnings.map(({ kind }) => kind), ["requeued"]);
          await held.release();
          await (await within("the waiter", acquired)).release();
        });
      });

      it(`makes waiters of ${called(Lock)} reject, by option (etcd#19597)`, async () => {
        await scene(target, options, async ({ far, near, path }) => {
          const held = await new Lock(near, path).acquire();
          let queued = () => {};
          const waiting = new Promise<void>((resolve) => queued = resolve);
          const acquired = new Lock(far, path, { onSessionLoss: "reject" })
            .acquire({ onQueued: () => queued() });
          await within("queueing", waiting);

          await expireSession(far, target.servers);

          const rejected = within("rejection", acquired);
          await assertRejects(() => rejected, SessionExpiredError);
          await held.release();
        });
      });
    }
  });

  describe("A znode that an operator deletes", () => {
    for (const Lock of locks) {
      it(`is noticed by the holder of ${called(Lock)} within a heartbeat`, async () => {
        await scene(target, options, async ({ far, near, path }) => {
          const held = await new Lock(far, path).acquire();

          await near.delete(held.path);

          const reason = await within("loss", aborted(held.signal));
          assertInstanceOf(reason, LockLostError);
          assertEquals(await held.release(), false);
        });
      });

      it(`makes guard() of ${called(Lock)} refuse at once (etcd#10811)`, async () => {
        await scene(target, options, async ({ far, near, path }) => {
          const held = await new Lock(far, path).acquire();
          const data = freshPath();
          await near.create(data, "before", { parents: true });
          const set = { op: "setData", path: data, data: "after" } as const;
          await held.guard([set]);
          await near.delete(held.path);

          await assertRejects(() => held.guard([set]), LockLostError);

          const { stat } = await near.getData(data);
          assertEquals(stat.version, 1);
          assertEquals(held.state, "lost");
        });
      });
    }

    it("makes a waiter of a SequentialLock enter again at the end", async () => {
      await scene(target, options, async ({ far, near, path }) => {
        const held = await new SequentialLock(near, path).acquire();
        const queued: number[] = [];
        const waiting = new SequentialLock(far, path)
          .acquire({ onQueued: (ahead) => void queued.push(ahead) });
        const [own] = (await childrenBecome(near, path, (n) => n.length === 2))
          .filter((name) => `${path}/${name}` !== held.path);
        const later = new SequentialLock(near, path).acquire();
        await childrenBecome(near, path, (n) => n.length === 3);

        await near.delete(`${path}/${own}`);
        await held.release();

        const next = await within("the later one", later);
        await childrenBecome(near, path, (n) => n.length === 2);
        await next.release();
        await (await within("the waiter", waiting)).release();
        assertEquals(queued, [1, 1]);
      });
    });

    it("in the middle of a queue grants the lock to nobody", async () => {
      await scene(target, options, async ({ proxy, far, near, path }) => {
        const held = await new SequentialLock(near, path).acquire();
        const middle = new SequentialLock(near, path, {
          onSessionLoss: "reject",
        })
          .acquire();
        middle.catch(() => {});
        const [own] = (await childrenBecome(near, path, (n) => n.length === 2))
          .filter((name) => `${path}/${name}` !== held.path);
        let granted = false;
        const last = new SequentialLock(far, path).acquire()
          .then((held) => (granted = true, held));
        await childrenBecome(near, path, (n) => n.length === 3);
        await far.ping(); // Its watch stands.
        await far.ping();

        const looked = proxy.packet(({ direction, op }) =>
          direction === "reply" && op === "getData"
        );
        await near.delete(`${path}/${own}`);

        await within("a look at the new predecessor", looked);
        await far.ping();
        assertEquals(granted, false);
        held.assertHeld();
        await held.release();
        await assertRejects(() => middle, LockLostError);
        await (await within("the last", last)).release();
      });
    });
  });

  describe("A stale holder of an ExclusiveLock", () => {
    // The operator deletes the znode and another takes the lock, unseen by the first.
    for (const successor of ["another client", "its own session"] as const) {
      it(`cannot release or guard against ${successor} (the seed's liberar())`, async () => {
        // It hears of nothing: its heartbeat comes too late to tell, and no watch event.
        const slow = { sessionTimeout: 60_000 };
        await scene(target, slow, async ({ proxy, far, near, path }) => {
          const stale = await new ExclusiveLock(far, path).acquire();
          proxy.rule = ({ direction }) =>
            direction === "event" ? "drop" : "pass";
          await near.delete(path);
          const heir = successor === "another client" ? near : far;
          const next = await new ExclusiveLock(heir, path).acquire();

          const guarded = stale.guard([{ op: "check", path: "/" }]);
          const error = await assertRejects(() => guarded, LockLostError);
          assertInstanceOf(error.cause, MultiError);
          assertEquals(error.cause.code, "BadVersion");
          const released = await stale.release();

          assertEquals(released, false);
          assertEquals((await near.exists(path))?.czxid, next.token);
          assert(next.token > stale.token);
          next.assertHeld();
          await next.guard([{ op: "check", path: "/" }]);
          assertEquals(await next.release(), true);
        });
      });
    }

    it("that releases first is refused, too", async () => {
      await scene(target, options, async ({ far, near, path }) => {
        const stale = await new ExclusiveLock(far, path).acquire();
        await near.delete(path);
        const next = await new ExclusiveLock(near, path).acquire();

        await stale.release();

        assertEquals((await near.exists(path))?.czxid, next.token);
        assertEquals(await next.release(), true);
      });
    });

    it("whose fence was deleted still removes only its own znode", async () => {
      await scene(target, options, async ({ far, near, path }) => {
        const warnings: string[] = [];
        far.on("warning", ({ kind }) => void warnings.push(kind));
        const held = await new ExclusiveLock(far, path).acquire();
        await near.delete(`${path}-fence`);

        const released = await held.release();

        assertEquals(released, true);
        assertEquals(warnings, ["fence-missing"]);
        assertEquals(await near.exists(path), null);
        await (await new ExclusiveLock(near, path).acquire()).release();
      });
    });
  });

  describe("close()", () => {
    for (const Lock of locks) {
      it(`aborts the signal of ${called(Lock)}, rejects waiters, and frees the lock at once (kazoo#744)`, async () => {
        // As long as any test is waited for: nothing here is done by expiry.
        const long = { sessionTimeout: 60_000 };
        await scene(target, long, async ({ far, near, path }) => {
          const held = await new Lock(far, path).acquire();
          const own = new Lock(far, path).acquire();
          const next = new Lock(near, path).acquire();
          own.catch(() => {});

          const closed = far.close();

          assertEquals(held.signal.aborted, true);
          assertEquals(held.state, "lost");
          await assertRejects(() => own, Error, "closed");
          await within("close()", closed);
          await (await within("the next holder", next)).release();
          await assertRejects(
            () => new Lock(far, path).acquire(),
            Error,
            "closed",
          );
        });
      });
    }
  });
}
