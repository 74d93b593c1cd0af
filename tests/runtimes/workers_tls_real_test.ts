// One-way TLS from workerd to ZooKeeper's secureClientPort.
// Runs workers/probe.ts; what may go wrong on the way is in workers_tls_test.ts.

import { assertEquals } from "@std/assert";
import { startSecureServer } from "../real/secure.ts";
import { certificates } from "../tls/certificates.ts";
import { startProbe } from "./workers_probe.ts";
import { unchecked } from "./workers_tools.ts";

const made = await certificates();
const { cert, key } = made.server;
const security = {
  version: "3.8.0",
  keyStore: cert + key,
  trustStore: made.ca,
} as const;
// A server's first handshake takes seconds on a busy machine.
const options = { connectTimeout: 30_000, sessionTimeout: 30_000, tls: true };

unchecked("connect() in a worker reaches ZooKeeper 3.8.0 by TLS", async () => {
  await using secure = await startSecureServer({
    ...security,
    clientAuth: "none",
  });
  await using probe = await startProbe({ trusted: made.ca });

  const report = await probe.ask({
    servers: `localhost:${secure.port}`,
    options,
  });

  assertEquals(report, []);
});

unchecked(
  "connect() in a worker rejects if ZooKeeper 3.8.0 asks for a certificate",
  async () => {
    await using secure = await startSecureServer({
      ...security,
      clientAuth: "need",
    });
    await using probe = await startProbe({ trusted: made.ca });

    const report = await probe.ask({
      servers: `localhost:${secure.port}`,
      options: { ...options, connectTimeout: 8_000 },
    });

    assertEquals(report[0].name, "ConnectionLossError");
    assertEquals(report[1].code, "Unreachable");
  },
);
