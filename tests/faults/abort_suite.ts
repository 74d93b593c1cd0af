// Giving up at any point leaves nothing behind, and harms nobody.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type HeldLock, SequentialLock } from "../../mod.ts";
import type { Target } from "../targets.ts";
import {
  called,
  childrenBecome,
  leftovers,
  locks,
  type Scene,
  scene,
  within,
} from "./help.ts";

const options = { sessionTimeout: 10_000 };
/** More packets than a waiting acquire() exchanges, both ways. */
const packets = 14;

/** Names of contenders that stand for a lock at `path`. */
async function waiters(
  Lock: typeof locks[number],
  { near, path }: Scene,
  wanted: number,
): Promise<void> {
  if (Lock === SequentialLock) {
    await childrenBecome(near, path, (names) => names.length === wanted);
    return;
  }
  const parent = path.slice(0, path.lastIndexOf("/"));
  const own = path.slice(path.lastIndexOf("/") + 1);
  await childrenBecome(
    near,
    parent,
    (names) =>
      leftovers(names).filter((name) => name === own).length === wanted,
  );
}

export function abortSuite(target: Target): void {
  describe("acquire() that is aborted", () => {
    for (const Lock of locks) {
      for (const others of ["nobody", "somebody"] as const) {
        it(`after any packet leaves no znode of ${called(Lock)} with ${others} ahead (CURATOR-79, zk-ruby#49)`, async () => {
          await scene(target, options, async (play) => {
            const { proxy, far, near, path } = play;
            let granted = 0;
            let more = true;
            for (let k = 1; more; k++) {
              assert(k <= packets);
              const ahead: HeldLock | null = others === "somebody"
                ? await new Lock(near, path).acquire()
                : null;
              const stop = new AbortController();
              let seen = 0;
              proxy.rule = ({ op }) => {
                if (op === "ping") return "pass";
                if (++seen === k) stop.abort(new Error(`after ${k} packets`));
                return "pass";
              };

              let queued = () => {};
              const waits = new Promise<void>((resolve) => queued = resolve);
              // Its watch is asked for in the turn of onQueued, and stands when
              // a ping behind it is answered.
              waits.then(() => far.ping()).then(() => far.ping()).then(() => {
                if (seen >= k) return;
                // So many packets there are not: it waits, undisturbed.
                more = false;
                stop.abort(new Error("later"));
              }).catch(() => {}); // Closed meanwhile.
              const outcome = await within(
                `acquire() aborted after ${k} packets`,
                new Lock(far, path).acquire({
                  signal: stop.signal,
                  onQueued: () => queued(),
                }).then((held) => held, (error: Error) => error),
              );

              proxy.rule = undefined;
              if (outcome instanceof Error) {
                await waiters(Lock, play, ahead ? 1 : 0);
              } else {
                granted++;
                more = granted < 3;
                await outcome.release();
              }
              await ahead?.release();
              const next = new Lock(near, path).acquire();
              await (await within("the next contender", next)).release();
            }
            // Alone, only those aborted late enough are granted.
            assertEquals(granted, others === "nobody" ? 3 : 0);
          });
        });
      }

      it(`and whose connection is cut, after any packet, leaves no znode of ${called(Lock)}`, async () => {
        await scene(target, options, async (play) => {
          const { proxy, far, near, path } = play;
          for (let k = 1; k <= 8; k++) {
            const ahead = await new Lock(near, path).acquire();
            const stop = new AbortController();
            const cut = proxy.cutAfter(k).then(
              () => stop.abort(new Error(`cut after ${k} packets`)),
              () => {}, // There are not so many packets: healed below.
            );
            const waiting = new Lock(far, path).acquire({
              signal: stop.signal,
            });
            await Promise.race([cut, far.ping().catch(() => {})]);
            stop.abort(new Error("later"));

            await assertRejects(() => within("rejection", waiting));

            proxy.heal();
            await waiters(Lock, play, 1);
            await ahead.release();
            const next = new Lock(near, path).acquire();
            await (await within("the next contender", next)).release();
          }
        });
      });

      it(`before anything is sent sends nothing for ${called(Lock)}`, async () => {
        await scene(target, options, async ({ proxy, far, path }) => {
          await far.ping();
          proxy.clear();

          await assertRejects(
            () => new Lock(far, path).acquire({ signal: AbortSignal.abort() }),
            DOMException,
          );

          await far.ping();
          assertEquals(proxy.count("request"), proxy.count("request", "ping"));
        });
      });

      it(`after the grant changes nothing for ${called(Lock)}`, async () => {
        await scene(target, options, async ({ far, path }) => {
          const stop = new AbortController();
          const held = await new Lock(far, path).acquire({
            signal: stop.signal,
          });

          stop.abort();

          assertEquals(held.state, "held");
          held.assertHeld();
          assertEquals(await held.release(), true);
        });
      });
    }

    it("while nobody answers rejects at once, and its znode goes when the network is back", async () => {
      const short = { sessionTimeout: 8_000 };
      await scene(target, short, async (play) => {
        const { proxy, far, near, path } = play;
        const ahead = await new SequentialLock(near, path).acquire();
        const stop = new AbortController();
        const waiting = new SequentialLock(far, path)
          .acquire({ signal: stop.signal });
        await childrenBecome(near, path, (names) => names.length === 2);
        proxy.blackHole();

        stop.abort();

        await assertRejects(() => within("rejection", waiting));
        // Nobody has noticed yet that nobody answers.
        assertEquals(far.session.state, "connected");
        proxy.heal();
        await childrenBecome(near, path, (names) => names.length === 1);
        assertEquals(far.session.state, "connected");
        await ahead.release();
      });
    });
  });

  describe("acquire({ timeout })", () => {
    for (const Lock of locks) {
      it(`of ${called(Lock)} rejects with a TimeoutError and leaves nothing (aiozk#34)`, async () => {
        await scene(target, options, async (play) => {
          const { far, near, path } = play;
          const ahead = await new Lock(near, path).acquire();

          const error = await assertRejects(
            () => new Lock(far, path).acquire({ timeout: 50 }),
            DOMException,
          );

          assertEquals(error.name, "TimeoutError");
          await waiters(Lock, play, 1);
          await ahead.release();
        });
      });

      it(`of 0 grants ${called(Lock)} that is free, and rejects at the first reply otherwise`, async () => {
        await scene(target, options, async (play) => {
          const { far, near, path } = play;
          const held = await new Lock(far, path).acquire({ timeout: 0 });

          const error = await assertRejects(
            () => new Lock(near, path).acquire({ timeout: 0 }),
            DOMException,
          );

          assertEquals(error.name, "TimeoutError");
          await waiters(Lock, play, 1);
          await held.release();
        });
      });
    }
  });

  describe("tryAcquire()", () => {
    for (const Lock of locks) {
      it(`of ${called(Lock)} answers null if somebody is ahead, and leaves nothing (spring-integration#2557)`, async () => {
        await scene(target, options, async (play) => {
          const { far, near, path } = play;
          const ahead = await new Lock(near, path).acquire();

          const tried = await Promise.all(
            Array.from({ length: 20 }, () => new Lock(far, path).tryAcquire()),
          );

          assertEquals(tried, Array(20).fill(null));
          await waiters(Lock, play, 1);
          await ahead.release();
          const held = await new Lock(far, path).tryAcquire();
          assert(held !== null);
          await held.release();
        });
      });
    }

    it("of a SequentialLock writes the delete in the turn in which it reads the reply", async () => {
      await scene(target, options, async ({ proxy, far, near, path }) => {
        const ahead = await new SequentialLock(near, path).acquire();
        await far.ping();
        proxy.clear();

        assertEquals(await new SequentialLock(far, path).tryAcquire(), null);

        await far.ping();
        const sent = proxy.packets
          .filter(({ direction }) => direction === "request")
          .map(({ op }) => op);
        assertEquals(sent, ["create", "getChildren", "delete", "ping"]);
        await ahead.release();
      });
    });
  });
}
