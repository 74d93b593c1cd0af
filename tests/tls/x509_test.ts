// The scheme x509: who shows a certificate is known by its subject.
// A real server alone proves certificates; the embedded one has no TLS of its own.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { acl, connect } from "../../mod.ts";
import { startSecureServer } from "../real/secure.ts";
import { assertRefused } from "../suites/tools.ts";
import { certificates } from "./certificates.ts";

const made = await certificates();

for (const version of ["3.8.0", "3.9.3"] as const) {
  describe(`ZooKeeper ${version}, a certificate of the client`, () => {
    it("opens the znodes that name its subject, and closes them to others", async () => {
      await using secure = await startSecureServer({
        version,
        keyStore: made.server.cert + made.server.key,
        trustStore: made.ca,
        clientAuth: "need",
      });
      const tls = { ca: made.ca, ...made.client };
      await using zk = await connect(`127.0.0.1:${secure.port}`, { tls });
      await using other = await connect(secure.server.servers);
      const subject = { perms: 31, scheme: "x509", id: "CN=client" };

      await zk.create("/mine", "", { acl: acl.creatorAll });
      await zk.create("/named", "", { acl: [subject] });

      assertEquals((await zk.getAcl("/mine")).acl, [subject]);
      await zk.getData("/named");
      await assertRefused(() => other.getData("/mine"), "NoAuth");
      await assertRefused(() => other.getData("/named"), "NoAuth");
    });
  });
}
