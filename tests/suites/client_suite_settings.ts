// Errors that only a server set up for them answers: quotas, and extended types switched off.
// Knows no version.
// Run by client_test.ts and tests/embedded/ against a server of its own.

import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { describe } from "@std/testing/bdd";
import { assertRefused, statesOf, tester, Wiretap } from "./tools.ts";
import type { Target } from "../targets.ts";

/** What such a server is started with. */
export const strictly: readonly string[] = [
  "-Dzookeeper.enforceQuota=true",
  "-Dzookeeper.extendedTypesEnabled=false",
];

export function settingsSuite(target: Target): void {
  describe("A server with quotas and without extended types", () => {
    const test = tester(target);

    // The embedded server has no quotas.
    if (target.embedded === undefined) {
      test(
        "answers QuotaExceeded, and keeps what fits",
        async ({ zk, root }) => {
          const quota = `/zookeeper/quota${root}`;
          await zk.ensurePath(quota);
          await zk.create(
            `${quota}/zookeeper_limits`,
            "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2",
          );
          await zk.create(`${quota}/zookeeper_stats`, "count=1,bytes=0");
          await zk.create(`${root}/a`);

          const error = await assertRefused(
            () => zk.create(`${root}/b`),
            "QuotaExceeded",
          );

          assertEquals([error.number, error.op], [-125, "create"]);
          assertEquals(await zk.getChildren(root), ["a"]);
        },
      );
    }

    test("answers Unimplemented for a ttl, and goes on; nobody asks it again", async ({ root, open }) => {
      const tap = new Wiretap();
      const zk = await open({ onPacket: tap.onPacket });
      const { session } = zk;
      const states = statesOf(zk);
      const mode = "persistent-ttl";
      const create = () => zk.create(`${root}/a`, "", { mode, ttl: 1_000 });
      tap.clear();

      const error = await assertRefused(create, "Unimplemented");
      await assertRefused(create, "Unimplemented");
      assert(await zk.exists(root));

      assertEquals([error.number, error.op], [-6, "createTTL"]);
      assertEquals(tap.sent, ["createTTL", "exists"]);
      assertStrictEquals(zk.session, session);
      assertEquals(states, []);
    });
  });
}
