// Silence, restarts and standstills between locks and the embedded server.
// Knows no single test.

import { describe } from "@std/testing/bdd";
import { partitionSuite } from "../faults/partition_suite.ts";
import { embeddedTarget } from "../targets.ts";

const target = await embeddedTarget("3.9", "over TCP");
describe(target.name, () => partitionSuite(target));
