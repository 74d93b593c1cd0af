// What an ACL lets whom do, which ACLs a server takes, and what it shows of them.
// Pure functions: no server.
// The hashes were made by another implementation (Python's hashlib).

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Acl } from "../../protocol/znode.ts";
import {
  allows,
  digestIdentity,
  fixAcl,
  type Identity,
  shown,
} from "../../testing/rights.ts";

const local: Identity = { scheme: "ip", id: "127.0.0.1" };
const ann: Identity = { scheme: "digest", id: "ann:hash" };
const bob: Identity = { scheme: "digest", id: "bob:hash" };

function acl(text: string): Acl[] {
  return text.split(" ").filter(Boolean).map((entry) => {
    const [, perms, scheme, id] = /^(\d+):(\w+):(.*)$/.exec(entry)!;
    return { perms: Number(perms), scheme, id };
  });
}

function text(acl: readonly Acl[] | null): string | null {
  return acl &&
    acl.map(({ perms, scheme, id }) => `${perms}:${scheme}:${id}`).join(" ");
}

describe("allows()", () => {
  const cases: [string, string, number, Identity[], boolean][] = [
    ["world to anybody", "31:world:anyone", 4, [], true],
    ["a bit that is not granted to nobody", "27:world:anyone", 4, [ann], false],
    ["either of two bits", "16:world:anyone", 17, [], true],
    ["a digest to its owner", "1:digest:ann:hash", 1, [local, ann], true],
    ["a digest to nobody else", "1:digest:ann:hash", 1, [local, bob], false],
    [
      "an id of another scheme to nobody",
      "1:ip:ann:hash 1:x509:ann:hash",
      1,
      [ann],
      false,
    ],
    [
      "bits of several entries, but not to one who matches another entry",
      "1:digest:ann:hash 2:digest:bob:hash",
      2,
      [ann],
      false,
    ],
    [
      "what any of several identities has",
      "1:digest:ann:hash 2:digest:bob:hash",
      2,
      [ann, bob],
      true,
    ],
    ["an address to itself", "1:ip:127.0.0.1", 1, [local], true],
    ["an address to no other", "1:ip:127.0.0.2", 1, [local], false],
    ["a network to who is in it", "1:ip:127.0.0.0/8", 1, [local], true],
    ["a network to nobody outside", "1:ip:128.0.0.0/8", 1, [local], false],
    ["a network of 0 bits to all", "1:ip:9.9.9.9/0", 1, [local], true],
    ["a network of 31 bits to its two", "1:ip:127.0.0.0/31", 1, [local], true],
    ["a network of 32 bits to one", "1:ip:127.0.0.0/32", 1, [local], false],
    ["nothing if nothing is granted", "0:world:anyone", 31, [ann], false],
    ["nothing by an empty list", "", 31, [ann], false],
  ];

  for (const [what, entries, perms, who, expected] of cases) {
    it(`gives ${what}`, () => {
      const list = acl(entries);

      const result = allows(list, perms, who);

      assertEquals(result, expected);
    });
  }
});

describe("fixAcl()", () => {
  const cases: [string, string, Identity[], string | null][] = [
    ["keeps the world", "31:world:anyone", [], "31:world:anyone"],
    ["refuses a part of the world", "31:world:me", [], null],
    ["refuses an empty list", "", [ann], null],
    ["removes doubles", "1:world:anyone 1:world:anyone", [], "1:world:anyone"],
    [
      "keeps entries that differ in their bits",
      "1:world:anyone 2:world:anyone",
      [],
      "1:world:anyone 2:world:anyone",
    ],
    [
      "puts every proved identity in place of auth, whatever its id",
      "7:auth:whatever",
      [local, ann, bob],
      "7:digest:ann:hash 7:digest:bob:hash",
    ],
    ["refuses auth of who proved nothing", "7:auth:", [local], null],
    [
      "refuses auth of who proved nothing beside an entry that is fine",
      "7:auth: 1:world:anyone",
      [local],
      null,
    ],
    [
      "removes doubles that auth makes",
      "7:digest:ann:hash 7:auth:",
      [ann],
      "7:digest:ann:hash",
    ],
    ["refuses a digest without a colon", "1:digest:ann", [], null],
    ["refuses a digest with two colons", "1:digest:a:b:c", [], null],
    ["keeps an address", "1:ip:1.2.3.4", [], "1:ip:1.2.3.4"],
    ["keeps a network", "1:ip:10.0.0.0/8", [], "1:ip:10.0.0.0/8"],
    ["refuses 33 bits", "1:ip:10.0.0.0/33", [], null],
    ["refuses bits that are no number", "1:ip:10.0.0.0/x", [], null],
    ["refuses three bytes", "1:ip:10.0.0", [], null],
    ["refuses a byte above 255", "1:ip:10.0.0.256", [], null],
    ["refuses an address of IPv6", "1:ip:::1", [], null],
    ["refuses a scheme nobody knows", "1:nosuch:x", [], null],
    [
      "refuses the list for one bad entry",
      "1:world:anyone 1:nosuch:x",
      [],
      null,
    ],
  ];

  for (const [what, entries, who, expected] of cases) {
    it(what, () => {
      const list = acl(entries);

      const result = fixAcl(list, who);

      assertEquals(text(result), expected);
    });
  }

  it("takes no network where an ip is one address, as on 3.4", () => {
    const lists = [acl("1:ip:10.0.0.0/8"), acl("1:ip:10.0.0.1")];

    const results = lists.map((list) => text(fixAcl(list, [], true)));

    assertEquals(results, [null, "1:ip:10.0.0.1"]);
  });
});

describe("shown()", () => {
  const list = acl("1:world:anyone 16:digest:ann:hash 1:ip:1.2.3.4");

  it("hides the hashes from who has no ADMIN", () => {
    const result = shown(list, [bob]);

    assertEquals(
      text(result),
      "1:world:anyone 16:digest:ann:x 1:ip:1.2.3.4",
    );
  });

  it("shows them to who has", () => {
    const result = shown(list, [ann]);

    assertEquals(result, list);
  });
});

describe("digestIdentity()", () => {
  const cases = [
    ["user:password", "user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY="],
    ["a:b:c", "a:cLzgnoJ6mP5qz3w+mwvPE2vDgu0="],
    ["nocolon", "nocolon:Ra+cHr2ZoHvBjtNArFGNGlVie4g="],
    ["ü:日", "ü:D5Wz1F7ea1tWSA9ThExm3z6NkmE="],
  ];

  for (const [credential, id] of cases) {
    it(`hashes ${credential} as DigestAuthenticationProvider does`, () => {
      const identity = digestIdentity(credential);

      assertEquals(identity, { scheme: "digest", id });
    });
  }
});
