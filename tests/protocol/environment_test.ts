// The host's clocks, timers and randomness as an Environment.
// Timers are looked at through a stand-in for setTimeout: nothing waits.

import { assert, assertEquals, assertGreater } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { hostEnvironment, momentOf } from "../../protocol/environment.ts";

/** What `run` asks of setTimeout and clearTimeout. */
function timersOf(run: () => void): { set: number[]; log: string[] } {
  const set: number[] = [], log: string[] = [];
  const { setTimeout, clearTimeout } = globalThis;
  const timer = { unref: () => void log.push("unref") };
  const fake = (_: unknown, ms: number) => (set.push(ms), timer);
  globalThis.setTimeout = fake as unknown as typeof setTimeout;
  globalThis.clearTimeout = (given: unknown) =>
    void log.push(given === timer ? "clear" : "clear another");
  try {
    run();
  } finally {
    globalThis.setTimeout = setTimeout;
    globalThis.clearTimeout = clearTimeout;
  }
  return { set, log };
}

describe("hostEnvironment", () => {
  it("after() never asks for more than 2^31-1 ms, which every runtime takes for none (CURATOR-262)", () => {
    const { set } = timersOf(() => {
      for (const ms of [0, 2 ** 31 - 1, 2 ** 31, 1e12]) {
        hostEnvironment.after(ms, () => {});
      }
    });

    assertEquals(set, [0, 2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1]);
  });

  it("after() lets the process end only where it is told to", () => {
    const { log } = timersOf(() => {
      hostEnvironment.after(1, () => {});
      hostEnvironment.after(1, () => {}, true);
      hostEnvironment.after(1, () => {}, false);
    });

    assertEquals(log, ["unref"]);
  });

  it("after() answers how to prevent it", () => {
    const { log } = timersOf(() => hostEnvironment.after(1, () => {})());

    assertEquals(log, ["clear"]);
  });

  it("monotonic() is never set back, and momentOf() reads both clocks", () => {
    const before = hostEnvironment.monotonic();

    const { mono, wall } = momentOf(hostEnvironment);

    assert(mono >= before);
    assertGreater(wall, 1.7e12);
  });

  it("random() fills all bytes with values that differ", () => {
    const bytes = new Uint8Array(1000);

    hostEnvironment.random(bytes);

    assertGreater(new Set(bytes).size, 100);
  });
});
