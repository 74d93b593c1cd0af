// What every target is to stand.
// Knows no target in particular.
// Run for each embedded server by tests/embedded/; real ones take longer, and have a file for each suite.

import type { Target } from "../targets.ts";
import { clientSuite } from "./client_suite.ts";
import { lockSuite } from "./lock_suite.ts";

/** Registers all tests for one target. */
export function everySuite(target: Target): void {
  clientSuite(target);
  lockSuite(target);
}
