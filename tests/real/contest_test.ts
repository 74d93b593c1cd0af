// Contests on real servers, and in an ensemble while members are killed; what a history of a contest is complained of.
// Knows the rules; suites/contest/ holds the contests.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  complaintsAbout,
  type Line,
  parse,
  type Rules,
} from "../suites/contest/history.ts";
import { contestSuite, judge, kinds } from "../suites/contest_suite.ts";
import { targets } from "../targets.ts";
import { startEnsemble } from "./ensemble.ts";
import type { RealServer } from "./server.ts";

for (const target of await targets()) contestSuite(target);

const ensemble = await startEnsemble();

/** A follower, and of those the one with most clients. */
async function busiest(): Promise<RealServer> {
  const followers = await ensemble.followers();
  const loads = await Promise.all(followers.map(async (node) => {
    return (await node.fourLetter("cons")).match(/sid=0x/g)?.length ?? 0;
  }));
  return followers[loads.indexOf(Math.max(...loads))];
}

const victims: Record<string, () => Promise<RealServer>> = {
  "the leader": () => ensemble.leader(),
  "the busiest follower": busiest,
};

describe("Nine contenders from three processes, an ensemble", () => {
  for (const kind of kinds) {
    for (const [name, choose] of Object.entries(victims)) {
      it(`hold the ${kind} lock one at a time, while ${name} is killed`, async () => {
        const victim = await choose();
        try {
          const midway = () => victim.kill();
          const { servers } = ensemble;
          await judge({ servers, kind, rounds: 25, midway }, true);
          assertEquals(victim.pid, null);
        } finally {
          await victim.restart();
        }
      });
    }
  }
});

describe("complaintsAbout()", () => {
  const rules: Rules = { contenders: ["a", "b"], rounds: 1, mayLose: false };
  const good: Line[] = [
    { who: "a", event: "asked" },
    { who: "a", event: "granted", token: "1" },
    { who: "b", event: "asked" },
    { who: "b", event: "queued" },
    { who: "a", event: "releasing", token: "1" },
    { who: "b", event: "granted", token: "2" },
    { who: "a", event: "released", token: "1", was: true },
    { who: "b", event: "releasing", token: "2" },
    { who: "b", event: "released", token: "2", was: true },
  ];
  const without = (...dropped: number[]) =>
    good.filter((_, i) => !dropped.includes(i));
  const lost: Line = { who: "a", event: "lost", token: "1" };

  it("has none about a history as it should be", () => {
    assertEquals(complaintsAbout(good, rules), []);
  });

  it("is given whole lines, while the last one is still being written", () => {
    const text = good.map((line) => JSON.stringify(line)).join("\n");

    assertEquals(parse(`${text}\n`), good);
    assertEquals(parse(text.slice(0, -5)), good.slice(0, -1));
  });

  it("has none about a loss before the next grant, where that may be", () => {
    const history = good.with(4, lost).filter(({ token, event }) =>
      token !== "1" || event !== "released"
    );

    assertEquals(complaintsAbout(history, { ...rules, mayLose: true }), []);
  });

  const bad: Array<[string, Line[], string[]]> = [
    [
      "two who have the lock at once",
      [...good.slice(0, 4), good[5], good[4], ...good.slice(6)],
      ["b got 2 while a had 1", "a gave up 1 without having it"],
    ],
    [
      "a loss of which the holder hears too late",
      [...good.slice(0, 4), good[5], lost, ...good.slice(7)],
      ["b got 2 while a had 1", "a gave up 1 without having it", "a lost 1"],
    ],
    [
      "tokens that do not grow",
      good.map((line) => line.token ? { ...line, token: "2" } : line),
      ["b got 2 after a got 2"],
    ],
    [
      "tokens that grow as text alone",
      good.map((line) =>
        line.token ? { ...line, token: line.who === "a" ? "10" : "9" } : line
      ),
      ["b got 9 after a got 10"],
    ],
    ["a lock that is kept", without(7, 8), ["b kept 2"]],
    ["somebody who was not served", without(5, 7, 8), ["b was served 0 times"]],
    [
      "a release of what was gone",
      good.with(6, { ...good[6], was: false }),
      ["a released 1, but did not have it any more"],
    ],
  ];
  for (const [what, history, complaints] of bad) {
    it(`complains about ${what}`, () => {
      assertEquals(complaintsAbout(history, rules), complaints);
    });
  }
});
