// Stand-in for the part of jsr:@std/testing/bdd that our tests use, where JSR cannot be reached.
// Every `it` becomes one test, so that Deno's leak checks look at each; node:test elsewhere.
// Mapped by tests/offline.import_map.json.

type Run = () => unknown;

interface Suite {
  name: string;
  before: Run[];
  after: Run[];
  outer?: Suite;
}

interface Runtime {
  Deno?: { test(name: string, run: () => Promise<void>): void };
}

const { Deno } = globalThis as Runtime;
const register = Deno
  ? (name: string, run: () => Promise<void>) => Deno.test(name, run)
  : (await import("node:test")).test;

let current: Suite | undefined;

export function describe(name: string, define: () => void): void {
  const full = current ? `${current.name} > ${name}` : name;
  const outer = current;
  current = { name: full, before: [], after: [], outer };
  try {
    define();
  } finally {
    current = outer;
  }
}

export function beforeEach(run: Run): void {
  current!.before.push(run);
}

export function afterEach(run: Run): void {
  current!.after.unshift(run);
}

export function it(name: string, run: Run): void {
  const suites: Suite[] = [];
  for (let suite = current; suite; suite = suite.outer) suites.unshift(suite);
  const full = current ? `${current.name} > ${name}` : name;
  register(full, async () => {
    for (const { before } of suites) for (const hook of before) await hook();
    try {
      await run();
    } finally {
      for (const { after } of suites.reverse()) {
        for (const hook of after) await hook();
      }
    }
  });
}
