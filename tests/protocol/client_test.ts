// What each method of a client sends and answers, with a chroot in front of every path.
// A server in memory, virtual time: see virtual.ts.

import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Client } from "../../protocol/api.ts";
import { MultiError, ServerError } from "../../protocol/errors.ts";
import type { FakeEnsemble } from "./virtual.ts";
import { type Asked, bytes, statOf } from "./wire.ts";
import { inWorld } from "./world.ts";

const stat = statOf({ czxid: 7n, version: 3 });
const acl = [{ perms: 31, scheme: "world", id: "anyone" }];

function last(ensemble: FakeEnsemble): Asked {
  return ensemble.server.line.asked.at(-1)!;
}

describe("Client, each method under the chroot /app", () => {
  const cases: Array<
    [
      string,
      (client: Client) => Promise<unknown>,
      string,
      unknown,
      unknown,
      unknown,
    ]
  > = [
    [
      "create()",
      (c) => c.create("/a", "x"),
      "create",
      { path: "/app/a", data: bytes("x"), acl, flags: 0 },
      { path: "/app/a" },
      { path: "/a", zxid: 50n },
    ],
    [
      "create() of a sequential",
      (c) => c.create("/a-", null, { mode: "ephemeral-sequential" }),
      "create",
      { path: "/app/a-", data: null, acl, flags: 3 },
      { path: "/app/a-0000000001" },
      { path: "/a-0000000001", zxid: 50n },
    ],
    [
      "create() of a container",
      (c) => c.create("/a", "", { mode: "container" }),
      "createContainer",
      { path: "/app/a", data: bytes(""), acl, flags: 4 },
      { path: "/app/a", stat },
      { path: "/a", zxid: 50n },
    ],
    [
      "create2()",
      (c) => c.create2("/a"),
      "create2",
      { path: "/app/a", data: bytes(""), acl, flags: 0 },
      { path: "/app/a", stat },
      { path: "/a", zxid: 50n, stat },
    ],
    [
      "create2() with a ttl",
      (c) => c.create2("/a", "", { mode: "persistent-ttl", ttl: 5 }),
      "createTTL",
      { path: "/app/a", data: bytes(""), acl, flags: 5, ttl: 5n },
      { path: "/app/a", stat },
      { path: "/a", zxid: 50n, stat },
    ],
    [
      "delete()",
      (c) => c.delete("/a", { version: 2 }),
      "delete",
      { path: "/app/a", version: 2 },
      null,
      undefined,
    ],
    [
      "exists()",
      (c) => c.exists("/a"),
      "exists",
      { path: "/app/a", watch: false },
      { stat },
      stat,
    ],
    [
      "exists() of a missing one",
      (c) => c.exists("/a"),
      "exists",
      { path: "/app/a", watch: false },
      -101,
      null,
    ],
    [
      "getData()",
      (c) => c.getData("/"),
      "getData",
      { path: "/app", watch: false },
      { data: null, stat },
      { data: null, stat },
    ],
    [
      "setData()",
      (c) => c.setData("/a", "ü", { version: 0 }),
      "setData",
      { path: "/app/a", data: bytes("ü"), version: 0 },
      { stat },
      stat,
    ],
    [
      "getChildren()",
      (c) => c.getChildren("/"),
      "getChildren",
      { path: "/app", watch: false },
      { children: ["b", "a"] },
      ["b", "a"],
    ],
    [
      "getChildren2()",
      (c) => c.getChildren2("/a"),
      "getChildren2",
      { path: "/app/a", watch: false },
      { children: [], stat },
      { children: [], stat },
    ],
    ["getAcl()", (c) => c.getAcl("/a"), "getACL", { path: "/app/a" }, {
      acl,
      stat,
    }, { acl, stat }],
    [
      "setAcl()",
      (c) => c.setAcl("/a", acl),
      "setACL",
      { path: "/app/a", acl, version: -1 },
      { stat },
      stat,
    ],
    [
      "sync()",
      (c) => c.sync("/"),
      "sync",
      { path: "/app" },
      { path: "/app" },
      undefined,
    ],
    [
      "addWatch()",
      (c) => c.addWatch("/a", () => {}),
      "addWatch",
      { path: "/app/a", mode: 0 },
      { err: 0 },
      undefined,
    ],
    [
      "addWatch() of a subtree",
      (c) => c.addWatch("/", () => {}, { mode: "persistent-recursive" }),
      "addWatch",
      { path: "/app", mode: 1 },
      { err: 0 },
      undefined,
    ],
    [
      "removeWatches()",
      (c) => c.removeWatches("/a"),
      "removeWatches",
      { path: "/app/a", type: 3 },
      null,
      undefined,
    ],
    [
      "checkWatches()",
      (c) => c.checkWatches("/a", { type: "data" }),
      "checkWatches",
      { path: "/app/a", type: 2 },
      null,
      true,
    ],
    [
      "checkWatches() where there is none",
      (c) => c.checkWatches("/a"),
      "checkWatches",
      { path: "/app/a", type: 3 },
      -121,
      false,
    ],
    [
      "getEphemerals()",
      (c) => c.getEphemerals(),
      "getEphemerals",
      { prefixPath: "/app" },
      { ephemerals: ["/app/a", "/application/b", "/app"] },
      ["/a", "/"],
    ],
    [
      "getEphemerals() of a prefix that is no path",
      (c) => c.getEphemerals("/a/"),
      "getEphemerals",
      { prefixPath: "/app/a/" },
      { ephemerals: ["/app/a/b"] },
      ["/a/b"],
    ],
    [
      "getAllChildrenNumber()",
      (c) => c.getAllChildrenNumber("/"),
      "getAllChildrenNumber",
      { path: "/app" },
      { totalNumber: 14 },
      14,
    ],
    ["whoAmI()", (c) => c.whoAmI(), "whoAmI", null, {
      clientInfo: [{ authScheme: "ip", user: null }],
    }, [{ authScheme: "ip", user: null }]],
    [
      "getConfig(), which lies outside",
      (c) => c.getConfig(),
      "getData",
      { path: "/zookeeper/config", watch: false },
      { data: null, stat },
      { data: null, stat },
    ],
    [
      "reconfig()",
      (c) => c.reconfig({ joining: "server.4=zk4" }),
      "reconfig",
      {
        joiningServers: "server.4=zk4",
        leavingServers: null,
        newMembers: null,
        curConfigId: -1n,
      },
      { data: null, stat },
      { data: null, stat },
    ],
  ];
  for (const [name, call, op, body, reply, result] of cases) {
    it(
      `${name} asks ${op} and answers what the server said`,
      inWorld(1, async ({ ensemble, time, connected }) => {
        const client = await connected({ chroot: "/app" });
        ensemble.server.respond({ [op]: reply });

        const answered = await time.until(call(client));

        assertEquals(
          [last(ensemble).op, last(ensemble).body, answered],
          [op, body, result] as never,
        );
      }),
    );
  }

  it(
    "multi() sends all in one request and answers with the user's paths",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({}, "zk0/app");
      ensemble.server.respond({
        multi: [{ type: 1, err: 0, reply: { path: "/app/a-7" } }, {
          type: 2,
          err: 0,
          reply: null,
        }],
      });

      const done = await time.until(
        client.multi([{ op: "create", path: "/a-" }, {
          op: "delete",
          path: "/b",
        }]),
      );

      assertEquals(done, {
        zxid: 50n,
        results: [{ op: "create", path: "/a-7" }, { op: "delete" }],
      });
    }),
  );

  it(
    "multi() rejects with a MultiError although the header has no error",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({ chroot: "/app" });
      ensemble.server.respond({
        multi: [{ type: -1, err: -110, reply: null }],
      });

      const error = await assertRejects(
        () => time.until(client.multi([{ op: "create", path: "/a" }])),
        MultiError,
      );

      assertEquals([error.code, error.path, error.zxid, client.session.state], [
        "NodeExists",
        "/a",
        50n,
        "connected",
      ]);
    }),
  );

  it(
    "a reply that makes no sense rejects its call and costs the connection, once",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.respond({ multi: [] });

      const error = await assertRejects(() =>
        time.until(client.multi([{ op: "delete", path: "/a" }]))
      );
      ensemble.server.answer = (asked) => ensemble.answer(asked);
      await time.until(client.sync("/"));

      assertEquals([error.name, ensemble.dials.length], ["ProtocolError", 2]);
    }),
  );

  it(
    "errors name the path as the caller wrote it",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({ chroot: "/app" });
      ensemble.server.respond({ getData: -101 });

      const error = await assertRejects(
        () => time.until(client.getData("/a")),
        ServerError,
      );

      assertEquals([error.message, error.path, error.op], [
        "Cannot getData /a: NoNode (-101)",
        "/a",
        "getData",
      ]);
    }),
  );
});
