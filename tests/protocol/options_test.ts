// Arguments that cannot be: of connect() and of every call, refused before a byte is sent.
// A server in memory, virtual time: see virtual.ts.

import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Client, ConnectOptions } from "../../protocol/api.ts";
import { connect } from "../../protocol/client.ts";
import { FakeEnsemble } from "./virtual.ts";
import { inWorld } from "./world.ts";

describe("connect(), options that cannot be", () => {
  const cases: Array<
    [
      string,
      string | string[],
      ConnectOptions,
      typeof TypeError | typeof RangeError,
    ]
  > = [
    ["no server", "", {}, TypeError],
    ["a bad port", "zk:0", {}, TypeError],
    ["a relative chroot", "zk", { chroot: "app" }, TypeError],
    ["two chroots", "zk/a", { chroot: "/b" }, TypeError],
    ["a session timeout of 0", "zk", { sessionTimeout: 0 }, RangeError],
    ["a session timeout of -1", "zk", { sessionTimeout: -1 }, RangeError],
    ["a session timeout of 1.5", "zk", { sessionTimeout: 1.5 }, RangeError],
    ["a session timeout of 2^31 (CURATOR-262)", "zk", {
      sessionTimeout: 2 ** 31,
    }, RangeError],
    ["a session timeout of NaN", "zk", { sessionTimeout: NaN }, RangeError],
    ["a session timeout as text", "zk", {
      sessionTimeout: "9000" as unknown as number,
    }, RangeError],
    ["a connect timeout of 0", "zk", { connectTimeout: 0 }, RangeError],
    [
      "a connect timeout of Infinity",
      "zk",
      { connectTimeout: Infinity },
      RangeError,
    ],
    ["a packet limit of 0", "zk", { maxPacket: 0 }, RangeError],
    ["a packet limit of 2^31", "zk", { maxPacket: 2 ** 31 }, RangeError],
    [
      "a credential without a scheme",
      "zk",
      { auth: [{ auth: "x" } as never] },
      TypeError,
    ],
    ["a credential that is null", "zk", { auth: [null as never] }, TypeError],
    ["a credential of a number", "zk", {
      auth: [{ scheme: "digest", auth: 7 as never }],
    }, TypeError],
    ["a credential without a secret", "zk", {
      auth: [{ scheme: "digest", auth: null as never }],
    }, TypeError],
    ["TLS as text", "zk", { tls: "yes" as never }, TypeError],
    ["credentials that are no list", "zk", {
      auth: { scheme: "digest", auth: "a:b" } as never,
    }, TypeError],
    ["SASL that is null", "zk", { sasl: null as never }, TypeError],
    ["SASL without a user", "zk", {
      sasl: { user: "", password: "x" },
    }, TypeError],
    ["SASL without a password", "zk", {
      sasl: { user: "anna" } as never,
    }, TypeError],
    [
      "a transport that is no function",
      "zk",
      { transport: "tcp" as never },
      TypeError,
    ],
  ];
  for (const [what, servers, options, type] of cases) {
    it(`${what} rejects with a ${type.name} before anything is dialled`, async () => {
      const ensemble = new FakeEnsemble();

      const outcome = connect(servers, { ...ensemble.world, ...options });
      const error = await ensemble.time.until(
        outcome.then(() => undefined, (error: Error) => error),
      );

      assertEquals(
        [error instanceof type, ensemble.dials.length],
        [true, 0],
        `${error}`,
      );
    });
  }
});

describe("Client, arguments that cannot be", () => {
  const cases: Array<
    [
      string,
      (client: Client) => Promise<unknown>,
      typeof TypeError | typeof RangeError,
    ]
  > = [
    ["create() of a relative path", (c) => c.create("a"), TypeError],
    [
      "create() of no path",
      (c) => c.create(undefined as unknown as string),
      TypeError,
    ],
    [
      "create() of an unknown mode",
      (c) => c.create("/a", "", { mode: "x" as "ephemeral" }),
      TypeError,
    ],
    [
      "create() of a number",
      (c) => c.create("/a", 7 as unknown as string),
      TypeError,
    ],
    [
      "create() with a ttl for an ephemeral",
      (c) => c.create("/a", "", { mode: "ephemeral", ttl: 1 }),
      TypeError,
    ],
    [
      "create() with half an ACL",
      (c) => c.create("/a", "", { acl: [{ perms: 1 } as never] }),
      TypeError,
    ],
    [
      "setAcl() without a list",
      (c) => c.setAcl("/a", null as never),
      TypeError,
    ],
    [
      "delete() of a version above 32 bits",
      (c) => c.delete("/a", { version: 2 ** 40 }),
      RangeError,
    ],
    ["exists() of a trailing slash", (c) => c.exists("/a/"), TypeError],
    ["getChildren() of a NUL", (c) => c.getChildren("/\0"), TypeError],
    [
      "multi() with a bad path inside",
      (c) => c.multi([{ op: "check", path: "/a" }, { op: "check", path: "b" }]),
      TypeError,
    ],
    ["multi() of no list", (c) => c.multi(undefined as never), TypeError],
    [
      "multiRead() of an unknown read",
      (c) => c.multiRead([{ op: "exists" as "getData", path: "/a" }]),
      TypeError,
    ],
    [
      "addWatch() of an unknown mode",
      (c) => c.addWatch("/a", () => {}, { mode: "x" as "persistent" }),
      TypeError,
    ],
    [
      "addWatch() without a function",
      (c) => c.addWatch("/a", undefined as never),
      TypeError,
    ],
    [
      "exists() with watch: true, as other clients have it",
      (c) => c.exists("/a", { watch: true as never }),
      TypeError,
    ],
    [
      "removeWatches() of an unknown type",
      (c) => c.removeWatches("/a", { type: "x" as "any" }),
      TypeError,
    ],
    [
      "getEphemerals() of a relative prefix",
      (c) => c.getEphemerals("a"),
      TypeError,
    ],
    ["ensurePath() of a relative path", (c) => c.ensurePath("a"), TypeError],
    [
      "setData() of 1 MiB",
      (c) => c.setData("/a", new Uint8Array(2 ** 20)),
      RangeError,
    ],
    [
      "create() of 1 MiB",
      (c) => c.create("/a", new Uint8Array(2 ** 20)),
      RangeError,
    ],
    [
      "multi() of 1 MiB in parts",
      (c) =>
        c.multi(
          ["/a", "/b"].map((path) => ({
            op: "setData",
            path,
            data: new Uint8Array(2 ** 19),
          })),
        ),
      RangeError,
    ],
  ];
  for (const [what, call, type] of cases) {
    it(
      `${what} rejects with a ${type.name}, and nothing is sent`,
      inWorld(1, async ({ ensemble, time, connected }) => {
        const client = await connected();
        const { line } = ensemble.server;
        const before = line.writes.length;

        await assertRejects(() => time.until(call(client)), type);
        await time.pass(10);

        assertEquals([line.writes.length, client.session.state], [
          before,
          "connected",
        ]);
      }),
    );
  }

  it(
    "one too large in a turn does not spoil the others",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();

      const before = client.sync("/");
      const large = assertRejects(
        () => client.setData("/a", new Uint8Array(2 ** 20)),
        RangeError,
      );
      const after = client.delete("/b");
      await time.until(Promise.all([before, large, after]));

      assertEquals(ensemble.server.asked, ["sync", "delete"]);
    }),
  );
});
