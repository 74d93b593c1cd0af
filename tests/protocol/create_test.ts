// What createPart() and arguments.ts make of data, versions, modes, ttl and chroot.
// Pure; used by create() as well as inside a multi.

import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { bytesOf, type Scope, versionOf } from "../../protocol/arguments.ts";
import { createPart } from "../../protocol/multi.ts";
import { bytes } from "./wire.ts";

const acl = [{ perms: 31, scheme: "world", id: "anyone" }];
const scope: Scope = { chroot: "", acl };
const app: Scope = { chroot: "/app", acl };

describe("bytesOf()", () => {
  it("makes UTF-8 of text, keeps bytes and null, and makes nothing of undefined", () => {
    const given = Uint8Array.of(1, 2);

    const values = ["ü", "", given, null, undefined].map(bytesOf);

    assertEquals(values, [bytes("ü"), bytes(""), given, null, bytes("")]);
  });

  for (const data of [1, true, {}, [1], new ArrayBuffer(1), Symbol("x")]) {
    it(`refuses ${typeof data === "symbol" ? "a symbol" : JSON.stringify(data)} with a TypeError`, () => {
      assertThrows(() => bytesOf(data as string), TypeError, "Cannot use data");
    });
  }
});

describe("versionOf()", () => {
  it("is -1, any, where none is given, and keeps every 32-bit integer", () => {
    const versions = [undefined, 0, -1, 7, 2 ** 31 - 1, -(2 ** 31)].map(
      versionOf,
    );

    assertEquals(versions, [-1, 0, -1, 7, 2 ** 31 - 1, -(2 ** 31)]);
  });

  for (const version of [0.5, NaN, Infinity, 2 ** 31, -(2 ** 31) - 1]) {
    it(`refuses ${version} with a RangeError`, () => {
      assertThrows(() => versionOf(version), RangeError, "Cannot use version");
    });
  }
});

describe("createPart()", () => {
  const modes = [
    ["persistent", "create", 0],
    ["ephemeral", "create", 1],
    ["persistent-sequential", "create", 2],
    ["ephemeral-sequential", "create", 3],
    ["container", "createContainer", 4],
    ["persistent-ttl", "createTTL", 5],
    ["persistent-sequential-ttl", "createTTL", 6],
  ] as const;
  for (const [mode, name, flags] of modes) {
    it(`makes ${name} with flags ${flags} of mode ${mode}`, () => {
      const ttl = mode.endsWith("ttl") ? 60_000 : undefined;

      const { operation, request } = createPart(scope, {
        path: "/a",
        data: "x",
        mode,
        ttl,
      });

      const expected = { path: "/a", data: bytes("x"), acl, flags };
      assertEquals([operation.name, request], [
        name,
        ttl ? { ...expected, ttl: 60_000n } : expected,
      ]);
    });
  }

  it("takes an ACL of its own before that of the scope, and persistent for no mode", () => {
    const own = [{ perms: 1, scheme: "ip", id: "10.0.0.1" }];

    const { request } = createPart(scope, { path: "/a", acl: own });

    assertEquals(request, { path: "/a", data: bytes(""), acl: own, flags: 0 });
  });

  it("puts the chroot in front, also of the root and of a name the server completes", () => {
    const paths = ["/", "/a", "/a/lock-"].map((path) =>
      (createPart(app, {
        path,
        mode: path === "/a/lock-" ? "ephemeral-sequential" : "persistent",
      }).request as { path: string }).path
    );

    assertEquals(paths, ["/app", "/app/a", "/app/a/lock-"]);
  });

  it("keeps a sequential znode of the root inside the chroot", () => {
    const { request } = createPart(app, {
      path: "/",
      mode: "persistent-sequential",
    });

    // "/app" + "0000000001" would be a sibling of the chroot.
    assertEquals((request as { path: string }).path, "/app/");
  });

  const bad: Array<
    [
      string,
      Parameters<typeof createPart>[1],
      typeof TypeError | typeof RangeError,
      string,
    ]
  > = [
    [
      "an unknown mode",
      { path: "/a", mode: "eternal" as "container" },
      TypeError,
      "unknown mode: eternal",
    ],
    [
      "a mode that every object has",
      { path: "/a", mode: "constructor" as "container" },
      TypeError,
      "unknown mode",
    ],
    ["a bad path", { path: "a" }, TypeError, "Cannot use path"],
    [
      "a trailing slash without a number to follow",
      { path: "/a/" },
      TypeError,
      "Cannot use path",
    ],
    [
      "a ttl of 0",
      { path: "/a", mode: "persistent-ttl", ttl: 0 },
      RangeError,
      "ttl",
    ],
    [
      "a ttl of 2^40",
      { path: "/a", mode: "persistent-ttl", ttl: 2 ** 40 },
      RangeError,
      "ttl",
    ],
    [
      "a ttl that is no integer",
      { path: "/a", mode: "persistent-ttl", ttl: 1.5 },
      RangeError,
      "ttl",
    ],
    [
      "no ttl in a mode that needs one",
      { path: "/a", mode: "persistent-ttl" },
      RangeError,
      "ttl",
    ],
    [
      "a ttl in a mode without one",
      { path: "/a", mode: "ephemeral", ttl: 5 },
      TypeError,
      "needs a mode",
    ],
  ];
  for (const [what, op, type, why] of bad) {
    it(`refuses ${what} with a ${type.name}`, () => {
      assertThrows(() => createPart(scope, op), type, why);
    });
  }
});
