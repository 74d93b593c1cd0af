// All faults against a real server: one is enough, since they happen between here and there.
// Knows no single test.

import { defaultTarget } from "../targets.ts";
import { faultSuite } from "./fault_suite.ts";

faultSuite(await defaultTarget());
