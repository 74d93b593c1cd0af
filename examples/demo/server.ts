// Where the demo's ZooKeeper comes from: given, or one in this process.
// Knows no lock.
// Used by show.ts.

import process from "node:process";
import { TestServer } from "../../testing/mod.ts";

/** A server to use. */
export interface Source extends AsyncDisposable {
  /** The connect string. */
  readonly servers: string;
}

/** The servers given by option or by ZOOKEEPER_SERVERS, as for the tests; else starts one, which ends when disposed. */
export async function openSource(
  given: string | undefined,
  print: (line: string) => void,
): Promise<Source> {
  const servers = given ?? process.env.ZOOKEEPER_SERVERS;
  if (servers) {
    const by = given ? "" : " (ZOOKEEPER_SERVERS)";
    print(`Connecting to ${servers}${by} …`);
    return { servers, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  print("Starting a ZooKeeper in this process; --servers takes a real one …");
  return await TestServer.start();
}
