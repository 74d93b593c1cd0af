// Servers that do nothing by time while a trace is played: real ones, and the embedded one.
// Must not know what is played.
// Used by play.ts and differential_test.ts.

import type { ServerVersion } from "../../testing/profiles.ts";
import { TestServer } from "../../testing/server.ts";
import type { Version } from "../real/install.ts";
import { startServer } from "../real/server.ts";
import type { Address } from "./line.ts";

/** A server and the way to end it. */
export interface Stage extends Address, AsyncDisposable {
  /** Where its log is, if it has one. */
  folder?: string;
}

const hour = 3_600_000;

/** A fresh server; the caller ends it. */
export function realServer(version: Version): Promise<Stage> {
  return startServer({
    version,
    jvm: [`-Dznode.container.checkIntervalMs=${hour}`],
  });
}

/** The embedded server, set up as real ones are; the caller ends it. */
export async function embeddedServer(version: ServerVersion): Promise<Stage> {
  const server = await TestServer.start({
    version,
    tick: 200,
    minSessionTimeout: 400,
    maxSessionTimeout: 60_000,
    reapInterval: hour,
  });
  return {
    host: "127.0.0.1",
    port: server.port,
    [Symbol.asyncDispose]: () => server.close(),
  };
}
