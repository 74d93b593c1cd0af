// How long from nothing to a lock and back, over a network with 20 ms each way?
// Prints medians and their ratio, measured side by side in one run.
// Run by `deno task bench`; with a connect string, on that server.

import process from "node:process";
import { connect, SequentialLock, withLock } from "../mod.ts";
import { FaultProxy, TestServer } from "../testing/mod.ts";
import { inTurn } from "./rounds.ts";

const rounds = 15;
const path = "/locks/cold";

/** Connects, acquires, releases, closes: each waits for the one before. */
async function stepByStep(servers: string): Promise<void> {
  const zk = await connect(servers);
  const held = await new SequentialLock(zk, path).acquire();
  await held.release();
  await zk.close();
}

const embedded = await TestServer.start();
const [target = embedded.servers] = process.argv.slice(2);
const zk = await connect(target);
await zk.ensurePath(path);
const proxy = await FaultProxy.start(target);
proxy.delay(20);
const { servers } = proxy;

const [cold, steps] = await inTurn(rounds, [
  () => withLock(servers, path, () => {}),
  () => stepByStep(servers),
]);
console.log(
  `from nothing to a lock and back, 20 ms each way; ${rounds} rounds`,
);
console.log(`connect, acquire, release, close  ${steps.toFixed(1)} ms`);
console.log(
  `withLock                          ${cold.toFixed(1)} ms, ` +
    `${(cold / steps).toFixed(2)} of that`,
);
await zk.close();
await proxy.close();
await embedded.close();
