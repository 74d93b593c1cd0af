// Faults between clients and the embedded server, and what one version is enough for.
// Knows no single test.

import { describe } from "@std/testing/bdd";
import { faultSuite } from "../faults/fault_suite.ts";
import { patienceSuite } from "../suites/client_suite_away.ts";
import { hostsSuite } from "../suites/client_suite_hosts.ts";
import { embeddedTarget } from "../targets.ts";

const target = await embeddedTarget("3.9", "over TCP");
describe(target.name, () => {
  hostsSuite(target);
  patienceSuite(target);
});
faultSuite(target);
