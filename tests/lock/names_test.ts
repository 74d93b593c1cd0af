import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { contenderPrefix, newId, parseName } from "../../lock/names.ts";

const uuid = "f3994cdb-bd47-4d3e-a0fe-7f4c6f7ad6f7";
const hex32 = "f3994cdbbd474d3ea0fe7f4c6f7ad6f7";

const contenders: [string, number, string | null, string][] = [
  // Ours and Curator's, go-zk's, kazoo's
  [`_c_${uuid}-lock-0000000012`, 12, uuid, "lock"],
  [`_c_${uuid}-__READ__0000000012`, 12, uuid, "read"],
  [`_c_${uuid}-__WRIT__0000000012`, 12, uuid, "write"],
  [`_c_${hex32}-lock-0000000012`, 12, hex32, "lock"],
  [`${hex32}__lock__0000000012`, 12, hex32, "lock"],
  [`${hex32}__rlock__0000000012`, 12, hex32, "read"],
  // The recipes of Java (session ids may be negative) and C, and tutorials
  ["x-72057719016128512-0000000003", 3, "72057719016128512", "lock"],
  ["x--72057719016128512-0000000003", 3, "-72057719016128512", "lock"],
  ["x-01000e1f2a3b4c5d-0000000003", 3, "01000e1f2a3b4c5d", "lock"],
  ["lock-0000000000", 0, null, "lock"],
  ["x-0000000012", 12, null, "other"],
  // Beyond 2^31 (kazoo#730): a sign and nine or ten digits
  [`_c_${uuid}-lock-2147483647`, 2147483647, uuid, "lock"],
  [`_c_${uuid}-lock--2147483648`, -2147483648, uuid, "lock"],
  [`_c_${uuid}-lock--000000012`, -12, uuid, "lock"],
  ["lock--000000001", -1, null, "lock"],
  // Forms that nobody knows
  ["n_0000000007", 7, null, "other"],
  ["cerradura-0000000007", 7, null, "other"],
  ["something-2147483648", -2147483648, null, "other"],
];

const strangers = [
  // Ten digits, but no number that a server writes
  `_c_${uuid}-lock-2147483648`,
  "config-9999999999",
  "lock-3000000000",
  "",
  "notes",
  "lock-",
  "lock-12",
  "x-1-2",
  `_c_${uuid}-lock-`,
];

describe("parseName()", () => {
  for (const [name, sequence, id, kind] of contenders) {
    it(`reads ${name}`, () => {
      assertEquals(parseName(name), { name, sequence, id, kind } as never);
    });
  }
  for (const name of strangers) {
    it(`takes "${name}" for no contender`, () => {
      assertEquals(parseName(name), null);
    });
  }
});

describe("contenderPrefix()", () => {
  it("makes names that parseName() takes for ours", () => {
    const parsed = parseName(contenderPrefix(uuid) + "0000000042");
    assertEquals(parsed?.id, uuid);
    assertEquals(parsed?.sequence, 42);
  });
});

describe("newId()", () => {
  it("makes a version 4 UUID of the random bytes it is given", () => {
    const id = newId((bytes) => bytes.fill(0xff));
    assertEquals(id, "ffffffff-ffff-4fff-bfff-ffffffffffff");
  });

  it("differs from call to call", () => {
    const random = (bytes: Uint8Array) =>
      void crypto.getRandomValues(
        bytes as Uint8Array<ArrayBuffer>,
      );
    const ids = new Set(Array.from({ length: 100 }, () => newId(random)));
    assertEquals(ids.size, 100);
    for (const id of ids) assertMatch(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-/);
    assert(true);
  });
});
