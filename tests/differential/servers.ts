// Real servers that do nothing by time while a trace is played.
// Must not know what is played.
// Used by play.ts and differential_test.ts.

import type { Version } from "../real/install.ts";
import { type RealServer, startServer } from "../real/server.ts";

/** A fresh server; the caller ends it. */
export function realServer(version: Version): Promise<RealServer> {
  return startServer({
    version,
    jvm: ["-Dznode.container.checkIntervalMs=3600000"],
  });
}
