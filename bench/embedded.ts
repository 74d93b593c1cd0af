// How long does a test with an embedded server take: start, connect, acquire, release, stop?
// Prints medians and their ratio, measured side by side in one run.
// Run by `deno task bench`.

import { connect, SequentialLock } from "../mod.ts";
import { TestServer } from "../testing/mod.ts";
import { inTurn } from "./rounds.ts";

const rounds = 300;

/** One round. */
async function round(listen: boolean): Promise<void> {
  const server = await TestServer.start({ listen });
  const transport = listen ? undefined : server.transport;
  const zk = await connect(server.servers, { transport });
  const held = await new SequentialLock(zk, "/locks/bench").acquire();
  await held.release();
  await zk.close();
  await server.close();
}

const [tcp, memory] = await inTurn(rounds, [
  () => round(true),
  () => round(false),
]);
console.log(`start, connect, acquire, release, stop; medians of ${rounds}`);
console.log(`in memory  ${memory.toFixed(2)} ms`);
console.log(
  `over TCP   ${tcp.toFixed(2)} ms, ${(tcp / memory).toFixed(1)} times that`,
);
