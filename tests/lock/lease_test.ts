// The deadline of a lease to the millisecond, on virtual time, with a client that is scripted.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Lease } from "../../lock/lease.ts";
import { momentOf } from "../../protocol/environment.ts";
import { VirtualTime } from "../protocol/virtual.ts";
import {
  eps,
  gap,
  held,
  P,
  ScriptedClient,
  ScriptedHold,
  T,
} from "./scripted.ts";

describe("Lease.remaining", () => {
  it("begins with a timeout from the connect request on, less the clock's error", async () => {
    const { script, lease } = held();

    await script.time.pass(100);

    assertEquals(lease.remaining, T - eps - 100);
  });

  it("grows by the newest frame more than the gap before a confirmed heartbeat", async () => {
    const { script, lease } = held();
    await script.time.pass(1_000);
    script.send(); // At 1,000.
    await script.time.pass(gap);
    const since = momentOf(script.time);

    lease.committed(script.session, since); // Exactly the gap: not enough.
    const early = lease.remaining;
    await script.time.pass(1);
    lease.committed(script.session, momentOf(script.time));

    assertEquals(early, T - eps - 1_000 - gap);
    assertEquals(lease.remaining, T - eps - gap - 1);
  });

  it("does not grow by an answer alone, as a lease on pings would", async () => {
    const { script, lease } = held();
    await script.time.pass(1_000);

    script.send();
    lease.committed(script.session, momentOf(script.time));

    assertEquals(lease.remaining, T - eps - 1_000);
  });

  it("shortens itself after a silence: what left before it counts, not what follows (model 7b1, 7b5)", async () => {
    const { script, lease, hold } = held();
    await script.live(30_000);
    assert(lease.remaining > T - eps - gap - 2 * P);
    lease.remove(hold); // No heartbeat, and no other frame, for half a timeout.
    script.send();
    const last = momentOf(script.time);
    await script.time.pass(T / 2);

    script.send();
    lease.committed(script.session, momentOf(script.time));

    const silence = script.time.monotonic() - last.mono;
    assertEquals(silence, T / 2);
    assertEquals(lease.remaining, T - eps - silence);
  });

  it("keeps what it had over a reconnect, and gets the new connection's base", async () => {
    const { script, lease } = held();
    await script.live(4_000);
    const before = lease.remaining;

    script.disconnect();
    const away = lease.remaining;
    await script.time.pass(500);
    script.connect();

    assertEquals(away, before);
    assertEquals(lease.remaining, T - eps);
  });

  it("does not grow by a read-only server, which no leader stands behind", async () => {
    const { script, lease, hold } = held();
    script.disconnect();
    await script.time.pass(T / 2);

    script.connect("connected-read-only");

    assertEquals(lease.remaining, T - eps - T / 2);
    await script.time.pass(T / 2 - eps);
    assertEquals(hold.lost.length, 1);
  });

  it("does not mix frames of an earlier connection into the news of the new one", async () => {
    const { script, lease } = held();
    await script.live(4_000);
    script.disconnect();
    await script.time.pass(100);
    script.connect();
    const base = momentOf(script.time);
    await script.time.pass(1_000);

    lease.committed(script.session, momentOf(script.time));

    const ran = script.time.monotonic() - base.mono;
    assertEquals(lease.remaining, T - eps - ran);
  });

  it("counts with the smallest timeout that was granted", () => {
    const { script, lease } = held();
    assert(lease.remaining > 0);
    script.disconnect();

    script.session.timeout = T / 2;
    script.connect();
    const shrunk = lease.remaining;
    script.disconnect();
    script.session.timeout = T;
    script.connect(); // The leader may not have heard of the larger one.

    assertEquals([shrunk, lease.remaining], [
      T / 2 - T / 2 / 50,
      T / 2 - T / 2 / 50,
    ]);
  });

  it("is longer where the ensemble's tick is known to be short", async () => {
    const { script, lease } = held();
    lease.useTick(200);
    await script.time.pass(1_000);
    script.send();
    await script.time.pass(100 + 2 * (T / 40) + 1);

    lease.committed(script.session, momentOf(script.time));

    assertEquals(lease.remaining, T - eps - 100 - 2 * (T / 40) - 1);
  });

  it("assumes the largest tick that was told", async () => {
    const { script, lease } = held();
    for (const tick of [200, 4_000, 1_000]) lease.useTick(tick);
    const gap = 4_000 / 2 + 2 * (T / 40);
    await script.time.pass(1_000);
    script.send();

    await script.time.pass(gap);
    lease.committed(script.session, momentOf(script.time));
    const early = lease.remaining;
    await script.time.pass(1);
    lease.committed(script.session, momentOf(script.time));

    assertEquals(early, T - eps - 1_000 - gap);
    assertEquals(lease.remaining, T - eps - gap - 1);
  });

  it("runs out by the wall clock when the machine slept", () => {
    const { script, lease } = held();

    script.time.jump(3_600_000);

    assert(lease.remaining < 0);
  });

  it("runs out within a period after the machine slept, also without a connection", async () => {
    const { script, hold } = held();
    script.disconnect();
    await script.time.pass(P / 2);

    script.time.jump(3_600_000);
    await script.time.pass(P / 2);

    assertEquals(hold.lost.length, 1);
  });

  it("runs out at once if the process stood still between its look at the clock and its timer", async () => {
    const { script, lease } = held();
    const hold = new ScriptedHold("/b");
    const { time } = script;
    time.after = (ms, run) => {
      time.after = VirtualTime.prototype.after;
      time.jump(T);
      return time.after(ms, run);
    };

    lease.add(hold);
    await time.pass(1);

    assertEquals(hold.lost.length, 1);
  });

  it("does not grow when the wall clock is set back", async () => {
    const { script, lease } = held();
    await script.time.pass(1_000);

    script.time.jump(-3_600_000);

    assertEquals(lease.remaining, T - eps - 1_000);
  });
});

describe("Lease.lasting", () => {
  it("is true of a session that was idle, with pings, whenever the lock is taken", async () => {
    for (let phase = 0; phase < T / 3; phase += T / 30) {
      const script = new ScriptedClient();
      const lease = new Lease(script.client);
      for (let ping = 0; ping < 6; ping++) {
        await script.time.pass(T / 3);
        script.send();
      }
      await script.time.pass(phase);
      script.send(); // The create.

      lease.committed(script.session, momentOf(script.time));

      assert(lease.lasting, `${phase}`);
    }
  });

  it("is false while what remains would be over before news can come", async () => {
    const script = new ScriptedClient();
    const lease = new Lease(script.client);
    await script.time.pass(0.65 * T); // It stood still: not one frame left.
    script.send();

    lease.committed(script.session, momentOf(script.time));

    assert(lease.remaining > P);
    assertEquals(lease.lasting, false);
  });

  it("becomes true by a heartbeat as soon as that is useful, not before", async () => {
    const script = new ScriptedClient();
    const lease = new Lease(script.client);
    await script.time.pass(0.65 * T);
    script.send();
    const wait = lease.usefulIn;
    const lasting: boolean[] = [];

    for (const ms of [wait - 1, 1]) {
      await script.time.pass(ms);
      const beat = lease.renew([{ op: "check", path: "/a" }]);
      await script.confirm();
      await beat;
      lasting.push(lease.lasting);
    }

    assertEquals([wait, lasting], [gap + 1, [false, true]]);
  });
});
