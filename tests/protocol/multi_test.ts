// Operations of a multi: how they go over the wire, and how results are read, by the type the server gave them.
// Pure: no session, no server; the recorded frames are in golden_test.ts.

import {
  assertEquals,
  assertInstanceOf,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  MultiError,
  ProtocolError,
  ServerError,
} from "../../protocol/errors.ts";
import type { Op, ReadOp } from "../../protocol/api.ts";
import type { Scope } from "../../protocol/arguments.ts";
import {
  multi,
  multiRead,
  readReads,
  readResults,
  writePart,
} from "../../protocol/multi.ts";
import type { PartResult } from "../../protocol/operations.ts";
import { bytes, statOf } from "./wire.ts";

const acl = [{ perms: 31, scheme: "world", id: "anyone" }];
const scope: Scope = { chroot: "", acl };
const app: Scope = { chroot: "/app", acl };

/** The operation and request of a part, for comparison. */
function part(op: Op, where = scope): [string, unknown] {
  const { operation, request } = writePart(where, op);
  return [operation.name, request];
}

describe("writePart()", () => {
  it("writes every operation with its defaults and the chroot", () => {
    const parts = ([
      { op: "delete", path: "/a" },
      { op: "check", path: "/a" },
      { op: "setData", path: "/a", data: null },
      { op: "setData", path: "/a", data: "x", version: 3 },
      { op: "create", path: "/a", data: null },
    ] as Op[]).map((op) => part(op, app));

    assertEquals(parts, [
      ["delete", { path: "/app/a", version: -1 }],
      ["check", { path: "/app/a", version: -1 }],
      ["setData", { path: "/app/a", data: null, version: -1 }],
      ["setData", { path: "/app/a", data: bytes("x"), version: 3 }],
      ["create", { path: "/app/a", data: null, acl, flags: 0 }],
    ]);
  });

  it("refuses an unknown operation with a TypeError", () => {
    assertThrows(
      () => writePart(scope, { op: "move", path: "/a" } as unknown as Op),
      TypeError,
      "unknown operation: move",
    );
  });
});

describe("readResults()", () => {
  const asked: Op[] = [
    { op: "create", path: "/a-", mode: "ephemeral-sequential" },
    { op: "setData", path: "/b", data: null },
    { op: "check", path: "/c" },
    { op: "delete", path: "/d" },
  ];
  const stat = statOf({ version: 4 });
  const good: PartResult[] = [
    { type: 1, err: 0, reply: { path: "/app/a-0000000001" } },
    { type: 5, err: 0, reply: { stat } },
    { type: 13, err: 0, reply: null },
    { type: 2, err: 0, reply: null },
  ];
  const inward = (path: string) => path.replace("/app", "");

  it("reads each result as that of the operation asked for, with the user's path", () => {
    const results = readResults(asked, good, 9n, inward);

    assertEquals(results, [
      { op: "create", path: "/a-0000000001" },
      { op: "setData", stat },
      { op: "check" },
      { op: "delete" },
    ]);
  });

  for (const type of [1, 15, 19, 21]) {
    it(`takes type ${type} for a create, whatever was asked: 3.8 and 3.9 differ`, () => {
      const reply = type === 1 ? { path: "/app/a" } : { path: "/app/a", stat };

      const results = readResults(
        [asked[0]],
        [{ type, err: 0, reply }],
        9n,
        inward,
      );

      assertEquals(results, [
        type === 1
          ? { op: "create", path: "/a" }
          : { op: "create", path: "/a", stat },
      ]);
    });
  }

  it("answers nothing for nothing", () => {
    const results = readResults([], [], 1n, inward);

    assertEquals(results, []);
  });

  it("throws a MultiError with the first number that is not 0: the header has none (F10)", () => {
    const failed = [0, -103, -2, -2].map((err): PartResult => ({
      type: -1,
      err,
      reply: null,
    }));

    const error = assertThrows(
      () => readResults(asked, failed, 9n, inward),
      MultiError,
    );

    assertEquals([error.index, error.code, error.path, error.zxid], [
      1,
      "BadVersion",
      "/b",
      9n,
    ]);
    assertEquals(
      error.results.map((
        { op, path, code, number },
      ) => [op, path, code, number]),
      [
        ["create", "/a-", "Ok", 0],
        ["setData", "/b", "BadVersion", -103],
        ["check", "/c", "RuntimeInconsistency", -2],
        ["delete", "/d", "RuntimeInconsistency", -2],
      ],
    );
  });

  it("keeps a number nobody knows", () => {
    const error = assertThrows(
      () =>
        readResults(
          [asked[3]],
          [{ type: -1, err: -999, reply: null }],
          1n,
          inward,
        ),
      MultiError,
    );

    assertEquals([error.code, error.number], ["Unknown", -999]);
  });

  const bad: Array<[string, PartResult[]]> = [
    ["too few results", good.slice(0, 3)],
    ["too many results", [...good, good[3]]],
    ["results in another order", [good[0], good[2], good[1], good[3]]],
    [
      "errors that all say 0",
      good.map(() => ({ type: -1, err: 0, reply: null })),
    ],
    [
      "results of a multiRead",
      good.map(() => ({ type: 8, err: 0, reply: { children: [] } })),
    ],
  ];
  for (const [what, results] of bad) {
    it(`throws a ProtocolError for ${what}`, () => {
      assertThrows(
        () => readResults(asked, results, 1n, inward),
        ProtocolError,
      );
    });
  }
});

describe("readReads()", () => {
  const asked: ReadOp[] = [{ op: "getData", path: "/a" }, {
    op: "getChildren",
    path: "/b",
  }, { op: "getData", path: "/c" }];

  it("reads each by itself: one that failed does not spoil the others", () => {
    const stat = statOf();

    const [data, children, failed] = readReads(asked, [
      { type: 4, err: 0, reply: { data: null, stat } },
      { type: 8, err: 0, reply: { children: ["x"] } },
      { type: -1, err: -101, reply: null },
    ]);

    assertEquals([data, children], [{ op: "getData", data: null, stat }, {
      op: "getChildren",
      children: ["x"],
    }]);
    const { error } = failed as { error: ServerError };
    assertInstanceOf(error, ServerError);
    assertEquals([error.code, error.op, error.path], [
      "NoNode",
      "getData",
      "/c",
    ]);
  });

  it("throws a ProtocolError for a result of the other kind, and for a wrong count", () => {
    const other: PartResult = { type: 8, err: 0, reply: { children: [] } };

    const errors = [[other], [other, other, other]].map((results) =>
      assertThrows(() => readReads(asked, results), ProtocolError)
    );

    assertStringIncludes(errors[1].message, "type 8 for getData");
  });
});

describe("multi() and multiRead()", () => {
  it("ask one request of all parts", () => {
    const question = multi(app, [{ op: "check", path: "/a" }, {
      op: "delete",
      path: "/b",
    }], {});

    const body = question.body as unknown as Array<
      { operation: { name: string } }
    >;
    assertEquals([
      question.op.name,
      body.map(({ operation }) => operation.name),
    ], ["multi", ["check", "delete"]]);
  });

  it("never leave a watch by reading", () => {
    const question = multiRead(app, [{ op: "getData", path: "/a" }, {
      op: "getChildren",
      path: "/",
    }], {});

    const body = question.body as unknown as Array<{ request: unknown }>;
    assertEquals(body.map(({ request }) => request), [{
      path: "/app/a",
      watch: false,
    }, { path: "/app", watch: false }]);
  });

  it("refuse operations that are none before anything is sent", () => {
    const reads = [{ op: "exists", path: "/a" }] as unknown as ReadOp[];

    assertThrows(
      () => multiRead(scope, reads, {}),
      TypeError,
      "Cannot use read",
    );
  });

  it("read their results by the operations as they were when it was asked", () => {
    const ops: Op[] = [{ op: "delete", path: "/a" }];
    const question = multi(scope, ops, {});
    ops.push({ op: "delete", path: "/b" });

    const { results } = question.map(
      [{ type: 2, err: 0, reply: null }] as never,
      3n,
    );

    assertEquals(results, [{ op: "delete" }]);
  });
});
