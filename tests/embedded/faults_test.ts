// Faults between clients and the embedded server: one version is enough, since they happen on the way.
// Knows no single test; silence and standstills take their time in partition_test.ts.

import { describe } from "@std/testing/bdd";
import { abortSuite } from "../faults/abort_suite.ts";
import { administratorSuite } from "../faults/administrator_suite.ts";
import { lostRepliesSuite } from "../faults/lost_replies_suite.ts";
import { packetsSuite } from "../faults/packets_suite.ts";
import { embeddedTarget } from "../targets.ts";

const target = await embeddedTarget("3.9", "over TCP");
describe(target.name, () => {
  abortSuite(target);
  administratorSuite(target);
  lostRepliesSuite(target);
  packetsSuite(target);
});
