// The client suite against every version there is, and what one server is enough for.
// Knows no single test.

import { describe } from "@std/testing/bdd";
import { clientSuite } from "../suites/client_suite.ts";
import { patienceSuite } from "../suites/client_suite_away.ts";
import { hostsSuite } from "../suites/client_suite_hosts.ts";
import { settingsSuite, strictly } from "../suites/client_suite_settings.ts";
import { firstOf } from "../suites/tools.ts";
import { defaultTarget, targets } from "../targets.ts";
import { startServer } from "./server.ts";

for (const target of await targets()) clientSuite(firstOf(target));

const target = firstOf(await defaultTarget());
describe(target.name, () => {
  hostsSuite(target);
  patienceSuite(target);
});

if (target.server && target.server.version !== "3.4.13") {
  const { version } = target.server;
  // Ends with the process, like all targets.
  const server = await startServer({ version, jvm: strictly });
  const { servers } = server;
  describe(target.name, () => settingsSuite({ ...target, servers, server }));
}
