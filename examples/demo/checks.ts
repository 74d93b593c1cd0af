// Was it a lock? What the turns of an experiment prove, or disprove.
// Pure.
// Used by show.ts.

import type { Turn } from "./experiment.ts";

/** One check: what it says, and whether it is as it must be. */
export interface Verdict {
  ok: boolean;
  text: string;
}

/** Pairs of contenders that held at the same time. A hold lasts from the grant until its release begins. */
export function overlaps(
  turns: readonly Pick<Turn, "contender" | "grantedAt" | "releasedAt">[],
): [number, number][] {
  const sorted = [...turns].sort((a, b) => a.grantedAt - b.grantedAt);
  return sorted.flatMap((later, i) =>
    sorted.slice(0, i)
      .filter((earlier) => earlier.releasedAt > later.grantedAt)
      .map((earlier): [number, number] => [earlier.contender, later.contender])
  );
}

/** Whether each is greater than the one before. */
export function grow<T extends bigint | number>(values: readonly T[]): boolean {
  return values.every((value, i) => i === 0 || values[i - 1] < value);
}

/** All checks. */
export function check(
  turns: readonly Turn[],
  contenders: number,
  isFair: boolean,
): Verdict[] {
  const pairs = overlaps(turns);
  const order = turns.map((turn) => turn.contender);
  const tokens = turns.map((turn) => turn.token);
  const inOrder = grow(order);
  const verdicts = [
    {
      ok: new Set(order).size === contenders && turns.length === contenders,
      text: `${turns.length} of ${contenders} contenders had their turn`,
    },
    {
      ok: pairs.length === 0,
      text: pairs.length === 0
        ? "no two holds overlapped"
        : `these held it at the same time: ${
          pairs.map((pair) => pair.join(" and ")).join(", ")
        }`,
    },
    {
      ok: grow(tokens),
      text: grow(tokens)
        ? "each token is greater than the one before"
        : `a token is not greater than the one before: ${tokens.join(", ")}`,
    },
  ];
  // The exclusive lock promises no order, so there is nothing to hold against it.
  if (isFair) {
    verdicts.push({
      ok: inOrder,
      text: inOrder
        ? "first come, first served"
        : `not first come, first served: ${order.join(", ")}`,
    });
  }
  return verdicts;
}
