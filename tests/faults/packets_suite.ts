// How many packets a lock costs, counted on the wire.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type Client,
  ExclusiveLock,
  type HeldLock,
  type Packet,
  SequentialLock,
  withLock,
} from "../../mod.ts";
import type { FaultProxy } from "../../testing/mod.ts";
import { connectTo, type Target } from "../targets.ts";
import { called, freshPath, locks, scene, warmUp } from "./help.ts";

const sessionTimeout = 30_000;

/** What was asked before each answer, or several in a row. */
function flights({ packets }: FaultProxy): string[] {
  const flights: string[] = [];
  let isAsking = false;
  for (const { direction, op } of packets) {
    if (direction === "request") {
      if (isAsking) flights[flights.length - 1] += ` ${op}`;
      else flights.push(`${op}`);
    }
    isAsking = direction === "request";
  }
  return flights;
}

export function packetsSuite(target: Target): void {
  describe("withLock(), uncontended", () => {
    it("is two writes, each answered in one go, the first with nothing before it", async () => {
      await scene(target, { sessionTimeout }, async ({ proxy, near, path }) => {
        await near.ensurePath(path);
        proxy.clear();

        await withLock(proxy.servers, path, () => {
          assertEquals(flights(proxy), ["connect create getChildren"]);
          assertEquals(proxy.chunks, 1);
        });

        assertEquals(flights(proxy), [
          "connect create getChildren",
          "delete closeSession",
        ]);
        assertEquals(proxy.chunks, 2);
      });
    });
  });

  describe("acquire(), uncontended", () => {
    for (const Lock of locks) {
      const asked = Lock === SequentialLock
        ? ["create", "getChildren"]
        : ["multi"];
      const left = Lock === SequentialLock ? ["delete"] : ["multi"];

      it(`of ${called(Lock)} is one write and one round trip, release() one`, async () => {
        await scene(
          target,
          { sessionTimeout },
          async ({ proxy, far, path }) => {
            const lock = new Lock(far, path);
            await warmUp(lock);
            await far.ping(); // Whatever was on its way has arrived.
            proxy.clear();

            const held = await lock.acquire();

            const requests = () =>
              proxy.packets.filter(({ direction }) => direction === "request")
                .map(({ op }) => op);
            assertEquals(requests(), asked);
            assertEquals(proxy.chunks, 1);
            const directions = proxy.packets.map(({ direction }) => direction);
            // All questions before the first answer: a single round trip.
            assertEquals(directions, [
              ...asked.map(() => "request"),
              ...asked.map(() => "reply"),
            ]);
            proxy.clear();

            await held.release();

            assertEquals(requests(), left);
            assertEquals(proxy.chunks, 1);
          },
        );
      });
    }

    it("of a SequentialLock answers the czxid of its znode as token", async () => {
      await scene(target, { sessionTimeout }, async ({ far, near, path }) => {
        const held = await new SequentialLock(far, path).acquire();

        const stat = await near.exists(held.path);

        assertEquals(held.token, stat?.czxid);
        await held.release();
      });
    });
  });

  /** Clients with a session each, and the watch events that each received. */
  async function crowd(
    size: number,
    target: Target,
  ): Promise<{ clients: Client[]; events: number[]; close(): Promise<void> }> {
    const events: number[] = [];
    const count = (i: number) => ({ op }: Packet) => {
      if (op === "event") events[i] = (events[i] ?? 0) + 1;
    };
    const clients = await Promise.all(
      Array.from({ length: size }, (_, i) => {
        events[i] = 0;
        return connectTo(target, { sessionTimeout, onPacket: count(i) });
      }),
    );
    const close = async () => {
      await Promise.all(clients.map((client) => client.close()));
    };
    return { clients, events, close };
  }

  describe("release() with 200 waiters", () => {
    it("of a SequentialLock wakes exactly one of them, each time", async () => {
      const { clients, events, close } = await crowd(201, target);
      try {
        const path = freshPath();
        const holder = await new SequentialLock(clients[0], path).acquire();
        const granted: HeldLock[] = [];
        const waiting: Promise<void>[] = [];
        for (const client of clients.slice(1)) {
          await new Promise<void>((queued) => {
            const acquired = new SequentialLock(client, path)
              .acquire({ onQueued: () => queued() });
            waiting.push(acquired.then((held) => void granted.push(held)));
          });
        }
        // The watch is set after onQueued; a ping behind it says that it stands.
        await Promise.all(clients.map((client) => client.ping()));

        let held = holder;
        for (let turn = 0; turn < 200; turn++) {
          events.fill(0);
          await held.release();
          await waiting[turn];
          held = granted[turn];
          const woken = events.flatMap((n, i) => n > 0 ? [i] : []);
          // In the order in which they came, and nobody else heard of it.
          assertEquals(woken, [turn + 1]);
          assertEquals(events[turn + 1], 1);
        }
        await held.release();
      } finally {
        await close();
      }
    });

    it("of an ExclusiveLock wakes every waiter with a session of its own", async () => {
      const { clients, events, close } = await crowd(201, target);
      try {
        const path = freshPath();
        const holder = await new ExclusiveLock(clients[0], path).acquire();
        const stop = new AbortController();
        const first = Promise.race(
          clients.slice(1).map((client) =>
            new ExclusiveLock(client, path).acquire({ signal: stop.signal })
          ),
        );
        await Promise.all(clients.map((client) => client.ping()));
        await Promise.all(clients.map((client) => client.ping()));
        events.fill(0);

        await holder.release();

        const next = await first;
        await Promise.all(clients.slice(1).map((client) => client.ping()));
        assertEquals(events.slice(1).filter((n) => n === 0).length, 0);
        stop.abort();
        await next.release();
        assert(next.token > holder.token);
      } finally {
        await close();
      }
    });
  });
}
