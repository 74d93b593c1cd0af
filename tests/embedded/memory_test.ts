// Every suite against the embedded server in memory, as the newest version.
// Knows no single test.

import { everySuite } from "../suites/every_suite.ts";
import { embeddedTarget } from "../targets.ts";

everySuite(await embeddedTarget("3.9", "in memory"));
