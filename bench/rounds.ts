// Measuring candidates in turn, so that what the machine does besides meets them alike.
// Knows nothing of what is measured.
// Used by the benchmarks.

/** Medians of the ms that each candidate takes. */
export async function inTurn(
  rounds: number,
  candidates: readonly (() => Promise<unknown>)[],
): Promise<number[]> {
  const times = candidates.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, run] of candidates.entries()) {
      const start = performance.now();
      await run();
      times[i].push(performance.now() - start);
    }
  }
  return times.map(median);
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1];
}
