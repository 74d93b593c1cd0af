// The two servers whose columns are compared: a real one, and the embedded one.
// Must not know who uses them.
// Called by run.ts and strangers_test.ts.

import { createHash } from "node:crypto";
import { TestServer } from "../../testing/server.ts";
import { startServer } from "../real/server.ts";

/** A server that was started for strangers. */
export interface Host extends AsyncDisposable {
  /** For the head of a column. */
  name: string;
  /** "host:port" */
  address: string;
}

/** A real ZooKeeper on its own, set up as kazoo's harness sets up its own. */
export async function startReal(): Promise<Host> {
  const digest = createHash("sha1").update("super:test").digest("base64");
  const server = await startServer({
    version: "3.8.0",
    config: ["reconfigEnabled=true"],
    jvm: [
      // Credentials come as UTF-8, whatever the locale.
      "-Dfile.encoding=UTF-8",
      `-Dzookeeper.DigestAuthenticationProvider.superDigest=super:${digest}`,
    ],
  });
  return {
    name: `ZooKeeper ${server.version}`,
    address: server.servers,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The embedded server, as it is when nobody sets it up. */
export async function startEmbedded(): Promise<Host> {
  const server = await TestServer.start({ version: "3.8", reconfig: true });
  return {
    name: "embedded",
    address: server.servers,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
