// Counts in the reports of test runners, in the form of JUnit: those of Deno, Node and Bun.
// Pure.
// Used by tests/run.ts and by the runners of this folder.

/** What became of tests. */
export interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

/** One test. */
export interface Result {
  name: string;
  outcome: keyof Count;
}

/** Every test of a report. */
export function resultsIn(report: string): Result[] {
  // A ">" may stand in a name.
  const cases =
    /<testcase((?:\s+[\w:-]+="[^"]*")*)\s*(?:\/>|>([^]*?)<\/testcase>)/g;
  return [...report.matchAll(cases)].map(([, attributes, inside = ""]) => {
    const [, name = ""] = /\sname="([^"]*)"/.exec(attributes) ?? [];
    const outcome = /<(?:failure|error)\b/.test(inside)
      ? "failed"
      : /<skipped\b/.test(inside)
      ? "skipped"
      : "passed";
    return { name: unescaped(name), outcome };
  });
}

/** How many there are of each. */
export function countOf(results: readonly Result[]): Count {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const { outcome } of results) count[outcome]++;
  return count;
}

const entities: Record<string, string> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&#39;": "'",
  "&amp;": "&",
};

function unescaped(text: string): string {
  return text.replace(/&(?:lt|gt|quot|apos|#39|amp);/g, (e) => entities[e]);
}
