// The error classes: names, codes, fields and messages, which users switch on and read.
// Pure. Messages: capital letter, the action first, the current value, no full stop.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertMatch,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { errorNumbers } from "../../protocol/codes.ts";
import {
  AuthFailedError,
  ClientClosedError,
  ConnectionLossError,
  MultiError,
  ProtocolError,
  ServerError,
  SessionExpiredError,
  ZooKeeperError,
} from "../../protocol/errors.ts";

const cause = new Error("why");

describe("ServerError", () => {
  for (const [code, number] of Object.entries(errorNumbers)) {
    it(`carries code, number, op and path of ${code} (node-zookeeper 5.2.1)`, () => {
      const error = new ServerError({
        number,
        op: "setData",
        path: "/a",
        zxid: 7n,
      });

      const { message, name, ...rest } = {
        ...error,
        message: error.message,
        name: error.name,
      };
      assertEquals<object>(rest, {
        code,
        number,
        op: "setData",
        path: "/a",
        zxid: 7n,
      });
      assertEquals([name, message], [
        "ServerError",
        `Cannot setData /a: ${code} (${number})`,
      ]);
    });
  }

  it("keeps a number that nobody knows", () => {
    const error = new ServerError({
      number: -4711,
      op: "sync",
      path: null,
      zxid: null,
    });

    assertEquals([error.code, error.number], ["Unknown", -4711]);
    assertEquals(error.message, "Cannot sync: Unknown (-4711)");
  });
});

describe("MultiError", () => {
  it("names the operation that failed and keeps what was said of each", () => {
    const results = [
      { op: "check", path: "/a", code: "Ok", number: 0 },
      { op: "create", path: "/b", code: "NodeExists", number: -110 },
      { op: "delete", path: "/c", code: "RuntimeInconsistency", number: -2 },
    ] as const;

    const error = new MultiError(1, results, 9n, { cause });

    assertEquals([error.code, error.number, error.index, error.path], [
      "NodeExists",
      -110,
      1,
      "/b",
    ]);
    assertEquals([error.results, error.zxid, error.cause], [
      results,
      9n,
      cause,
    ]);
    assertEquals(
      error.message,
      "Cannot do operation 1 of multi (create /b): NodeExists (-110)",
    );
  });
});

describe("Every error class", () => {
  const errors: ZooKeeperError[] = [
    new ServerError({ number: -101, op: "getData", path: "/a", zxid: 1n }),
    new MultiError(0, [{
      op: "check",
      path: "/a",
      code: "NoNode",
      number: -101,
    }], null),
    new ConnectionLossError("create", "/a", "unknown", { cause }),
    new ConnectionLossError("sync", null, "not-sent"),
    new SessionExpiredError(0x100000b596c0006n, "unknown", { cause }),
    new ClientClosedError(undefined, { cause }),
    new AuthFailedError("digest", { cause }),
    new ProtocolError("Cannot read a string: it is null", 4, { cause }),
  ];

  for (const error of errors) {
    it(`${error.name} (${error.code}) is a ZooKeeperError with its own name and a message in the house style`, () => {
      const { name, message } = error;

      assertInstanceOf(error, ZooKeeperError);
      assertInstanceOf(error, Error);
      assertEquals(name, error.constructor.name);
      assertMatch(message, /^[A-Z].*[^.]$/);
    });
  }

  it("has a code that no other class has", () => {
    const codes = errors.map(({ code }) => code);

    assertEquals(codes, [
      "NoNode",
      "NoNode",
      "ConnectionLoss",
      "ConnectionLoss",
      "SessionExpired",
      "ClientClosed",
      "AuthFailed",
      "Protocol",
    ]);
  });

  it("keeps the cause it was given, and has none otherwise", () => {
    const causes = errors.map((error) => error.cause);

    assertEquals(causes, [
      undefined,
      undefined,
      cause,
      undefined,
      cause,
      cause,
      cause,
      cause,
    ]);
    assert(!("cause" in errors[3]));
  });

  it("ConnectionLossError says whether it may have happened", () => {
    const messages = [errors[2], errors[3]].map(({ message }) => message);

    assertEquals(messages, [
      "Lost the connection during create /a: it may have happened",
      "Lost the connection during sync: it was not sent",
    ]);
  });

  it("SessionExpiredError shows the session id as servers log it", () => {
    const { message } = errors[4];

    assertEquals(message, "Session expired: 0x100000b596c0006");
  });
});
