// The demo's parts: the experiment on fake locks, checks that must catch what is wrong, picture, counting, table.
// Starts nothing and connects to nothing.
// Run by `deno task test`.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { AcquireOptions, Lock, Packet } from "../../mod.ts";
import { check, grow, overlaps } from "../../examples/demo/checks.ts";
import {
  experiment,
  type Findings,
  type Turn,
} from "../../examples/demo/experiment.ts";
import { explanation } from "../../examples/demo/explanation.ts";
import { readOptions, UsageError } from "../../examples/demo/options.ts";
import { handOvers, table } from "../../examples/demo/table.ts";
import { roundStep, timeline } from "../../examples/demo/timeline.ts";
import { isHeartbeat, Meter } from "../../examples/demo/traffic.ts";

function turn(
  contender: number,
  grantedAt: number,
  releasedAt: number,
  token = BigInt(contender),
): Turn {
  return { contender, askedAt: 0, grantedAt, releasedAt, token };
}

function failures(turns: Turn[], contenders: number, isFair = true): string[] {
  return check(turns, contenders, isFair).filter(({ ok }) => !ok)
    .map(({ text }) => text);
}

/** A packet that was sent, with these 32-bit numbers, bytes and texts as its body. */
function sent(xid: number, op: string, ...body: (number | string)[]): Packet {
  const bytes: number[] = [];
  const int = (n: number) =>
    bytes.push(n >>> 24 & 255, n >>> 16 & 255, n >>> 8 & 255, n & 255);
  for (const part of [xid, 14, ...body]) {
    if (part === "false" || part === "true") {
      bytes.push(part === "true" ? 1 : 0);
    } else if (typeof part === "string") {
      int(part.length);
      bytes.push(...new TextEncoder().encode(part));
    } else int(part);
  }
  return { direction: "sent", xid, op, bytes: Uint8Array.from(bytes) };
}

const received: Packet = {
  direction: "received",
  xid: -1,
  op: "event",
  bytes: new Uint8Array(),
};
const end = [-1, "true", -1];
const checkPart = [13, "false", -1, "/a", -1];
const deletePart = [2, "false", -1, "/a", -1];

/** Findings of three contenders that got it in order, with so much traffic in each phase. */
function findings(...each: [requests: number, notifications: number][]) {
  const turns = [turn(1, 1, 10), turn(2, 11, 20), turn(3, 21, 30)];
  const phases = each.map(([requests, notifications]) => ({
    requests,
    notifications,
    heartbeats: 0,
  }));
  return { turns, phases } satisfies Findings;
}

/** Looks like a lock; `take` decides who gets it when. */
function fakeLock(take: (queued: () => void) => Promise<() => void>): Lock {
  let token = 0n;
  const lock = {
    client: { ping: () => Promise.resolve(0) },
    async acquire({ onQueued }: AcquireOptions) {
      const free = await take(() => onQueued?.(1));
      return {
        token: ++token,
        signal: new AbortController().signal,
        assertHeld() {},
        release: () => Promise.resolve((free(), true)),
        [Symbol.asyncDispose]: () => Promise.resolve(free()),
      };
    },
  };
  return lock as unknown as Lock;
}

/** One at a time, first come, first served. */
function goodLock(): Lock {
  let last = Promise.resolve();
  return fakeLock(async (queued) => {
    const ahead = last;
    const mine = Promise.withResolvers<void>();
    last = mine.promise;
    queued();
    await ahead;
    return mine.resolve;
  });
}

function run(lock: Lock, signal = new AbortController().signal) {
  const locks = [lock, lock, lock];
  const tell = () => {};
  return experiment({ locks, meter: new Meter(), hold: 0, tell, signal });
}

describe("experiment()", () => {
  it("gives each its turn, and counts getting in line and each release apart", async () => {
    const { turns, phases } = await run(goodLock());

    assertEquals(failures(turns, 3), []);
    assertEquals(phases.length, 4);
  });

  it("shows that what lets everybody in is no lock", async () => {
    const { turns } = await run(fakeLock(() => Promise.resolve(() => {})));

    const wrong = check(turns, 3, true).filter(({ ok }) => !ok);
    assertEquals(wrong.length, 1);
    assert(overlaps(turns).length >= 2);
  });

  it("rejects with the first failure", async () => {
    const broken = fakeLock(() => Promise.reject(new Error("broken")));

    await assertRejects(() => run(broken), Error, "broken");
  });

  it("rejects with the reason of an aborted signal", async () => {
    const signal = AbortSignal.abort(new Error("interrupted"));

    await assertRejects(() => run(goodLock(), signal), Error, "interrupted");
  });
});

describe("overlaps()", () => {
  it("finds none where each hold begins when or after the one before ended", () => {
    const turns = [turn(1, 1, 10), turn(2, 10, 20), turn(3, 25, 30)];

    assertEquals(overlaps(turns), []);
  });

  it("finds a hold that began before the one before ended", () => {
    const turns = [turn(1, 1, 10), turn(2, 9.99, 20), turn(3, 20, 30)];

    assertEquals(overlaps(turns), [[1, 2]]);
  });

  it("finds a hold inside a much earlier one, in whatever order they are given", () => {
    const turns = [turn(3, 50, 60), turn(2, 20, 30), turn(1, 1, 55)];

    assertEquals(overlaps(turns), [[1, 2], [1, 3]]);
  });

  it("finds a hold that never ended", () => {
    const turns = [turn(1, 1, Infinity), turn(2, 20, 30)];

    assertEquals(overlaps(turns), [[1, 2]]);
  });
});

describe("grow()", () => {
  it("is true only if each value is greater than the one before", () => {
    assert(grow([]) && grow([5n]) && grow([1n, 2n, 9n]));
    assert(!grow([1n, 1n]) && !grow([1n, 3n, 2n]));
  });
});

describe("check()", () => {
  it("finds nothing wrong with turns in order", () => {
    assertEquals(failures([turn(1, 1, 10), turn(2, 11, 20)], 2), []);
  });

  it("says who held at the same time", () => {
    const wrong = failures([turn(1, 1, 10), turn(2, 9, 20)], 2);

    assertEquals(wrong, ["these held it at the same time: 1 and 2"]);
  });

  it("finds a contender that had no turn", () => {
    assertEquals(failures([turn(1, 1, 10)], 2), [
      "1 of 2 contenders had their turn",
    ]);
  });

  it("finds a token that is not greater than the one before", () => {
    const wrong = failures([turn(1, 1, 10, 7n), turn(2, 11, 20, 7n)], 2);

    assertEquals(wrong, ["a token is not greater than the one before: 7, 7"]);
  });

  it("minds the order only of a fair lock", () => {
    const turns = [turn(2, 1, 10, 1n), turn(1, 11, 20, 2n)];

    assertEquals(failures(turns, 2), ["not first come, first served: 2, 1"]);
    assertEquals(failures(turns, 2, false), []);
  });
});

describe("timeline()", () => {
  it("draws who waits and who holds, by contender, over an axis", () => {
    const spans = [turn(2, 0, 100), { ...turn(1, 100, 300), askedAt: 50 }];

    assertEquals(timeline(spans, 5 + 30), [
      "   1      ░░░░░████████████████████",
      "   2 ██████████",
      "     ┬─────────┬─────────┬─────────",
      "  ms 0         100       200",
    ]);
  });

  it("shows a hold of no length, also at the very end", () => {
    const [first, last] = timeline([turn(1, 0, 0), turn(2, 1000, 1000)], 25);

    assertEquals(first, "   1 █");
    assertEquals(last, "   2 " + "░".repeat(19) + "█");
  });

  it("draws an overlap as one", () => {
    const [first, second] = timeline([turn(1, 0, 60), turn(2, 40, 100)], 15);

    assertEquals(first, "   1 ██████");
    assertEquals(second, "   2 ░░░░██████");
  });

  for (const length of [1, 37, 1500, 19_999, 400_000]) {
    it(`fits its width for ${length} ms`, () => {
      const lines = timeline([
        turn(1, 0, length / 3),
        turn(99, length, length),
      ]);

      assertEquals(lines.filter((line) => line.length > 80), []);
    });
  }
});

describe("roundStep()", () => {
  it("is the next of 1, 2, 5, 10, 20 …", () => {
    assertEquals([0.1, 1.5, 2, 3, 7, 11, 300].map(roundStep), [
      1,
      2,
      2,
      5,
      10,
      20,
      500,
    ]);
  });
});

describe("isHeartbeat()", () => {
  it("is true for a multi that only checks", () => {
    assert(isHeartbeat(sent(1, "multi", ...checkPart, ...end)));
    assert(isHeartbeat(sent(1, "multi", ...checkPart, ...checkPart, ...end)));
  });

  it("is false for a multi that also changes something, and for others", () => {
    const release = sent(1, "multi", ...checkPart, ...deletePart, ...end);

    assert(!isHeartbeat(release));
    assert(!isHeartbeat(sent(1, "multi", ...deletePart, ...end)));
    assert(!isHeartbeat(sent(1, "getData", "/a", "true")));
  });
});

describe("Meter", () => {
  it("counts requests, notifications and heartbeats apart, pings and replies not at all", () => {
    const { onPacket, split, restart } = bound(new Meter());

    onPacket(sent(1, "create"));
    onPacket({ ...received, xid: 1, op: null });
    onPacket({ ...sent(0, "connect"), xid: null });
    split();
    onPacket(sent(-2, "ping"));
    onPacket({ ...received, xid: -2, op: null });
    onPacket(received);
    onPacket(sent(2, "multi", ...checkPart, ...end));

    assertEquals(restart(), [
      { requests: 1, notifications: 0, heartbeats: 0 },
      { requests: 0, notifications: 1, heartbeats: 1 },
    ]);
  });

  it("begins again after restart()", () => {
    const { onPacket, restart } = bound(new Meter());

    onPacket(received);
    restart();

    assertEquals(restart(), [{ requests: 0, notifications: 0, heartbeats: 0 }]);
  });
});

describe("handOvers()", () => {
  it("gives each the traffic from its release to the next, and leaves out queueing and the last release", () => {
    const overs = handOvers(findings([100, 0], [24, 2], [3, 1], [1, 0]));

    assertEquals(overs, [
      { from: 1, to: 2, requests: 24, notifications: 2, heartbeats: 0 },
      { from: 2, to: 3, requests: 3, notifications: 1, heartbeats: 0 },
    ]);
  });
});

describe("table()", () => {
  const herd = findings([10, 0], [24, 2], [3, 1], [1, 0]);
  const single = findings([20, 0], [2, 1], [2, 1], [1, 0]);

  it("shows hand-overs, averages and sums side by side", () => {
    const lines = table([{ name: "A", findings: herd }, {
      name: "B",
      findings: single,
    }]).map((line) => line.trim().replaceAll(/\s+/g, " "));

    assertEquals(lines, [
      "A B",
      "hand-over who notified requests who notified requests",
      "1 1 → 2 2 24 1 → 2 1 2",
      "2 2 → 3 1 3 2 → 3 1 2",
      "average 1.5 13.5 1.0 2.0",
      "whole run * 3 38 2 25",
      "* with getting in line and the last release",
    ]);
  });

  it("leaves out the middle of many hand-overs, and fits 80 columns", () => {
    const turns = Array.from(
      { length: 99 },
      (_, i) => turn(i + 1, 2 * i, 2 * i + 1),
    );
    const phase = { requests: 300, notifications: 98, heartbeats: 0 };
    const many = { turns, phases: Array(100).fill(phase) };
    const lines = table([{ name: "A", findings: many }, {
      name: "B",
      findings: many,
    }]);

    assertEquals(lines.length, 17);
    assertEquals(lines.filter((line) => line.length > 80), []);
    assert(lines.some((line) => /^ *98 +98 → 99/.test(line)));
  });
});

describe("explanation()", () => {
  const herd = findings([10, 0], [24, 8], [3, 1], [1, 0]);
  const single = findings([20, 0], [2, 1], [2, 1], [1, 0]);

  for (const sharedSession of [true, false]) {
    it(`has both numbers and fits 80 columns, ${sharedSession ? "one session" : "own sessions"}`, () => {
      const lines = explanation(herd, single, { sharedSession, hold: 0 });

      const text = lines.join(" ");
      assert(text.includes("notifications 8 against 1, requests 24 against 2"));
      assertEquals(lines.filter((line) => line.length > 80), []);
    });
  }
});

describe("readOptions()", () => {
  it("has defaults for all", () => {
    assertEquals(readOptions([]), {
      contenders: 9,
      hold: 150,
      sharedSession: false,
      servers: undefined,
    });
  });

  it("reads all, also behind a --", () => {
    const args = "-- --contenders 3 --hold=0 --shared-session --servers zk1:1";

    assertEquals(readOptions(args.split(" ")), {
      contenders: 3,
      hold: 0,
      sharedSession: true,
      servers: "zk1:1",
    });
  });

  for (
    const args of [
      "--contenders 1",
      "--contenders 100",
      "--contenders 3x",
      "--contenders",
      "--hold 1.5",
      "--hold=-1",
      "--hold 4001",
      "--hold=",
      "--servers=",
      "--unknown",
      "more",
    ]
  ) {
    it(`refuses ${args}`, () => {
      const error = assertThrows(
        () => readOptions(args.split(" ")),
        UsageError,
      );

      assertEquals((error as Error).message.includes("\n"), false);
    });
  }
});

function bound(meter: Meter) {
  return {
    onPacket: meter.onPacket,
    split: () => meter.split(),
    restart: () => meter.restart(),
  };
}
