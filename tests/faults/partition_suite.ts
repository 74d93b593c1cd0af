// Silence, restarts and stalls: who may believe what, and for how long.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect, LockLostError, SequentialLock } from "../../mod.ts";
import { startMortal, type Target } from "../targets.ts";
import { FaultProxy } from "../../testing/mod.ts";
import {
  aborted,
  called,
  freshPath,
  locks,
  scene,
  stateBecomes,
  tidily,
  within,
} from "./help.ts";

const sessionTimeout = 4_000;

export function partitionSuite(target: Target): void {
  describe("HeldLock", () => {
    for (const Lock of locks) {
      it(`of ${called(Lock)} is lost before anybody else gets it, when the network is silent (CURATOR-206)`, async () => {
        await scene(target, { sessionTimeout }, async (play) => {
          const { proxy, far, near, path } = play;
          const states: string[] = [];
          const held = await new Lock(far, path).acquire({
            onState: (state) => void states.push(state),
          });
          const order: string[] = [];
          void aborted(held.signal).then(() => order.push("lost"));
          const waiting = new Lock(near, path).acquire().then((next) => {
            order.push("granted");
            // Looked at in the same turn in which the other one is granted.
            const error = assertThrows(() => held.assertHeld(), LockLostError);
            assertEquals(error.token, held.token);
            assertEquals(held.remaining, 0);
            return next;
          });

          proxy.blackHole();

          const next = await within("the next holder", waiting);
          assertEquals(order, ["lost", "granted"]);
          assertEquals(states, ["suspended", "lost"]);
          assert(next.token > held.token);
          assertEquals(await held.release(), false);
          await next.release();
        });
      });

      it(`of ${called(Lock)} is not believed after the event loop stood still too long (kazoo#364)`, async () => {
        await scene(target, { sessionTimeout }, async ({ far, near, path }) => {
          const held = await new Lock(far, path).acquire();
          const next = new Lock(near, path).acquire();
          held.assertHeld();

          const until = performance.now() + sessionTimeout * 1.1;
          while (performance.now() < until) { /* Nobody else can run. */ }

          // In the same turn: no timer has had a chance to tell.
          const error = assertThrows(() => held.assertHeld(), LockLostError);
          assertEquals(error.path, held.path);
          assertEquals(held.signal.aborted, true);
          // Both sessions stood still; whoever survived, the waiter is served.
          await (await within("the next holder", next)).release();
        });
      });

      it(`of ${called(Lock)} survives a server that is killed and started again`, async () => {
        await tidily(async (undo) => {
          const server = await startMortal(target);
          undo(() => server[Symbol.asyncDispose]());
          // A busy machine may take long to start it.
          const options = { sessionTimeout: 60_000 };
          const zk = await connect(server.servers, options);
          undo(() => zk.close());
          const other = await connect(server.servers, options);
          undo(() => other.close());
          const path = freshPath();
          const states: string[] = [];
          const held = await new Lock(zk, path).acquire({
            onState: (state) => void states.push(state),
          });
          const next = new Lock(other, path).acquire();
          const ids = [zk.session.id, other.session.id];

          await server.kill();
          await within("disconnection", stateBecomes(zk, "disconnected"));
          held.assertHeld(); // In doubt, but still to be believed.
          await server.restart();

          await within("reconnection", stateBecomes(zk, "connected"));
          await within("the other", stateBecomes(other, "connected"));
          await zk.sync(path);
          assertEquals([zk.session.id, other.session.id], ids);
          assertEquals(held.state, "held");
          assertEquals(states, ["suspended", "held"]);
          assertEquals(await held.release(), true);
          const after = await within("the waiter", next);
          assert(after.token > held.token);
          await after.release();
        });
      });

      it(`of ${called(Lock)} moves to the next server when one answers pings but commits nothing`, async () => {
        await tidily(async (undo) => {
          const sick = await FaultProxy.start(target.servers);
          undo(() => sick.close());
          const well = await FaultProxy.start(target.servers);
          undo(() => well.close());
          const both = [sick.servers, well.servers];
          const zk = await connect(both, { sessionTimeout: 9_000 });
          undo(() => zk.close());
          // Whichever of the two it chose is the one that falls ill.
          const [ill, other] = sick.connections > 0
            ? [sick, well]
            : [well, sick];
          undo(() => ill.heal());
          const held = await new Lock(zk, freshPath()).acquire();
          const { id } = zk.session;

          // Whatever else was answered behind the heartbeat would give the loss away.
          ill.rule = ({ direction, op }) =>
            direction === "reply" && op !== "ping" ? "drop" : undefined;
          const beat = ill.packet(({ direction, op }) =>
            direction === "request" && op === "multi"
          );
          const moving = stateBecomes(zk, "disconnected");
          const confirmed = other.packet(({ direction, op }) =>
            direction === "reply" && op === "multi"
          );
          await within("a heartbeat", beat);
          await zk.ping(); // The heartbeat is out, and pings are answered.
          const pongs = ill.count("reply", "ping");
          await within("leaving", moving);

          await within("moving", stateBecomes(zk, "connected"));
          await within("a heartbeat elsewhere", confirmed);
          assertEquals(zk.session.id, id);
          assertEquals(held.signal.aborted, false);
          held.assertHeld();
          assert(pongs > 0);
          ill.heal();
          assertEquals(await held.release(), true);
        });
      });
    }

    it("is held again after a short silence, once a heartbeat is confirmed", async () => {
      await scene(target, { sessionTimeout: 12_000 }, async (play) => {
        const { proxy, far, path } = play;
        const states: string[] = [];
        const held = await new SequentialLock(far, path).acquire({
          onState: (state) => void states.push(state),
        });

        proxy.cut();
        await within("doubt", stateBecomes(far, "disconnected"));
        assertEquals(held.state, "suspended");
        await within("reconnection", stateBecomes(far, "connected"));
        assertEquals(held.state, "suspended"); // Nobody has confirmed it yet.

        await far.sync(path); // Behind the heartbeat on the same connection.
        assertEquals(held.state, "held");
        assertEquals(states, ["suspended", "held"]);
        await held.release();
      });
    });

    it("is in doubt, but not lost, while heartbeats are not answered but each reconnect renews the session", async () => {
      await scene(target, { sessionTimeout }, async ({ proxy, far, path }) => {
        const held = await new SequentialLock(far, path).acquire();
        const { id } = far.session;
        proxy.dropReplies("multi");

        for (let turn = 0; turn < 4; turn++) {
          await within("giving up", stateBecomes(far, "disconnected"));
          await within("reconnection", stateBecomes(far, "connected"));
          assertEquals(held.state, "suspended");
        }

        assertEquals(far.session.id, id);
        held.assertHeld();
        proxy.heal();
        assertEquals(await held.release(), true);
      });
    });
  });
}
