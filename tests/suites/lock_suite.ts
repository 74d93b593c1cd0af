// The locks against a server: what their users can see, on every version.
// Knows no target in particular.
// Run for each by tests/real/lock_test.ts and tests/embedded/; loss on the way is in tests/faults/.

import { describe } from "@std/testing/bdd";
import type { Target } from "../targets.ts";
import { coldSuite } from "./lock_suite_cold.ts";
import { fenceSuite } from "./lock_suite_fence.ts";
import { holdingSuite } from "./lock_suite_holding.ts";
import { losingSuite } from "./lock_suite_losing.ts";
import { queueSuite } from "./lock_suite_queue.ts";
import { resumeSuite } from "./lock_suite_resume.ts";
import { takingSuite } from "./lock_suite_taking.ts";
import { locks } from "./lock_suite_tools.ts";
import { waitingSuite } from "./lock_suite_waiting.ts";

/** Registers all tests for one target. */
export function lockSuite(target: Target): void {
  describe(target.name, () => {
    for (const Lock of locks) {
      takingSuite(target, Lock);
      waitingSuite(target, Lock);
      holdingSuite(target, Lock);
      losingSuite(target, Lock);
      resumeSuite(target, Lock);
    }
    queueSuite(target);
    fenceSuite(target);
    coldSuite(target);
  });
}
