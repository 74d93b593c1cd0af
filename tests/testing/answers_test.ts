// What TestServer answers to requests: bad paths (reference, 8), multi (11), rights of reads (9.4, 9.7), and what only some versions know (15).
// On virtual time, with a client that says exactly what it is told to.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Reader } from "../../protocol/jute.ts";
import * as ops from "../../protocol/operations.ts";
import * as r from "../../protocol/records.ts";
import { framed } from "../protocol/wire.ts";
import { type Raw, requestFrame, Stage } from "./raw.ts";

const open = [{ perms: 31, scheme: "world", id: "anyone" }];

function create(raw: Raw, path: string, acl = open) {
  return raw.ask(ops.create, { path, data: null, acl, flags: 0 });
}

/** The errors of create, exists, getData, delete and setData for one path. */
async function errors(raw: Raw, path: string): Promise<unknown[]> {
  return [
    await create(raw, path),
    await raw.ask(ops.exists, { path, watch: false }),
    await raw.ask(ops.getData, { path, watch: false }),
    await raw.ask(ops.remove, { path, version: -1 }),
    await raw.ask(ops.setData, { path, data: null, version: -1 }),
  ];
}

describe("TestServer, asked for a bad path", () => {
  const relative = [-8, -101, -101, -101, -8];
  const paths: [path: string, errors: number[]][] = [
    ["", [-8, 0, 0, -8, -8]],
    ["/", [-110, 0, 0, -8, 0]],
    ["abc", [-8, -101, -101, -8, -8]],
    ["/sem/", relative],
    ["/sem//x", [-101, -101, -101, -101, -8]],
    ["/sem/.", relative],
    ["/sem/..", relative],
    ["/sem/a\u0001", relative],
    ["/sem/a\u0080", relative],
    ["/sem/a\ue000", relative],
    ["/sem/a\0", [-8, -8, -101, -8, -8]],
  ];

  for (const version of ["3.4", "3.8", "3.9"] as const) {
    for (const [path, expected] of paths) {
      it(`${JSON.stringify(path)} on ${version}: ${expected}`, async () => {
        await using stage = await Stage.start({ version });
        const raw = await stage.attached();
        await create(raw, "/sem");

        const result = await errors(raw, path);

        assertEquals(result, expected);
      });
    }
  }

  for (
    const [version, expected] of [
      ["3.4", [0, 0, 0, 0, -101]],
      ["3.8", relative],
      ["3.9", relative],
    ] as const
  ) {
    it(`U+007F and U+FFF0 on ${version}: ${expected}`, async () => {
      await using stage = await Stage.start({ version });
      const raw = await stage.attached();
      await create(raw, "/sem");

      const results = [
        await errors(raw, "/sem/a\u007f"),
        await errors(raw, "/sem/a\ufff0"),
      ];

      assertEquals(results, [[...expected], [...expected]]);
    });
  }

  it("null is no path, but setData(null), -8 on a real server, is not told apart", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    const nothing = new Uint8Array([0xff, 0xff, 0xff, 0xff]);
    const codes = [ops.create, ops.exists, ops.getData, ops.remove, ops.setData]
      .map(({ code }) => code);

    const results: number[] = [];
    for (const type of codes) {
      const [frame] = await raw.say(framed((to) => {
        r.RequestHeader.write(to, { xid: 1, type });
        for (const byte of nothing) to.byte(byte);
      }));
      results.push(headerOf(frame).err);
    }

    assertEquals(results, [-5, -5, -5, -5, -5]);
  });
});

function headerOf(frame: Uint8Array): ReturnType<typeof r.ReplyHeader.read> {
  return r.ReplyHeader.read(new Reader(frame.subarray(4)));
}

/** The header's error, and the types and errors of the results. */
async function together(
  raw: Raw,
  parts: ops.Part[],
  op = ops.multi,
): Promise<[err: number, results: string]> {
  const [frame] = await raw.say(requestFrame(50, op, parts));
  const reader = new Reader(frame.subarray(4));
  const { err } = r.ReplyHeader.read(reader);
  if (reader.left === 0) return [err, "nothing"];
  const results = op.reply.read(reader);
  return [err, results.map(({ type, err }) => `${type}:${err}`).join(" ")];
}

function part<Q>(operation: ops.Operation<Q>, request: Q): ops.Part {
  return { operation: operation as ops.Operation, request };
}

const make = (path: string, op = ops.create as ops.Operation, flags = 0) =>
  part(op, { path, data: null, acl: open, flags, ttl: 1000n });
const check = part(ops.check, { path: "/", version: -1 });
const read = part(ops.getData, { path: "/", watch: false });
const list = part(ops.getChildren, { path: "/", watch: false });

describe("TestServer, asked for several things at once", () => {
  it("answers each write under its own type, create2 by version", async () => {
    const parts = [
      make("/a"),
      make("/b", ops.create2 as ops.Operation),
      make("/c", ops.createContainer as ops.Operation, 4),
      make("/d", ops.createTtl as ops.Operation, 5),
      part(ops.setData, { path: "/a", data: null, version: -1 }),
      check,
      part(ops.remove, { path: "/a", version: -1 }),
    ];
    const results: unknown[] = [];
    for (const version of ["3.8", "3.9"] as const) {
      await using stage = await Stage.start({ version });
      results.push(await together(await stage.attached(), parts));
    }

    assertEquals(results, [
      [0, "1:0 1:0 15:0 15:0 5:0 13:0 2:0"],
      [0, "1:0 15:0 15:0 15:0 5:0 13:0 2:0"],
    ]);
  });

  it("does nothing if one cannot be, and says which", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();

    const result = await together(raw, [make("/a"), make("/no/x"), make("/b")]);

    assertEquals(result, [0, "-1:0 -1:-101 -1:-2"]);
    assertEquals(stage.server.paths(), []);
  });

  const refused: [string, ops.Part[], ops.Operation<readonly ops.Part[]>][] = [
    ["a multi that reads", [make("/a"), read], ops.multi],
    ["a multi that only reads", [list], ops.multi],
    ["a multiRead that writes", [read, make("/a")], ops.multiRead],
  ];
  for (const [what, parts, op] of refused) {
    it(`refuses ${what} as a whole with -5`, async () => {
      await using stage = await Stage.start();
      const raw = await stage.attached();

      const result = await together(raw, parts, op as typeof ops.multi);

      assertEquals(result, [-5, "nothing"]);
      assertEquals([stage.server.paths(), raw.isClosed], [[], false]);
    });
  }

  it("a multiRead of writes fails with no results yet", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();

    const result = await together(raw, [check, make("/a")], ops.multiRead);

    assertEquals(result, [-5, ""]);
    assertEquals(stage.server.paths(), []);
  });

  it("3.4 knows no create2 in a multi", async () => {
    await using stage = await Stage.start({ version: "3.4" });
    const raw = await stage.attached();

    const result = await together(raw, [
      make("/a", ops.create2 as ops.Operation),
    ]);

    assertEquals(result, [-5, "nothing"]);
  });

  it("a multiRead answers what can be read, and why the rest cannot", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    const missing = part(ops.getData, { path: "/no", watch: false });

    const result = await together(raw, [read, missing, list], ops.multiRead);

    assertEquals(result, [0, "4:0 -1:-101 8:0"]);
  });

  it("several writes and a failed one use one zxid each time", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    await together(raw, [make("/a"), make("/b")]);
    await together(raw, [make("/a"), make("/c")]);
    await together(raw, []);

    await create(raw, "/last");

    const zxids = ["/a", "/b", "/last"].map((path) =>
      stage.server.znode(path)!.stat.czxid
    );
    assertEquals(zxids, [2n, 2n, 5n]);
  });
});

describe("TestServer, asked by who may not", () => {
  const closed = [{ perms: 0, scheme: "world", id: "anyone" }];

  for (
    const [version, exists] of [["3.4", 0], ["3.8", 0], ["3.9", -102]] as const
  ) {
    it(`refuses reads without READ; exists() on ${version}: ${exists}`, async () => {
      await using stage = await Stage.start({ version });
      const raw = await stage.attached();
      await create(raw, "/shut", closed);
      const path = "/shut", watch = true;

      const results = [
        await raw.ask(ops.getData, { path, watch }),
        await raw.ask(ops.getChildren, { path, watch }),
        await raw.ask(ops.getChildren2, { path, watch }),
        await raw.ask(ops.getAcl, { path }),
        await raw.ask(ops.exists, { path, watch }),
      ];

      assertEquals(results, [-102, -102, -102, -102, exists]);
      assertEquals(stage.server.watches(), exists === 0 ? 1 : 0);
    });
  }

  it("lets in who proves to be allowed, from then on", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    const id = "user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY=";
    await create(raw, "/mine", [{ perms: 31, scheme: "digest", id }]);
    const read = { path: "/mine", watch: false };
    const auth = new TextEncoder().encode("user:password");

    const before = await raw.ask(ops.getData, read);
    await raw.say(
      requestFrame(-4, ops.auth, { type: 0, scheme: "digest", auth }),
    );
    const after = await raw.ask(ops.getData, read);

    assertEquals([before, after], [-102, 0]);
  });

  it("getACL needs READ or ADMIN", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    for (const perms of [1, 16, 14]) {
      await create(raw, `/${perms}`, [{ ...open[0], perms }]);
    }

    const results: unknown[] = [];
    for (const path of ["/1", "/16", "/14"]) {
      results.push(await raw.ask(ops.getAcl, { path }));
    }

    assertEquals(results, [0, 0, -102]);
  });
});

/** The body of the reply to a read. */
async function bodyOf<Q, R>(
  raw: Raw,
  op: ops.Operation<Q, R>,
  request: Q,
): Promise<R> {
  const [frame] = await raw.say(requestFrame(60, op, request));
  const reader = new Reader(frame.subarray(4));
  r.ReplyHeader.read(reader);
  return op.reply.read(reader);
}

describe("TestServer, asked for lists and counts", () => {
  it("getEphemerals gives one's own by the beginning of their paths, all for /", async () => {
    await using stage = await Stage.start();
    const [raw, other] = [await stage.attached(), await stage.attached()];
    for (const path of ["/a", "/ab", "/b"]) {
      await raw.ask(ops.create, { path, data: null, acl: open, flags: 1 });
    }
    await other.ask(ops.create, {
      path: "/c",
      data: null,
      acl: open,
      flags: 1,
    });

    const lists: string[] = [];
    for (const prefixPath of ["/", "", "/a", "/ab", "/x"]) {
      const body = await bodyOf(raw, ops.getEphemerals, { prefixPath });
      lists.push([...body.ephemerals].sort().join());
    }

    assertEquals(lists, ["/a,/ab,/b", "/a,/ab,/b", "/a,/ab", "/ab", ""]);
  });

  it("getAllChildrenNumber counts all that is below", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    for (const path of ["/a", "/a/b", "/a/b/c", "/ab"]) await create(raw, path);

    const counts: number[] = [];
    for (const path of ["/a", "/a/b/c", "/"]) {
      const body = await bodyOf(raw, ops.getAllChildrenNumber, { path });
      counts.push(body.totalNumber);
    }

    assertEquals(counts, [2, 0, 7]);
  });

  it("getChildren lists all, in an order that is not always the same", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    const names = ["a", "b", "c", "d", "e"];
    await create(raw, "/p");
    for (const name of names) await create(raw, `/p/${name}`);

    const orders = new Set<string>();
    const request = { path: "/p", watch: false };
    for (let i = 0; i < 20; i++) {
      const { children } = await bodyOf(raw, ops.getChildren, request);
      assertEquals([...children].sort(), names);
      orders.add(children.join());
    }

    assertEquals(orders.size > 5, true);
  });
});

describe("TestServer, asked for what a version does not know", () => {
  const since: [ops.Operation, string][] = ops.operations
    .filter(({ since }) => since > "3.4").map((op) => [op, op.since]);

  it("3.4 answers -6 and hangs up, for all that came later", async () => {
    await using stage = await Stage.start({ version: "3.4" });

    for (const [{ name, code }, version] of since) {
      const raw = await stage.attached();
      const [frame] = await raw.say(
        framed((to) => r.RequestHeader.write(to, { xid: 7, type: code })),
      );
      const { xid, zxid, err } = headerOf(frame);
      assertEquals(
        [name, version, xid, zxid, err, raw.isClosed],
        [name, version, 7, -1n, -6, true],
      );
    }
  });

  it("a check alone is answered but by 3.9", async () => {
    const request = { path: "/", version: 5 };
    const results: unknown[] = [];
    for (const version of ["3.4", "3.8", "3.9"] as const) {
      await using stage = await Stage.start({ version });
      const raw = await stage.attached();
      results.push(await raw.ask(ops.check, request), raw.isClosed);
    }

    assertEquals(results, [-103, false, -103, false, -6, true]);
  });

  it("types of watches above 3 are known by 3.9 only", async () => {
    const results: unknown[] = [];
    for (const version of ["3.8", "3.9"] as const) {
      await using stage = await Stage.start({ version });
      const raw = await stage.attached();
      for (const type of [0, 1, 3, 4, 5, 6]) {
        results.push(await raw.ask(ops.checkWatches, { path: "/", type }));
      }
    }

    assertEquals(results, [
      ...[-5, -121, -121, -5, -5, -5],
      ...[-5, -121, -121, -121, -121, -5],
    ]);
  });

  it("an addWatch of another mode is refused", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();

    const result = await raw.ask(ops.addWatch, { path: "/", mode: 2 });

    assertEquals([result, stage.server.watches()], [-5, 0]);
  });
});
