// ACL helpers: their meaning, and the identities of the scheme digest.
// Pure; that servers take them is tested in auth/ and suites/.

import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { acl, digestId } from "../../protocol/acl.ts";
import type { Acl } from "../../protocol/znode.ts";

describe("acl", () => {
  it("has what ZooDefs.Ids has", () => {
    assertEquals(acl, {
      open: [{ perms: 31, scheme: "world", id: "anyone" }],
      readOnly: [{ perms: 1, scheme: "world", id: "anyone" }],
      creatorAll: [{ perms: 31, scheme: "auth", id: "" }],
    });
  });

  it("cannot be changed: everybody shares it", () => {
    const open = acl.open as Acl[];

    assertThrows(() => open.push(open[0]), TypeError);
    assertThrows(() => open[0].perms = 0, TypeError);
  });
});

describe("digestId()", () => {
  // The first is from the recorded frames of ZooKeeper 3.8.0 and 3.9.3; the others were made by Python's hashlib.
  const vectors = [
    ["user", "pass", "user:smGaoVKd/cQkjm7b88GyorAUz20="],
    ["anna", "a:b:c", "anna:aYijj9JMEqn4reL/URRd7PvvzaQ="],
    ["gräte", "пароль", "gräte:AnwYdoSrMyRbOMyGIppo4JwIbjM="],
    ["x", "", "x:klkAALJ94iTJT/Sb0xMaO8xNka8="],
  ];
  for (const [user, password, expected] of vectors) {
    it(`of ${user} is the one that servers make`, () => {
      const id = digestId(user, password);

      assertEquals(id, expected);
    });
  }

  for (const user of ["", "a:b", undefined, 7]) {
    it(`refuses the user ${JSON.stringify(user)} with a TypeError`, () => {
      assertThrows(() => digestId(user as string, "secret"), TypeError);
    });
  }

  it("refuses a password that is no text, without showing it", () => {
    const error = assertThrows(
      () => digestId("anna", 12345 as unknown as string),
      TypeError,
    );

    assertEquals(`${error}`.includes("12345"), false);
  });
});
