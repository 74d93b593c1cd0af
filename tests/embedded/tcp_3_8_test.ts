// Every suite against the embedded server over TCP, as 3.8.
// Knows no single test.

import { everySuite } from "../suites/every_suite.ts";
import { embeddedTarget } from "../targets.ts";

everySuite(await embeddedTarget("3.8", "over TCP"));
