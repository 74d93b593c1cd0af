// A real ZooKeeper in the foreground, until interrupted: `deno task zookeeper [version]`.
// Must not know the client under test.
// For people who want to try things by hand.

import process from "node:process";
import { isVersion, versions } from "./install.ts";
import { startServer } from "./server.ts";

const version = process.argv[2] ?? "3.8.0";
if (!isVersion(version)) {
  console.error(`Start ${version}: it is none of ${versions.join(", ")}`);
  process.exit(2);
}
const server = await startServer({ version });
console.log(`ZooKeeper ${version} at ${server.servers}; Ctrl-C ends it`);
// Neither the server's process nor a listener for signals keeps Deno alive.
setInterval(() => {}, 1 << 30);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, async () => {
    await server[Symbol.asyncDispose]();
    process.exit(0);
  });
}
