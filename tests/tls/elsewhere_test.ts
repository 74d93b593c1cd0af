// The locks over TLS on the other runtimes: lock_test.ts in processes of Bun and Node.
// Knows no single test.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { test } from "./runtimes.ts";

describe("The locks, over TLS", () => {
  for (const runtime of ["Bun", "Node"] as const) {
    it(`pass every test on ${runtime}`, async () => {
      const { passed, failed } = await test(runtime, "tests/tls/lock_test.ts");

      assertEquals(failed, 0);
      assert(passed > 100, `${passed} passed`);
    });
  }
});
