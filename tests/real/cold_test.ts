// withLock() on each kind of server: none reads on before the session stands, and none minds.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { withLock } from "../../lock/mod.ts";
import { connect, type TlsOptions } from "../../protocol/mod.ts";
import { Flights } from "../suites/tools.ts";
import type { Target } from "../targets.ts";
import { certificates } from "../tls/certificates.ts";
import { startEnsemble } from "./ensemble.ts";
import { startSecureServer } from "./secure.ts";
import type { RealServer } from "./server.ts";
import { versions } from "./install.ts";

/** What withLock() writes, with Java's own sockets and with Netty alike. */
const twoFlights = [
  ["connect", "create", "getChildren"],
  ["delete", "closeSession"],
];

/** What withLock() writes to a server that has the directory. */
async function writesTo(
  { servers, version }: Pick<RealServer, "servers" | "version">,
  tls?: TlsOptions,
): Promise<string[][]> {
  const target: Target = { name: "", version, servers, isOurs: true };
  const near = await connect(servers, { tls });
  await near.sync("/lock"); // It may be behind the others.
  await near.close();
  const { transport, writes } = new Flights(target);
  await withLock(servers, "/lock", () => {}, { transport, tls });
  return writes;
}

describe("withLock()", () => {
  for (const version of versions) {
    it(`is one flight to the lock and one to leave, with the leader and followers of ${version}`, async () => {
      await using ensemble = await startEnsemble({ version });
      const zk = await connect(ensemble.servers);
      await zk.create("/lock");
      await zk.close();

      for (const node of ensemble.nodes) {
        const writes = await writesTo(node);

        assertEquals(writes, twoFlights);
      }
    });
  }

  for (const version of ["3.8.0", "3.9.3"] as const) {
    it(`is one flight to the lock and one to leave, in plain and by TLS, where ${version} uses Netty`, async () => {
      const { ca, server: { cert, key } } = await certificates();
      await using secure = await startSecureServer({
        version,
        keyStore: cert + key,
        trustStore: ca,
        clientAuth: "none",
      });
      const { servers } = secure.server;
      const zk = await connect(servers);
      await zk.create("/lock");
      await zk.close();

      const inPlain = await writesTo({ servers, version });
      const byTls = await writesTo(
        { servers: `localhost:${secure.port}`, version },
        { ca },
      );

      assertEquals(inPlain, twoFlights);
      assertEquals(byTls, twoFlights);
    });
  }
});
