// Everything that a runtime is to stand, against one target: registers the tests of the suites.
// Knows no single test, and no runtime: it runs wherever there is node:test.
// Bundled and started by elsewhere.ts, which says by ZKLOCK_TARGET which target it is.

import { describe } from "@std/testing/bdd";
import process from "node:process";
import { after } from "node:test";
import type { ServerVersion } from "../../testing/mod.ts";
import { abortSuite } from "../faults/abort_suite.ts";
import { administratorSuite } from "../faults/administrator_suite.ts";
import { lostRepliesSuite } from "../faults/lost_replies_suite.ts";
import { packetsSuite } from "../faults/packets_suite.ts";
import type { Version } from "../real/install.ts";
import { startServer } from "../real/server.ts";
import { patienceSuite } from "../suites/client_suite_away.ts";
import { hostsSuite } from "../suites/client_suite_hosts.ts";
import { settingsSuite } from "../suites/client_suite_settings.ts";
import { contestSuite } from "../suites/contest_suite.ts";
import { everySuite } from "../suites/every_suite.ts";
import { restartSuite } from "../suites/restart_suite.ts";
import { embeddedTarget, startMortal, type Target } from "../targets.ts";

/** What is to be ended when all is done: what is left then keeps the process from ending, and that is a failure. */
const started: AsyncDisposable[] = [];

async function embedded(
  version: ServerVersion,
  way: "over TCP" | "in memory",
  options = {},
): Promise<Target> {
  const target = await embeddedTarget(version, way, options);
  started.push(target.embedded);
  return target;
}

async function real(version: Version): Promise<Target> {
  const server = await startServer({ version });
  const { servers } = server;
  const name = `ZooKeeper ${version}`;
  const target: Target = { name, version, servers, isOurs: true, server };
  started.push(server);
  return target;
}

/** What one server of a kind is enough for. */
function onceSuite(target: Target): void {
  describe(target.name, () => {
    hostsSuite(target);
    patienceSuite(target);
    abortSuite(target);
    administratorSuite(target);
    lostRepliesSuite(target);
    packetsSuite(target);
  });
}

const [kind, version] = (process.env.ZKLOCK_TARGET ?? "").split(" ");
if (kind === "memory") {
  everySuite(await embedded(version as ServerVersion, "in memory"));
} else if (kind === "tcp") {
  const target = await embedded(version as ServerVersion, "over TCP");
  everySuite(target);
  if (version === "3.9") {
    onceSuite(target);
    const strict = await embedded(version, "over TCP", { ttl: false });
    describe(target.name, () => {
      settingsSuite(strict);
      restartSuite(() => startMortal(target));
    });
    contestSuite(target);
  }
} else if (kind === "real") {
  const target = await real(version as Version);
  everySuite(target);
  if (version === "3.8.0") onceSuite(target);
} else throw new Error(`Cannot test against "${kind} ${version}"`);

after(async () => {
  for (const server of started) await server[Symbol.asyncDispose]();
});
