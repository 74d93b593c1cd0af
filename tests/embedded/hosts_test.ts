// What one version of the embedded server is enough for, or needs settings of its own.
// Knows no single test.

import { describe } from "@std/testing/bdd";
import { patienceSuite } from "../suites/client_suite_away.ts";
import { hostsSuite } from "../suites/client_suite_hosts.ts";
import { settingsSuite } from "../suites/client_suite_settings.ts";
import { contestSuite } from "../suites/contest_suite.ts";
import { restartSuite } from "../suites/restart_suite.ts";
import { embeddedTarget, startMortal } from "../targets.ts";

const target = await embeddedTarget("3.9", "over TCP");
const strict = await embeddedTarget("3.9", "over TCP", { ttl: false });
describe(target.name, () => {
  hostsSuite(target);
  patienceSuite(target);
  settingsSuite(strict);
  restartSuite(() => startMortal(target));
});
contestSuite(target);
