// The lock suite against every version there is.
// Knows no single test.

import { lockSuite } from "../suites/lock_suite.ts";
import { firstOf } from "../suites/tools.ts";
import { targets } from "../targets.ts";

for (const target of await targets()) lockSuite(firstOf(target));
