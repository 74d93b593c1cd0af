// Every suite against the embedded server over TCP, as 3.9.
// Knows no single test.

import { everySuite } from "../suites/every_suite.ts";
import { embeddedTarget } from "../targets.ts";

everySuite(await embeddedTarget("3.9", "over TCP"));
