// What hand-overs cost, as a table: both locks side by side.
// Pure.
// Used by show.ts.

import type { Findings } from "./experiment.ts";
import { sum, type Traffic } from "./traffic.ts";

/** One hand-over: from whom to whom, and what was said from this release to the next. */
export interface HandOver extends Traffic {
  from: number;
  to: number;
}

/** The hand-overs of an experiment. The last release is none: nobody waits. */
export function handOvers({ turns, phases }: Findings): HandOver[] {
  return turns.slice(1).map((turn, i) => ({
    ...phases[i + 1],
    from: turns[i].contender,
    to: turn.contender,
  }));
}

/** More hand-overs than this are not all shown. */
const most = 12;
const blank = ["", "", ""];

/** The table, one column group for each named experiment; 80 columns for two. */
export function table(
  experiments: readonly { name: string; findings: Findings }[],
): string[] {
  const overs = experiments.map(({ findings }) => handOvers(findings));
  const count = overs[0].length;
  const numbers = [...Array(count).keys()];
  const row = (label: string, cells: string[][]) =>
    (label.padStart(13) + cells.map(group).join("")).trimEnd();
  const rowOf = (i: number) =>
    row(`${i + 1}`, overs.map((each) => cellsOf(each[i])));
  const head = numbers.slice(0, count > most ? most - 3 : count);
  const tail = numbers.slice(Math.max(head.length, count - 2));
  const average = overs.map((each) => {
    const { notifications, requests } = sum(each);
    const mean = (n: number) => (n / each.length).toFixed(1);
    return ["", mean(notifications), mean(requests)];
  });
  const whole = experiments.map(({ findings }) => {
    const { notifications, requests } = sum(findings.phases);
    return ["", `${notifications}`, `${requests}`];
  });
  const title = experiments.map(({ name }) => " ".repeat(12) + name.padEnd(21));
  return [
    (" ".repeat(13) + title.join("")).trimEnd(),
    row("hand-over", experiments.map(() => ["who", "notified", "requests"])),
    ...head.map(rowOf),
    ...(tail.length > 0 ? [row("…", experiments.map(() => blank))] : []),
    ...tail.map(rowOf),
    row("average", average),
    row("whole run *", whole),
    "* with getting in line and the last release".padStart(45),
  ];
}

function cellsOf({ from, to, notifications, requests }: HandOver): string[] {
  return [`${from} → ${to}`, `${notifications}`, `${requests}`];
}

function group([who, notifications, requests]: string[]): string {
  return who.padStart(11) + notifications.padStart(11) + requests.padStart(11);
}
