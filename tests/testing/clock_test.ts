// VirtualClock: timers in order, time that passes at will, and the wall clock that can be set.
// Where the host is waited for, for a moment; else nothing here waits for real time.

import {
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { hostEnvironment } from "../../protocol/environment.ts";
import { VirtualClock } from "../../testing/mod.ts";

/** A clock, and a list of what ran when. */
function start() {
  const clock = new VirtualClock();
  const ran: string[] = [];
  const mark = (name: string) => () =>
    void ran.push(`${name} at ${clock.monotonic()}`);
  return { clock, ran, mark };
}

describe("VirtualClock", () => {
  it("runs timers by their time, and of one time in the order they were set", async () => {
    const { clock, ran, mark } = start();
    for (
      const [name, ms] of [["c", 20], ["a", 10], ["d", 20], ["b", 10]] as const
    ) {
      clock.after(ms, mark(name));
    }

    await clock.pass(20);

    assertEquals(ran, ["a at 10", "b at 10", "c at 20", "d at 20"]);
  });

  it("pass() runs what is due at its end, and nothing behind it", async () => {
    const { clock, ran, mark } = start();
    clock.after(10, mark("due"));
    clock.after(10.5, mark("later"));

    await clock.pass(10);

    assertEquals([ran, clock.monotonic(), clock.pending], [
      ["due at 10"],
      10,
      1,
    ]);
  });

  it("runs timers that timers set, also at the same time", async () => {
    const { clock, ran, mark } = start();
    clock.after(10, () => {
      clock.after(0, mark("now"));
      clock.after(5, mark("soon"));
    });

    await clock.pass(20);

    assertEquals(ran, ["now at 10", "soon at 15"]);
  });

  it("takes a time below 0 for now", async () => {
    const { clock, ran, mark } = start();
    await clock.pass(10);

    clock.after(-5, mark("late"));
    await clock.pass(0);

    assertEquals(ran, ["late at 10"]);
  });

  it("lets promises settle between timers", async () => {
    const { clock, ran, mark } = start();
    clock.after(10, async () => {
      for (let i = 0; i < 20; i++) await null;
      mark("settled")();
    });
    clock.after(10, mark("next"));

    await clock.pass(10);

    assertEquals(ran, ["settled at 10", "next at 10"]);
  });

  it("a timer that was taken back does not run, and may be taken back twice", async () => {
    const { clock, ran, mark } = start();
    const cancel = clock.after(10, mark("a"));
    clock.after(10, mark("b"));

    cancel();
    cancel();
    const { pending } = clock;
    await clock.pass(10);

    assertEquals([pending, ran, clock.pending], [1, ["b at 10"], 0]);
  });

  it("a timer can take back another of the same time", async () => {
    const { clock, ran, mark } = start();
    clock.after(10, () => cancel());
    const cancel = clock.after(10, mark("b"));

    await clock.pass(10);

    assertEquals(ran, []);
  });

  it("taking back what has run changes nothing", async () => {
    const { clock, ran, mark } = start();
    const cancel = clock.after(10, mark("a"));
    await clock.pass(10);

    cancel();
    clock.after(10, mark("b"));

    assertEquals(clock.pending, 1);
    await clock.pass(10);
    assertEquals(ran, ["a at 10", "b at 20"]);
  });

  it("both clocks move together, but for jump()", async () => {
    const clock = new VirtualClock();
    const wall = clock.wall();

    await clock.pass(100);
    clock.jump(-5000);
    await clock.pass(1);

    assertEquals([clock.monotonic(), clock.wall() - wall], [101, -4899]);
  });

  for (const ms of [-50, NaN, Infinity]) {
    it(`pass() refuses ${ms}, and no time passes`, async () => {
      const clock = new VirtualClock();
      await clock.pass(100);

      await assertRejects(() => clock.pass(ms), RangeError, String(ms));

      assertEquals(clock.monotonic(), 100);
    });
  }

  it("after() refuses NaN", () => {
    const clock = new VirtualClock();

    assertThrows(() => clock.after(NaN, () => {}), RangeError, "NaN");
    assertEquals(clock.pending, 0);
  });

  it("jump() moves no timer", async () => {
    const { clock, ran, mark } = start();
    clock.after(10, mark("a"));

    clock.jump(3_600_000);
    await clock.pass(9);

    assertEquals(ran, []);
  });

  it("until() passes no more time than needed, and gives the value", async () => {
    const { clock, ran, mark } = start();
    const promise = new Promise<string>((resolve) =>
      clock.after(1000, () => resolve("value"))
    );
    clock.after(1001, mark("later"));

    const value = await clock.until(promise);

    assertEquals([value, clock.monotonic(), ran], ["value", 1000, []]);
  });

  it("until() rejects with what the promise rejects with", async () => {
    const clock = new VirtualClock();

    await assertRejects(
      () => clock.until(Promise.reject(new Error("mine"))),
      Error,
      "mine",
    );
  });

  it("until() runs timers up to its limit, and gives up then", async () => {
    const { clock, ran, mark } = start();
    clock.after(100, mark("in time"));
    clock.after(101, mark("too late"));

    const waiting = clock.until(new Promise(() => {}), 100);

    await assertRejects(
      () => waiting,
      Error,
      "Cannot wait for a promise: not settled after 100 ms",
    );
    assertEquals(ran, ["in time at 100"]);
  });

  it("until() gives up if nothing can happen any more", async () => {
    const clock = new VirtualClock();

    await assertRejects(
      () => clock.until(new Promise(() => {})),
      Error,
      "Cannot wait for a promise",
    );
  });

  it("lets chains of hundreds of promises settle between timers", async () => {
    const { clock, ran, mark } = start();
    clock.after(10, async () => {
      for (let i = 0; i < 400; i++) await null;
      mark("settled")();
    });
    clock.after(11, mark("next"));

    await clock.pass(11);

    assertEquals(ran, ["settled at 10", "next at 11"]);
  });

  it("until() waits for the host if nothing else can happen", async () => {
    const clock = new VirtualClock();
    const slow = new Promise<string>((resolve) =>
      hostEnvironment.after(50, () => resolve("value"))
    );

    assertEquals(await clock.until(slow, Infinity), "value");
    assertEquals(clock.monotonic(), 0);
  });

  it("until() waits for timers that are set behind a digest of the host", async () => {
    const clock = new VirtualClock();
    const chain = async () => {
      await crypto.subtle.digest("SHA-256", new Uint8Array(1 << 20));
      await new Promise<void>((resolve) => clock.after(10, resolve));
      await crypto.subtle.digest("SHA-256", new Uint8Array(1 << 20));
      return clock.monotonic();
    };

    assertEquals(await clock.until(chain()), 10);
  });

  it("until() gives the host turns while timers follow one another", async () => {
    const clock = new VirtualClock();
    const beat = () => void clock.after(3000, beat);
    beat();
    const slow = new Promise<string>((resolve) =>
      hostEnvironment.after(5, () => resolve("value"))
    );

    assertEquals(await clock.until(slow), "value");
  });

  it("random() is the same for the same seed", () => {
    const [a, b, c] = [1, 1, 2].map((seed) => {
      const bytes = new Uint8Array(8);
      new VirtualClock(seed).random(bytes);
      return bytes;
    });

    assertEquals(a, b);
    assertNotEquals(a, c);
  });
});
