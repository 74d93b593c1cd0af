// Turns as a picture in text: one row per contender, time from left to right.
// Pure.
// Used by show.ts.

import type { Turn } from "./experiment.ts";

const waiting = "░";
const holding = "█";
/** Labels of the axis are at least this many columns apart. */
const labelDistance = 9;

/** What the picture needs of a turn. */
export type Span = Omit<Turn, "token">;

/** The rows and an axis in ms. No line is longer than `width`. */
export function timeline(spans: readonly Span[], width = 80): string[] {
  const rows = [...spans].sort((a, b) => a.contender - b.contender);
  const gutter = 5;
  const columns = width - gutter;
  const end = Math.max(1, ...spans.map((span) => span.releasedAt));
  const column = (ms: number) => Math.round(ms / end * columns);
  const lines = rows.map((span) => {
    // However short, a hold is seen.
    const granted = Math.min(column(span.grantedAt), columns - 1);
    const released = Math.max(column(span.releasedAt), granted + 1);
    const asked = Math.min(column(span.askedAt), granted);
    return `${span.contender}`.padStart(gutter - 1) + " " +
      " ".repeat(asked) +
      waiting.repeat(granted - asked) +
      holding.repeat(released - granted);
  });
  return [...lines, ...axis(end, columns, column, gutter)];
}

function axis(
  end: number,
  columns: number,
  column: (ms: number) => number,
  gutter: number,
): string[] {
  const step = roundStep(end * labelDistance / columns);
  let ticks = "";
  let labels = "";
  for (let ms = 0; column(ms) + `${ms}`.length <= columns; ms += step) {
    ticks = ticks.padEnd(column(ms), "─") + "┬";
    labels = labels.padEnd(column(ms)) + `${ms}`;
  }
  return [
    " ".repeat(gutter) + ticks.padEnd(columns, "─"),
    "ms".padStart(gutter - 1) + " " + labels,
  ];
}

/** The next of 1, 2, 5, 10, 20, 50 … */
export function roundStep(least: number): number {
  for (let power = 1;; power *= 10) {
    for (const digit of [1, 2, 5]) {
      if (digit * power >= least) return digit * power;
    }
  }
}
