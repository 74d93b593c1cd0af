// What happened in a contest, line by line, and what is wrong with it.
// Pure: knows no server, no process and no clock.
// Written by worker.ts, judged in contest_suite.ts.

/**
 * One thing that happened to one contender. The order of lines is that in which
 * the system took them from all processes into one file, so no clock is needed:
 * `granted` is written after acquire() resolved, `releasing` before release().
 */
export interface Line {
  who: string;
  event: "asked" | "queued" | "granted" | "lost" | "releasing" | "released";
  /** Of all but "asked" and "queued"; a bigint as text. */
  token?: string;
  /** Of "released": what release() answered. */
  was?: boolean;
}

/** What a history has to keep to. */
export interface Rules {
  contenders: readonly string[];
  /** How often each contender must have had the lock. */
  rounds: number;
  /** Whether somebody may have been told that the lock is lost. */
  mayLose: boolean;
}

/** The lines of a file. What follows the last line break is still being written, and does not count. */
export function parse(text: string): Line[] {
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}

/** Everything that is wrong with a history; empty if it is as it should be. */
export function complaintsAbout(
  history: readonly Line[],
  rules: Rules,
): string[] {
  return [
    ...overlaps(history),
    ...disorder(history),
    ...losses(history, rules),
    ...neglect(history, rules),
  ];
}

/** At most one has the lock, from "granted" to "releasing" or "lost". */
function overlaps(history: readonly Line[]): string[] {
  const found: string[] = [];
  let holder: Line | undefined;
  for (const line of history) {
    const { who, event, token } = line;
    if (event === "granted") {
      if (holder) {
        found.push(
          `${who} got ${token} while ${holder.who} had ${holder.token}`,
        );
      }
      holder = line;
    } else if (event === "releasing" || event === "lost") {
      if (holder?.who === who && holder.token === token) holder = undefined;
      else found.push(`${who} gave up ${token} without having it`);
    }
  }
  if (holder) found.push(`${holder.who} kept ${holder.token}`);
  return found;
}

/** Tokens grow from grant to grant. Where they are czxids, that is first come, first served. */
function disorder(history: readonly Line[]): string[] {
  const grants = history.filter(({ event }) => event === "granted");
  return grants.slice(1).flatMap(({ who, token }, i) => {
    const before = grants[i];
    if (BigInt(token!) > BigInt(before.token!)) return [];
    return [`${who} got ${token} after ${before.who} got ${before.token}`];
  });
}

function losses(history: readonly Line[], { mayLose }: Rules): string[] {
  return history.flatMap(({ who, event, token, was }) => {
    if (event === "lost" && !mayLose) return [`${who} lost ${token}`];
    if (event === "released" && !was) {
      return [`${who} released ${token}, but did not have it any more`];
    }
    return [];
  });
}

function neglect(
  history: readonly Line[],
  { contenders, rounds }: Rules,
): string[] {
  const found: string[] = [];
  for (const who of contenders) {
    const count = history.filter((line) =>
      line.who === who && line.event === "granted"
    ).length;
    if (count !== rounds) found.push(`${who} was served ${count} times`);
  }
  const strangers = history.filter(({ who }) => !contenders.includes(who));
  return [...found, ...strangers.map(({ who }) => `${who} is a stranger`)];
}
