// The tests of this folder that run in one process, in processes of Bun and Node: the locks, and the transport.
// Knows no single test.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { test } from "./runtimes.ts";

describe("By TLS", () => {
  for (const runtime of ["Bun", "Node"] as const) {
    it(`the locks pass every test on ${runtime}`, async () => {
      const { passed, failed } = await test(runtime, "tests/tls/lock_test.ts");

      assertEquals(failed, 0);
      assert(passed > 100, `${passed} passed`);
    });

    it(`the transport passes every test on ${runtime}`, async () => {
      const found = await test(runtime, "tests/tls/transport_test.ts");

      assertEquals(found.failed, 0);
      assert(found.passed > 5, `${found.passed} passed`);
    });
  }
});
