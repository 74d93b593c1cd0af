// The timing of client and locks against the embedded server, to the millisecond, on a virtual clock.
// What each of them decides alone is tested beside it; here both sides count.

import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  connect,
  type HeldLock,
  LockLostError,
  SequentialLock,
} from "../../mod.ts";
import { TestServer, VirtualClock } from "../../testing/mod.ts";

const T = 9_000;
const tick = 1_000;
/** Of T: the error of the clock, and the period of heartbeats. */
const eps = T / 50;
const P = T / 6;

/** A server and a client that connected at time 0, without a network in between. */
async function stage() {
  const clock = new VirtualClock();
  const environment = clock;
  const server = await TestServer.start({ environment, listen: false, tick });
  const { servers, transport } = server;
  const zk = await clock.until(
    connect(servers, { environment, transport, sessionTimeout: T }),
  );
  /** When requests of an operation came. */
  const times = (op: string) => {
    const found: number[] = [];
    server.rule = (request) => {
      if (request.op === op) found.push(clock.monotonic());
      return undefined;
    };
    return found;
  };
  return { clock, server, zk, times };
}

type Stage = Awaited<ReturnType<typeof stage>>;

function staged(run: (stage: Stage) => Promise<void>): () => Promise<void> {
  return async () => {
    const all = await stage();
    try {
      await run(all);
    } finally {
      all.server.heal();
      await all.clock.until(all.zk.close());
      await all.server.close();
    }
  };
}

/** When the lock is lost. */
function lossOf(held: HeldLock, clock: VirtualClock): number[] {
  const times: number[] = [];
  held.signal.addEventListener("abort", () => times.push(clock.monotonic()));
  return times;
}

describe("A client that asks for nothing", () => {
  it(
    "pings every third of the timeout",
    staged(async ({ clock, times }) => {
      const pings = times("ping");

      await clock.pass(T);

      assertEquals(pings, [T / 3, 2 * T / 3, T]);
    }),
  );

  it(
    "gives a silent server up two thirds of the timeout after its last word",
    staged(async ({ clock, server, zk }) => {
      const changes: [string, number][] = [];
      zk.on("state", ({ state }) => changes.push([state, clock.monotonic()]));
      await clock.pass(T / 3);

      server.halfOpen();
      server.refuseConnections();
      await clock.pass(2 * T / 3);

      assertEquals(changes, [["disconnected", T]]);
    }),
  );

  it(
    "ends its session four thirds of the timeout after the last word",
    staged(async ({ clock, server, zk }) => {
      const { session } = zk;
      const ends: number[] = [];
      session.signal.addEventListener(
        "abort",
        () => ends.push(clock.monotonic()),
      );

      server.halfOpen();
      server.refuseConnections();
      await clock.pass(2 * T);

      assertEquals(ends, [4 * T / 3]);
    }),
  );

  it(
    "is expired by the server at the first tick after the timeout since its last word",
    staged(async ({ clock, server }) => {
      await clock.pass(T / 3 + 500);
      server.halfOpen();
      server.refuseConnections();

      await clock.pass(T + tick - 500 - 1);
      const before = server.sessions.length;
      await clock.pass(1);

      assertEquals([before, server.sessions.length], [1, 0]);
    }),
  );
});

describe("A holder", () => {
  it(
    "sends a heartbeat every sixth of the timeout",
    staged(async ({ clock, zk, times }) => {
      await clock.until(new SequentialLock(zk, "/lock").acquire());
      const heartbeats = times("multi");

      await clock.pass(4 * P);

      assertEquals(heartbeats, [P, 2 * P, 3 * P, 4 * P]);
    }),
  );

  it(
    "hears of the loss one timeout, less the clock's error, after the connect request if nothing came later",
    staged(async ({ clock, server, zk }) => {
      const held = await clock.until(new SequentialLock(zk, "/lock").acquire());
      const losses = lossOf(held, clock);

      server.halfOpen();
      server.refuseConnections();
      await clock.pass(T);

      assertEquals(losses, [T - eps]);
    }),
  );

  it(
    "hears of it before the server lets go of the lock",
    staged(async ({ clock, server, zk }) => {
      const held = await clock.until(new SequentialLock(zk, "/lock").acquire());
      const losses = lossOf(held, clock);
      await clock.pass(3 * T);
      server.halfOpen();
      server.refuseConnections();

      while (server.znode(held.path) !== undefined) await clock.pass(1);

      const [lost] = losses;
      assertEquals([losses.length, lost < clock.monotonic()], [1, true]);
    }),
  );

  it(
    "that stood still throws at the first line that runs again, before its timer",
    staged(async ({ clock, zk }) => {
      const held = await clock.until(new SequentialLock(zk, "/lock").acquire());

      clock.jump(T);

      assertThrows(() => held.assertHeld(), LockLostError);
    }),
  );

  it(
    "whose machine slept hears of it within a sixth of the timeout",
    staged(async ({ clock, server, zk }) => {
      const held = await clock.until(new SequentialLock(zk, "/lock").acquire());
      const losses = lossOf(held, clock);
      server.freeze();

      clock.jump(T);
      await clock.pass(P);

      assertEquals(losses.length, 1);
    }),
  );

  it(
    "goes on when somebody sets the clock on the wall back",
    staged(async ({ clock, zk }) => {
      const held = await clock.until(new SequentialLock(zk, "/lock").acquire());

      clock.jump(-1_000_000);
      await clock.pass(3 * T);

      assertEquals(held.state, "held");
    }),
  );
});
