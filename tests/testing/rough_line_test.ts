// RoughLine: delays, crumbles and dies; and the queue that keeps the order whatever the delays are.
// On virtual time, over a line that writes down what it is told.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { VirtualClock } from "../../testing/mod.ts";
import { DelayQueue } from "../../testing/queue.ts";
import { RoughLine } from "../../testing/rough_line.ts";
import { bytes } from "../protocol/wire.ts";

function rough(delay = 0, piece = Infinity) {
  const clock = new VirtualClock();
  const roughness = { delay, piece };
  const told: string[] = [];
  const note = (what: string) => void told.push(`${clock.monotonic()} ${what}`);
  const line = new RoughLine(
    {
      remote: "127.0.0.1",
      write: (chunk) => note(new TextDecoder().decode(chunk)),
      finish: () => note("finish"),
      reset: () => note("reset"),
    },
    roughness,
    clock,
  );
  return { clock, roughness, told, note, line };
}

describe("RoughLine", () => {
  it("hands on at once if nothing is rough", () => {
    const { line, told, note } = rough();

    line.write(bytes("abc"));
    line.fromClient(() => note("from client"));
    line.finish();

    assertEquals(told, ["0 abc", "0 from client", "0 finish"]);
  });

  it("holds everything back, both ways, the end too", async () => {
    const { clock, line, told, note } = rough(100);
    line.write(bytes("abc"));
    line.fromClient(() => note("from client"));
    line.finish();

    await clock.pass(99);
    const before = [...told];
    await clock.pass(1);

    assertEquals(before, []);
    assertEquals(told.sort(), ["100 abc", "100 finish", "100 from client"]);
  });

  it("keeps the order when the delay goes down", async () => {
    const { clock, line, told, roughness } = rough(100);
    line.write(bytes("first"));

    roughness.delay = 0;
    line.write(bytes("second"));
    await clock.pass(100);

    assertEquals(told, ["100 first", "100 second"]);
  });

  it("writes in pieces of at most so many bytes", () => {
    const { line, told } = rough(0, 2);

    line.write(bytes("abcde"));

    assertEquals(told, ["0 ab", "0 cd", "0 e"]);
  });

  it("a dead line hands on nothing, either way", async () => {
    const { clock, line, told, note } = rough();

    line.die();
    line.write(bytes("abc"));
    line.fromClient(() => note("from client"));
    line.finish();
    line.reset();
    await clock.pass(1000);

    assertEquals(told, []);
  });

  it("end() ends it, dead or not, and forgets what was held back", async () => {
    const { clock, line, told } = rough(100);
    line.write(bytes("abc"));
    line.die();

    line.end();
    await clock.pass(1000);

    assertEquals([told, clock.pending], [["0 reset"], 0]);
  });

  it("flush() hands on what was held back", () => {
    const { line, told, note } = rough(100);
    line.write(bytes("abc"));
    line.fromClient(() => note("from client"));

    line.flush();

    assertEquals(told.sort(), ["0 abc", "0 from client"]);
  });
});

describe("DelayQueue", () => {
  it("runs at once if nothing is in the way, and behind what is", async () => {
    const clock = new VirtualClock();
    const queue = new DelayQueue(clock);
    const ran: string[] = [];
    const add = (name: string, ms: number) =>
      queue.add(ms, () => ran.push(`${name} at ${clock.monotonic()}`));

    add("a", 0);
    add("b", 50);
    add("c", 0);
    add("d", 20);
    await clock.pass(100);
    add("e", 0);

    assertEquals(ran, ["a at 0", "b at 50", "c at 50", "d at 50", "e at 100"]);
  });

  it("needs one timer, however much is waiting", () => {
    const clock = new VirtualClock();
    const queue = new DelayQueue(clock);

    for (let i = 0; i < 5; i++) queue.add(10 + i, () => {});

    assertEquals(clock.pending, 1);
  });

  it("may be added to and cleared by what it runs", async () => {
    const clock = new VirtualClock();
    const queue = new DelayQueue(clock);
    const ran: string[] = [];
    queue.add(10, () => {
      ran.push("a");
      queue.add(10, () => {
        ran.push("b");
        queue.clear();
      });
      queue.add(10, () => ran.push("never"));
    });

    await clock.pass(100);

    assertEquals([ran, clock.pending], [["a", "b"], 0]);
  });
});
