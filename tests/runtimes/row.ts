// What became of the suite on one runtime, against one target.
// Types only.
// Answered by the runners of this folder; put together by tests/run.ts.

/** One line of the table. */
export interface Row {
  runtime: string;
  target: string;
  passed: number;
  failed: number;
  skipped: number;
}
