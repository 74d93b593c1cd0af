// The client against a server: every operation, every watch, every error, on every version.
// Knows no target in particular.
// Run for each by tests/real/client_test.ts and tests/embedded/.

import { describe } from "@std/testing/bdd";
import { awaySuite } from "./client_suite_away.ts";
import { chrootSuite } from "./client_suite_chroot.ts";
import { createSuite } from "./client_suite_create.ts";
import { detachSuite } from "./client_suite_detach.ts";
import { eagerSuite } from "./client_suite_eager.ts";
import { errorsSuite } from "./client_suite_errors.ts";
import { lifeSuite } from "./client_suite_life.ts";
import { multiSuite } from "./client_suite_multi.ts";
import { nodesSuite } from "./client_suite_nodes.ts";
import { persistentSuite } from "./client_suite_persistent.ts";
import { rightsSuite } from "./client_suite_rights.ts";
import { watchesSuite } from "./client_suite_watches.ts";
import type { Target } from "../targets.ts";

/** Registers all tests for one target. */
export function clientSuite(target: Target): void {
  describe(target.name, () => {
    createSuite(target);
    nodesSuite(target);
    watchesSuite(target);
    persistentSuite(target);
    rightsSuite(target);
    multiSuite(target);
    chrootSuite(target);
    errorsSuite(target);
    lifeSuite(target);
    awaySuite(target);
    eagerSuite(target);
    detachSuite(target);
  });
}
