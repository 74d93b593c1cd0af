// A program that connects, does one thing, calls what its arguments say, and has nothing else to do.
// Must not end by itself but for that.
// Started by client_suite_hosts.ts: <servers> [unref] [ref].

import process from "node:process";
import { connect } from "../../protocol/mod.ts";

const [servers, ...words] = process.argv.slice(2);
const zk = await connect(servers, { sessionTimeout: 4_000 });
await zk.exists("/");
for (const word of words) {
  if (word === "unref") zk.unref();
  if (word === "ref") zk.ref();
}
