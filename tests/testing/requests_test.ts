// What no client of ours would send: nulls, flags that mean nothing, requests cut short. Measured on 3.8.0 and 3.9.3.
// Knows the requests and what came back; how a server comes to it is up to the server.
// Run by the suite. Random ones, against real servers: tests/differential.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Reader } from "../../protocol/jute.ts";
import * as ops from "../../protocol/operations.ts";
import { ReplyHeader } from "../../protocol/records.ts";
import type { ServerVersion } from "../../testing/profiles.ts";
import { type Body, encoded, type Request } from "../differential/commands.ts";
import { Stage } from "./raw.ts";

const open = [{ perms: 31, scheme: "world", id: "anyone" }];
const place = { root: "", base: 0n };

function create(op: string, more: Body = {}): Request {
  const ttl = op === "createTTL" ? { ttl: 1000n } : {};
  const body = { path: "/a", data: null, acl: open, flags: 0, ...ttl, ...more };
  return { op, body };
}

function multi(...parts: Request[]): Request {
  return { op: "multi", body: null, parts };
}

/**
 * What a request is answered, and which zxids that answer and the next write
 * have, counted from the last one: `-5 [] +0, +2`.
 */
async function answered(
  version: ServerVersion,
  request: Request,
): Promise<string> {
  await using stage = await Stage.start({ version });
  const raw = await stage.attached();
  const frames = await raw.say(
    encoded(request, 1, place),
    encoded(create("create", { path: "/next" }), 2, place),
  );
  const [first, next] = frames.map((frame) => new Reader(frame.subarray(4)));
  const { err, zxid } = ReplyHeader.read(first);
  const results = first.left === 0 || request.parts === undefined
    ? ""
    : `[${
      ops.multi.reply.read(first).map(({ type, err }) => `${type}:${err}`)
        .join(" ")
    }] `;
  // The session has the first zxid.
  const after = ReplyHeader.read(next).zxid - 1n;
  return `${err} ${results}+${zxid - 1n}, +${after}`;
}

type Row = [what: string, request: Request, in38: string, in39?: string];

const alone: Row[] = [
  ["cut short", { ...create("create"), cut: 5 }, "-5 +1, +2", "-5 +0, +1"],
  ["on null: create", create("create", { path: null }), "-5 +1, +2"],
  [
    "on null: delete",
    { op: "delete", body: { path: null, version: -1 } },
    "-5 +1, +2",
  ],
  [
    "on null: setData",
    { op: "setData", body: { path: null, data: null, version: -1 } },
    "-8 +1, +2",
  ],
  ["on null: sync", { op: "sync", body: { path: null } }, "0 +0, +1"],
  [
    "on null: getData",
    { op: "getData", body: { path: null, watch: false } },
    "-5 +0, +1",
  ],
  ["with a null ACL", create("create", { acl: null }), "-114 +1, +2"],
  ["of other flags: createTTL", create("createTTL"), "-8 +1, +2"],
];

const inMulti: Row[] = [
  ["cut short", { ...multi(create("create")), cut: 12 }, "-5 +1, +2"],
  [
    "on null",
    multi(create("create"), create("create", { path: null })),
    "-5 [] +0, +2",
    "-5 +1, +2",
  ],
  [
    "with a null ACL",
    multi(create("create", { acl: null })),
    "0 [-1:-114] +1, +2",
    "-5 +0, +1",
  ],
  [
    "with an empty ACL",
    multi(create("create", { acl: [] })),
    "0 [-1:-114] +1, +2",
  ],
  [
    "with flags that mean nothing",
    multi(create("create", { flags: 9 })),
    "0 [-1:-8] +1, +2",
    "-5 +1, +2",
  ],
  [
    "with such flags: createTTL",
    multi(create("createTTL", { flags: 9 })),
    "0 [-1:-8] +1, +2",
  ],
  ["with a TTL's flags", multi(create("create2", { flags: 5 })), "-5 +1, +2"],
  [
    "with a TTL's flags behind one that fails",
    multi(create("create", { path: "/no/x" }), create("create", { flags: 6 })),
    "0 [-1:-101 -1:-2] +1, +2",
    "-5 +1, +2",
  ],
  [
    "with a container's flags",
    multi(create("create", { flags: 4 })),
    "0 [15:0] +1, +2",
  ],
  [
    "for a container, of other flags",
    multi(create("createContainer")),
    "0 [1:0] +1, +2",
    "0 [15:0] +1, +2",
  ],
  [
    "for a TTL node, of other flags",
    multi(create("createTTL")),
    "0 [1:0] +1, +2",
  ],
];

describe("TestServer, asked what no client of ours asks", () => {
  const rows = [
    ...alone.map((row) => ["a request", row] as const),
    ...inMulti.map((row) => ["a multi", row] as const),
  ];
  for (const [sort, [what, request, in38, in39 = in38]] of rows) {
    it(`answers ${sort} ${what} as 3.8.0 and 3.9.3 do`, async () => {
      const answers = [
        await answered("3.8", request),
        await answered("3.9", request),
      ];

      assertEquals(answers, [in38, in39]);
    });
  }

  const older: Row[] = [
    [
      "with flags that mean nothing, below nothing",
      create("create", { path: "/no/x", flags: 9 }),
      "-101 +1, +2",
    ],
    ["with a container's flags", create("create", { flags: 4 }), "-8 +1, +2"],
    [
      "with a TTL's flags in a multi",
      multi(create("create", { flags: 5 })),
      "0 [-1:-8] +1, +2",
    ],
    ["with a null ACL", create("create", { acl: null }), "-5 +1, +2"],
    [
      "on a znode that later versions have: delete",
      { op: "delete", body: { path: "/zookeeper/config", version: -1 } },
      "-101 +1, +2",
    ],
  ];
  for (const [what, request, in34] of older) {
    it(`answers a request ${what} as 3.4.13 does`, async () => {
      assertEquals(await answered("3.4", request), in34);
    });
  }

  it("tells of the watches before the list that is null", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    const body = {
      relativeZxid: 0,
      dataWatches: ["/gone"],
      existWatches: null,
      childWatches: ["/gone"],
    };

    const frames = await raw.say(encoded({ op: "setWatches", body }, 1, place));

    const headers = frames
      .map((frame) => ReplyHeader.read(new Reader(frame.subarray(4))));
    assertEquals(headers.map(({ xid, err }) => [xid, err]), [[-1, 0], [1, -5]]);
  });

  it("writes the halves of a surrogate pair one by one", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    const body = { path: "/\u{1f512}" };

    const [frame] = await raw.say(encoded({ op: "sync", body }, 1, place));

    const path = [...frame.subarray(24)].map((byte) => byte.toString(16));
    assertEquals(path.join(""), "2feda0bdedb492");
  });

  it("3.8 does not answer a check that holds, and goes on", async () => {
    await using stage = await Stage.start({ version: "3.8" });
    const raw = await stage.attached();
    const check = { op: "check", body: { path: "/", version: -1 } };

    const frames = await raw.say(
      encoded(check, 1, place),
      encoded({ op: "ping", body: null }, -2, place),
    );

    assertEquals(
      frames.map((frame) => ReplyHeader.read(new Reader(frame.subarray(4)))),
      [{ xid: -2, zxid: 2n, err: 0 }],
    );
  });
});
