// What a client makes of failures of TLS: when connect() gives up, and that a session goes on trying.
// Servers in memory, virtual time: see virtual.ts. Real ones are in tests/tls/.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConnectionLossError, TlsError } from "../../protocol/errors.ts";
import type { Transport } from "../../protocol/transport/mod.ts";
import type { FakeEnsemble } from "./virtual.ts";
import { inWorld } from "./world.ts";

/** A transport that fails as told: by the name of the host, with the code of a runtime; null lets it through. */
function failing(
  ensemble: FakeEnsemble,
  codeOf: (host: string) => string | null,
) {
  const { transport } = ensemble.world;
  const dials: string[] = [];
  const own: Transport = (address, handlers) => {
    dials.push(address.host);
    const code = codeOf(address.host);
    if (code === null) return transport!(address, handlers);
    return Promise.reject(Object.assign(new Error(code), { code }));
  };
  return { dials, options: { transport: own, tls: {} } };
}

describe("connect() by TLS", () => {
  it(
    "rejects at once when no server can be trusted, with the reason of each",
    inWorld(3, async ({ ensemble, connected, time }) => {
      const { dials, options } = failing(
        ensemble,
        (host) =>
          host === "zk1" ? "CERT_HAS_EXPIRED" : "SELF_SIGNED_CERT_IN_CHAIN",
      );

      const error = await assertRejects(
        () => connected({ ...options, connectTimeout: 60_000 }),
        TlsError,
      );

      assertEquals([dials.length, time.monotonic()], [3, 0]);
      assertEquals(
        error.failures.map(({ server, code }) => [server, code]).sort(),
        [
          ["zk0:2181", "CertificateUntrusted"],
          ["zk1:2181", "CertificateExpired"],
          ["zk2:2181", "CertificateUntrusted"],
        ],
      );
    }),
  );

  it(
    "takes a server that is well, whatever the others are",
    inWorld(3, async ({ ensemble, connected }) => {
      const { options } = failing(
        ensemble,
        (host) => host === "zk1" ? null : "CERT_HAS_EXPIRED",
      );

      const client = await connected(options);

      assertEquals(client.session.state, "connected");
    }),
  );

  it(
    "goes on while one server is only down",
    inWorld(2, async ({ ensemble, connected, time }) => {
      const { dials, options } = failing(
        ensemble,
        (host) => host === "zk1" ? "ECONNREFUSED" : "CERT_HAS_EXPIRED",
      );

      const error = await assertRejects(
        () => connected({ ...options, connectTimeout: 5_000 }),
        ConnectionLossError,
        "its certificate has expired",
      );

      assert(dials.length > 5, `${dials.length} dials`);
      assertEquals([time.monotonic(), error.code], [5_000, "ConnectionLoss"]);
    }),
  );

  it(
    "goes on while servers hang up in the handshake: they may be starting",
    inWorld(1, async ({ ensemble, connected, time }) => {
      let starting = true;
      const { options } = failing(
        ensemble,
        () => starting ? "ECONNRESET" : null,
      );
      time.later(2_000, () => starting = false);

      const client = await connected(options);

      assertEquals(client.session.state, "connected");
    }),
  );

  it(
    "says what it may be when a server hangs up without a word",
    inWorld(1, async ({ ensemble, connected }) => {
      ensemble.server.greet = (line) => line.finish();
      const hint = {
        plain: "it is not ready, or expects TLS",
        tls: "it is not ready, or asks for a client certificate",
      };

      for (const [way, says] of Object.entries(hint)) {
        await assertRejects(
          () =>
            connected({
              connectTimeout: 100,
              tls: way === "tls",
            }),
          ConnectionLossError,
          says,
        );
      }
    }),
  );
});

describe("A session by TLS", () => {
  it(
    "whose server is not trusted any more warns once for each reason, and goes on when it is again",
    inWorld(1, async ({ ensemble, connected, time }) => {
      let code: string | null = null;
      const { dials, options } = failing(ensemble, () => code);
      const client = await connected(options);
      const { id } = client.session;
      const warnings: string[] = [];
      client.on(
        "warning",
        ({ kind, cause }) =>
          warnings.push(`${kind} ${(cause as TlsError).code}`),
      );

      code = "CERT_HAS_EXPIRED";
      ensemble.server.line.cut();
      await time.pass(3_000);
      code = "SELF_SIGNED_CERT_IN_CHAIN";
      await time.pass(3_000);
      const tried = dials.length;
      code = null;
      await time.pass(2_000);

      assertEquals(warnings, [
        "tls-failed CertificateExpired",
        "tls-failed CertificateUntrusted",
      ]);
      assert(tried > 5 && tried < 60, `${tried} dials`);
      assertEquals([client.session.id, client.session.state], [
        id,
        "connected",
      ]);
    }),
  );

  it(
    "that is not trusted for too long ends as any other, and the next one begins when it can",
    inWorld(1, async ({ ensemble, connected, time }) => {
      let code: string | null = null;
      const { options } = failing(ensemble, () => code);
      const client = await connected(options);
      const { session } = client;

      code = "CERT_HAS_EXPIRED";
      ensemble.server.line.cut();
      await time.pass(13_000);
      const { state } = session;
      code = null;
      await time.pass(2_000);

      assertEquals([state, client.session.state, client.session === session], [
        "expired",
        "connected",
        false,
      ]);
    }),
  );
});
