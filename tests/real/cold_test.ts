// withLock() on each kind of server: none reads on before the session stands, and none minds.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { withLock } from "../../lock/mod.ts";
import { connect } from "../../protocol/mod.ts";
import { Flights } from "../suites/tools.ts";
import type { Target } from "../targets.ts";
import { startEnsemble } from "./ensemble.ts";
import type { RealServer } from "./server.ts";
import { versions } from "./install.ts";

/** What withLock() writes, on a server of an ensemble. */
async function writesTo(node: RealServer): Promise<string[][]> {
  const { servers, version } = node;
  const target: Target = { name: "", version, servers, isOurs: true };
  const near = await connect(servers);
  await near.sync("/lock"); // It may be behind the others.
  await near.close();
  const { transport, writes } = new Flights(target);
  await withLock(servers, "/lock", () => {}, { transport });
  return writes;
}

describe("withLock()", () => {
  for (const version of versions) {
    it(`is one flight to the lock and one to leave, with the leader and followers of ${version}`, async () => {
      await using ensemble = await startEnsemble({ version });
      const zk = await connect(ensemble.servers);
      await zk.create("/lock");
      await zk.close();

      for (const node of ensemble.nodes) {
        const writes = await writesTo(node);

        assertEquals(writes, [
          ["connect", "create", "getChildren"],
          ["delete", "closeSession"],
        ]);
      }
    });
  }
});
