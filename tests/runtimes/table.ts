// The table at the end of a run: runtime, target, and what became of the tests.
// Pure.
// Used by tests/run.ts.

import { type Count, countOf, type Result } from "./junit.ts";
import type { Row } from "./row.ts";

/** As targets are called, at the beginning of a test's name. */
const target = /^(?:Embedded|ZooKeeper) [\d.]+(?:, [^>:]+?)?(?= >|:)/;
const ownServers = "no server, or one of their own";

/** A row for each target that the names of tests begin with. */
export function rowsOf(runtime: string, results: readonly Result[]): Row[] {
  const groups = new Map<string, Result[]>();
  for (const result of results) {
    const name = target.exec(result.name)?.[0] ?? ownServers;
    const group = groups.get(name);
    if (group) group.push(result);
    else groups.set(name, [result]);
  }
  return [...groups].map(([target, group]) => ({
    runtime,
    target,
    ...countOf(group),
  }));
}

/** Rows of one runtime and target as one, those of a runtime together, in the order in which they came. */
export function merged(rows: readonly Row[]): Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const key = `${row.runtime}\n${row.target}`;
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...row });
    else {
      sum.passed += row.passed;
      sum.failed += row.failed;
      sum.skipped += row.skipped;
    }
  }
  const runtimes = [...new Set(rows.map(({ runtime }) => runtime))];
  return runtimes.flatMap((runtime) =>
    [...sums.values()].filter((row) => row.runtime === runtime)
  );
}

/** The rows as text. */
export function tableOf(rows: readonly Row[]): string {
  const head = ["runtime", "target", "passed", "failed", "skipped"];
  const lines = rows.map(({ runtime, target, passed, failed, skipped }) => [
    runtime,
    target,
    `${passed}`,
    `${failed}`,
    `${skipped}`,
  ]);
  const widths = head.map((title, i) =>
    Math.max(title.length, ...lines.map((line) => line[i].length))
  );
  return [head, ...lines].map((line) =>
    line.map((cell, i) =>
      i < 2 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])
    ).join("  ")
  ).join("\n");
}

/** What became of all tests. */
export function totalOf(rows: readonly Row[]): Count {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of rows) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  return total;
}
