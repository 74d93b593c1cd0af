// Takes the tests that the suites register: tests/shim/bdd.ts hands them to Deno.test() where there is one.
// Knows no suite.
// Imported by entry.ts, before anything that names @std/testing/bdd.

/** A test, not yet run. */
export interface Test {
  name: string;
  run: () => Promise<void>;
}

let tests: Test[] = [];

const Deno = {
  test: (name: string, run: () => Promise<void>) =>
    void tests.push({ name, run }),
};
Object.assign(globalThis, { Deno });

/** The tests that a function registers. */
export function collect(define: () => void): Test[] {
  tests = [];
  define();
  return tests;
}
