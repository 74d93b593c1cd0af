// A failing scenario made smaller: without the faults, clients and contenders that it does not need.
// Knows no faults; tries, and keeps what still fails in the same way.
// Used by sim.ts.

import type { Scenario } from "./scenario.ts";
import { type Library, type Report, simulate } from "./simulate.ts";

/** What makes two failures alike: the invariant that was broken. */
export function kindOf({ problems }: Report): string {
  return problems[0]?.slice(0, 2) ?? "";
}

/** The smallest scenario found that fails as this one does. */
export async function shrink(
  scenario: Scenario,
  library: Library,
  onSmaller: (scenario: Scenario) => void = () => {},
): Promise<Scenario> {
  const kind = kindOf(await simulate(scenario, library));
  let smallest = scenario;
  const fails = async (smaller: Scenario): Promise<boolean> => {
    if (kindOf(await simulate(smaller, library)) !== kind) return false;
    smallest = smaller;
    onSmaller(smaller);
    return true;
  };
  for (let before = Infinity; size(smallest) < before;) {
    before = size(smallest);
    await without("faults", () => smallest, fails);
    await without("clients", () => smallest, fails);
    for (const [i, { contenders }] of smallest.clients.entries()) {
      if (contenders === 1) continue;
      const clients = smallest.clients.with(i, {
        ...smallest.clients[i],
        contenders: 1,
      });
      await fails({ ...smallest, clients });
    }
  }
  return smallest;
}

/** Leaves out as much as possible of a list: first halves, then quarters, at last one by one. */
async function without(
  list: "faults" | "clients",
  current: () => Scenario,
  fails: (smaller: Scenario) => Promise<boolean>,
): Promise<void> {
  for (let part = Math.ceil(current()[list].length / 2); part >= 1;) {
    for (let at = 0; at < current()[list].length;) {
      const items = [...current()[list]];
      items.splice(at, part);
      const isLeft = list === "faults" || items.length > 0;
      if (!isLeft || !await fails({ ...current(), [list]: items })) at += part;
    }
    if (part === 1) return;
    part = Math.ceil(part / 2);
  }
}

function size({ faults, clients }: Scenario): number {
  return faults.length +
    clients.reduce((n, { contenders }) => n + contenders, 0);
}
