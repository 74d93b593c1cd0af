// SASL on real and embedded servers, and what those answer that demand it, or do not know it.
// Starts its servers; they end with this process.

import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  AuthFailedError,
  connect,
  ConnectionLossError,
  permissions,
} from "../../mod.ts";
import { FaultProxy, TestServer } from "../../testing/mod.ts";
import { type Target, targets } from "../targets.ts";
import { assertRefused } from "../suites/tools.ts";
import { saslSuite } from "./sasl_suite.ts";
import { embeddedSasl, realSasl, type SaslTarget } from "./targets.ts";

const anna = { user: "anna", password: "secret" };

const free = [
  await embeddedSasl("3.4"),
  await embeddedSasl("3.8"),
  await embeddedSasl("3.9"),
  ...await realSasl(),
];
const required = [
  await embeddedSasl("3.8", "required"),
  await embeddedSasl("3.9", "required"),
  ...await realSasl("required"),
];

for (const target of [...free, ...required]) {
  describe(target.name, () => saslSuite(target));
}
for (const target of required) {
  describe(target.name, () => demandTests(target));
}
for (const target of await targets()) {
  describe(target.name, () => plainTests(target));
}

/** Connects through a proxy, and counts. */
async function counted(
  target: Target,
  use: (servers: string) => Promise<void>,
): Promise<number> {
  const proxy = await FaultProxy.start(target.servers);
  try {
    await use(proxy.servers);
    return proxy.count("request", "connect");
  } finally {
    await proxy.close();
  }
}

function demandTests(target: SaslTarget): void {
  const without = [
    ["without any credential", undefined],
    ["with a credential of another scheme", [{
      scheme: "digest",
      auth: "anna:secret",
    }]],
  ] as const;
  for (const [what, auth] of without) {
    it(`A client ${what} is finished by its first call, and does not try again`, async () => {
      const connections = await counted(target, async (servers) => {
        const zk = await connect(servers, { auth });

        const error = await assertRejects(
          () => zk.exists("/"),
          AuthFailedError,
        );

        assertEquals([zk.session.state, zk.signal.reason === error], [
          "auth-failed",
          true,
        ]);
        await zk.close();
      });

      assertEquals(connections, 1);
    });
  }
}

function plainTests(target: Target): void {
  it("ConnectOptions.sasl without users on the server: connect() rejects at once", async () => {
    const connections = await counted(target, async (servers) => {
      await assertRejects(
        async () => await (await connect(servers, { sasl: anna })).close(),
        AuthFailedError,
      );
    });

    assertEquals(connections, 1);
  });
}

describe("TestServer, option sasl", () => {
  it("absent: answers null, as a real one does", async () => {
    await using server = await TestServer.start();

    await assertRejects(
      () => connect(server.servers, { sasl: anna }),
      AuthFailedError,
      "goes on without it",
    );
  });

  it("absent: no ACL may have the scheme sasl", async () => {
    await using server = await TestServer.start();
    await using zk = await connect(server.servers);
    const acl = [{ perms: permissions.all, scheme: "sasl", id: "anna" }];

    await assertRefused(() => zk.create("/a", "", { acl }), "InvalidAcl");
  });

  it("and a rule that never answers: connect() gives up when its time is up", async () => {
    await using server = await TestServer.start({ sasl: { anna: "secret" } });
    server.rule = ({ op }) => op === "sasl" ? "ignore" : undefined;

    await assertRejects(
      () => connect(server.servers, { sasl: anna, connectTimeout: 300 }),
      ConnectionLossError,
    );
  });

  it("and a refusal by refuse(): connect() rejects with an AuthFailedError", async () => {
    await using server = await TestServer.start({ sasl: { anna: "secret" } });
    server.refuse("sasl", "AuthFailed");

    await assertRejects(
      () => connect(server.servers, { sasl: anna }),
      AuthFailedError,
    );
  });
});
