// What becomes of locks when packets, connections, sessions and znodes are lost.
// Knows no target in particular.
// Run by faults_test.ts and by tests/embedded/.

import { describe } from "@std/testing/bdd";
import type { Target } from "../targets.ts";
import { abortSuite } from "./abort_suite.ts";
import { administratorSuite } from "./administrator_suite.ts";
import { lostRepliesSuite } from "./lost_replies_suite.ts";
import { packetsSuite } from "./packets_suite.ts";
import { partitionSuite } from "./partition_suite.ts";

/** Registers all tests for one target. */
export function faultSuite(target: Target): void {
  describe(target.name, () => {
    abortSuite(target);
    administratorSuite(target);
    lostRepliesSuite(target);
    packetsSuite(target);
    partitionSuite(target);
  });
}
