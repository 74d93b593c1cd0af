// How long ago something was, by two clocks, and when frames left.
// Pure: moments are made up.

import { assert, assertEquals, assertLess } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { elapsed, type Moment, SentTimes } from "../../protocol/moment.ts";

function at(mono: number, wall = mono): Moment {
  return { mono, wall };
}

describe("elapsed()", () => {
  const cases: Array<[string, Moment, Moment, number]> = [
    ["both clocks agree", at(100, 1000), at(350, 1250), 250],
    [
      "the machine slept: only the wall clock went on",
      at(100, 1000),
      at(101, 3_601_000),
      3_600_000,
    ],
    ["the wall clock was set back", at(100, 1000), at(350, -3_600_000), 250],
    ["the wall clock was set forward", at(100, 1000), at(350, 61_000), 60_000],
    ["no time passed", at(5, 7), at(5, 7), 0],
  ];
  for (const [what, since, now, expected] of cases) {
    it(`answers ${expected} ms when ${what}`, () => {
      const ms = elapsed(since, now);

      assertEquals(ms, expected);
    });
  }
});

describe("SentTimes", () => {
  it("before() answers undefined when nothing was sent", () => {
    const times = new SentTimes();

    const moment = times.before(1e9);

    assertEquals(moment, undefined);
  });

  it("before() answers the newest moment strictly before", () => {
    const times = new SentTimes();
    for (const mono of [10, 20, 30]) times.add(at(mono));

    const found = [9, 10, 10.5, 20, 25, 30, 31].map((mono) =>
      times.before(mono)?.mono
    );

    assertEquals(found, [undefined, undefined, 10, 10, 20, 20, 30]);
  });

  it("add() keeps both clocks of a moment", () => {
    const times = new SentTimes();

    times.add(at(1, 1_700_000_000_000));

    assertEquals(times.before(2), at(1, 1_700_000_000_000));
  });

  it("thinTo() drops moments that come too soon after a kept one: the answer gets older, never newer", () => {
    const times = new SentTimes();
    times.thinTo(100);
    const sent = Array.from({ length: 500 }, (_, i) => i * 7);

    for (const mono of sent) times.add(at(mono));

    for (const asked of [50, 99, 101, 777, 3500]) {
      const true_ = sent.findLast((mono) => mono < asked)!;
      const found = times.before(asked)!.mono;
      assert(
        found <= true_ && true_ - found < 107,
        `${asked}: ${found} for ${true_}`,
      );
    }
  });

  it("reset() forgets the times of the old connection", () => {
    const times = new SentTimes();
    times.add(at(1));

    times.reset();

    assertEquals(times.before(100), undefined);
  });

  it("add() keeps the last 256 moments at least, however many there were", () => {
    const times = new SentTimes();

    for (let mono = 0; mono < 10_000; mono++) times.add(at(mono));

    assertEquals(times.before(9_745)?.mono, 9_744);
    assertLess(times.before(9_000)?.mono ?? -1, 9_000);
  });
});
