// How long does a test with an embedded server take: start, connect, acquire, release, stop?
// Prints medians and their ratio, measured side by side in one run.
// Run by `deno task bench`.

import { connect, SequentialLock } from "../mod.ts";
import { TestServer } from "../testing/mod.ts";

const rounds = 300;

/** One round, in ms. */
async function round(listen: boolean): Promise<number> {
  const start = performance.now();
  const server = await TestServer.start({ listen });
  const transport = listen ? undefined : server.transport;
  const zk = await connect(server.servers, { transport });
  const held = await new SequentialLock(zk, "/locks/bench").acquire();
  await held.release();
  await zk.close();
  await server.close();
  return performance.now() - start;
}

const inMemory: number[] = [], overTcp: number[] = [];
for (let i = 0; i < rounds; i++) {
  overTcp.push(await round(true));
  inMemory.push(await round(false));
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1];
}

const [memory, tcp] = [median(inMemory), median(overTcp)];
console.log(`start, connect, acquire, release, stop; medians of ${rounds}`);
console.log(`in memory  ${memory.toFixed(2)} ms`);
console.log(
  `over TCP   ${tcp.toFixed(2)} ms, ${(tcp / memory).toFixed(1)} times that`,
);
