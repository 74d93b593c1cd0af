// The heartbeats of a lease: when they go out, what is in them, what follows from an answer or none.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Lease } from "../../lock/lease.ts";
import { MultiError, ServerError } from "../../protocol/errors.ts";
import { eps, held, P, ScriptedClient, ScriptedHold, T } from "./scripted.ts";

describe("Lease", () => {
  it("sends a heartbeat every sixth of the timeout, the first one period after the grant", async () => {
    const { script, hold } = held();

    await script.time.pass(P - 1);
    const early = script.beats.length;
    await script.time.pass(1);

    assertEquals([early, script.beats.length], [0, 1]);
    assertEquals(script.beats[0].ops, [{ op: "check", path: "/a" }]);
    assertEquals(script.beats[0].within, T / 4);
    assertEquals(hold.beats, 1);
    await script.confirm();
    await script.time.pass(P);
    assertEquals(script.beats.length, 1);
  });

  it("sends none, and sets no timer, without a hold", async () => {
    const { script, lease, hold } = held();

    lease.remove(hold);
    await script.time.pass(10 * T);

    assertEquals(script.beats.length, 0);
    assertEquals(script.time.pending, 0);
  });

  it("is in doubt when a heartbeat is not answered within a quarter of the timeout", async () => {
    const { script, lease, hold } = held();
    await script.time.pass(P + T / 4 - 1);
    const before = lease.doubtful;

    await script.time.pass(1);

    assertEquals([before, lease.doubtful], [false, true]);
    assertEquals(hold.refreshed, 1);
    await script.confirm();
    assertEquals([lease.doubtful, hold.refreshed], [false, 2]);
  });

  it("is in doubt from a lost connection until a heartbeat on the next is confirmed", async () => {
    const { script, lease } = held();
    script.disconnect();
    const away = lease.doubtful;

    script.connect(); // The heartbeat goes out in the same turn.

    assertEquals([away, lease.doubtful, script.beats.length], [true, true, 1]);
    await script.confirm();
    assertEquals(lease.doubtful, false);
  });

  it("sends nothing while it is disconnected", async () => {
    const { script } = held();
    script.disconnect();

    await script.time.pass(T / 2);

    assertEquals(script.beats.length, 0);
  });

  it("loses all holds at the deadline, by its own timer", async () => {
    const { script, hold } = held();
    script.disconnect();

    await script.time.pass(T - eps - 1);
    const before = hold.lost.length;
    await script.time.pass(1);

    assertEquals([before, hold.lost.length], [0, 1]);
    assertEquals(script.time.pending, 0);
  });

  it("loses all holds at the deadline also while a heartbeat is out and the connection stands", async () => {
    const { script, lease, hold } = held();
    const left = lease.remaining;
    await script.time.pass(P); // The heartbeat goes out, and is never answered.

    await script.time.pass(left - P - 1);
    const before = hold.lost.length;
    await script.time.pass(1);

    assertEquals([before, hold.lost.length, script.beats.length], [0, 1, 1]);
  });

  it("goes on with heartbeats after one was refused in doubt", async () => {
    const { script, lease } = held();
    script.disconnect();
    script.connect();
    const refusal = { number: -127, op: "multi", path: null, zxid: 1n };

    script.beats.shift()!.answer.reject(new ServerError(refusal));
    await script.time.pass(P);

    assertEquals([lease.doubtful, script.beats.length], [true, 1]);
    await script.confirm();
    assertEquals(lease.doubtful, false);
  });

  it("sends a heartbeat before its period is over when the deadline is near and it would help", async () => {
    const { script, lease, hold } = held();
    lease.remove(hold);
    // Silence, but for one frame in the middle of it.
    await script.time.pass(0.3 * T);
    script.send();
    await script.time.pass(0.3 * T);
    const stands = lease.remaining;
    lease.add(hold);

    await script.time.pass(1);

    assert(stands < P + P + T / 10);
    assertEquals(script.beats.length, 1);
    await script.confirm();
    assert(lease.remaining > stands + 0.2 * T);
  });

  it("keeps a twentieth of the timeout between heartbeats that are refused at once, however near the deadline is", async () => {
    const { script, hold } = held();
    const refusal = { number: -127, op: "multi", path: null, zxid: 1n };
    let beats = 0;

    for (let ms = 0; ms < T; ms += 10) {
      await script.time.pass(10);
      for (const { answer } of script.beats.splice(0)) {
        beats++;
        answer.reject(new ServerError(refusal));
      }
    }

    assertEquals(hold.lost.length, 1);
    assert(beats > 5 && beats <= 20, `${beats}`);
  });

  it("loses the hold whose check fails, and asks again for the others at once", async () => {
    const { script, lease, hold } = held("/a");
    const other = new ScriptedHold("/b", "/b-fence");
    lease.add(other);
    await script.time.pass(P);
    const asked = script.beats[0].ops.map(({ path }) => path);
    const results = asked.map((path) => ({
      op: "check",
      path,
      code: "Ok" as const,
      number: 0,
    }));

    script.beats.shift()!.answer.reject(new MultiError(0, results, 5n));
    await script.time.pass(0);

    assertEquals(asked, ["/a", "/b", "/b-fence"]);
    assertEquals([hold.lost.length, other.lost.length], [1, 0]);
    const again = script.beats[0].ops.map(({ path }) => path);
    assertEquals(again, ["/b", "/b-fence"]);
  });

  it("splits its heartbeat after 500 checks", async () => {
    const { script, lease } = held();
    for (let i = 1; i < 1_001; i++) lease.add(new ScriptedHold(`/${i}`));

    await script.time.pass(P);

    assertEquals(script.beats.map(({ ops }) => ops.length), [500, 500, 1]);
  });

  it("splits its heartbeat after 262,144 characters of paths", async () => {
    const { script, lease, hold } = held();
    lease.remove(hold);
    const long = "/".padEnd(100_000, "x");
    for (let i = 0; i < 5; i++) lease.add(new ScriptedHold(long + i));

    await script.time.pass(P);

    assertEquals(script.beats.map(({ ops }) => ops.length), [2, 2, 1]);
  });

  it("loses all holds when the session is over, with its reason", () => {
    const { script, hold } = held();
    const reason = new Error("over");

    script.end.abort(reason);

    assertEquals(hold.lost, [reason]);
  });

  it("asks for fresh news once, however many wait", async () => {
    const script = new ScriptedClient();
    const lease = new Lease(script.client);

    lease.freshen([{ op: "check", path: "/a" }]);
    lease.freshen([{ op: "check", path: "/b" }]);

    assertEquals(script.beats.length, 1);
    await script.confirm();
    lease.freshen([{ op: "check", path: "/b" }]); // Still fresh.
    assertEquals(script.beats.length, 0);
    await script.time.pass(P);
    lease.freshen([{ op: "check", path: "/b" }]);
    assertEquals(script.beats.length, 1);
  });
});
