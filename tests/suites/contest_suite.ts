// Nine contenders from three processes: one at a time, in order, nobody forgotten, nothing left.
// Knows the rules; contest/ holds the contests, and goes by TCP.
// Run for each server by tests/real/contest_test.ts and by tests/embedded/.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Target } from "../targets.ts";
import { type Contest, crews, holdContest } from "./contest/contest.ts";
import { complaintsAbout, type Line } from "./contest/history.ts";

const contenders = crews.flatMap((names) => names.split(","));
export const kinds = ["sequential", "exclusive"] as const;

/** Holds it, and fails with all that is wrong. */
export async function judge(contest: Contest, mayLose: boolean): Promise<void> {
  const { rounds } = contest;

  const { history, count, grantsMidway } = await holdContest(contest);

  assertEquals(complaintsAbout(history, { contenders, rounds, mayLose }), []);
  const of = (event: Line["event"]) =>
    history.filter((line) => line.event === event).length;
  assertEquals(count, contenders.length * rounds - of("lost"));
  // Otherwise it was no contest, or what happened midway came too late.
  assert(of("queued") > count / 2, `only ${of("queued")} had to wait`);
  assert(grantsMidway < of("granted") * 3 / 4, `${grantsMidway} at midway`);
}

/** Registers all tests for one target. */
export function contestSuite({ name, servers }: Target): void {
  describe(`Nine contenders from three processes, ${name}`, () => {
    for (const kind of kinds) {
      it(`hold the ${kind} lock one at a time, in the order of their tokens, and leave nothing`, async () => {
        await judge({ servers, kind, rounds: 12 }, false);
      });
    }
  });
}
