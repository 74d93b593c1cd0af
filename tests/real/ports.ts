// Free TCP ports for servers that are started, killed and started again.
// Must not know what will listen there.
// Called by server.ts, ensemble.ts and foreground.ts.

import { readFile } from "node:fs/promises";
import { createServer } from "node:net";

/** Where the tests' servers listen: nowhere but on this machine. */
export const host = "127.0.0.1";

const given = new Set<number>();

/**
 * Finds `count` ports that nothing listens on now. Another process may still take
 * one before it is used, so a caller has to try again with others then.
 */
export async function freePorts(count: number): Promise<number[]> {
  const [from, to] = await fixedRange();
  const found: number[] = [];
  for (let tries = 0; found.length < count; tries++) {
    if (tries > 1_000) {
      throw new Error(`Find a port: ${from} to ${to} are taken`);
    }
    const port = from + Math.floor(Math.random() * (to - from));
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    found.push(port);
  }
  return found;
}

/**
 * Ports that the system gives to no outgoing connection. Elsewhere, while a server
 * is down, a connection may take its port, or a client that dials it again and
 * again be connected with itself (TCP's simultaneous open).
 */
async function fixedRange(): Promise<[number, number]> {
  const file = "/proc/sys/net/ipv4/ip_local_port_range";
  const text = await readFile(file, "utf8").catch(() => "32768 60999");
  const [low, high] = text.trim().split(/\s+/).map(Number);
  if (low >= 12_000) return [10_000, Math.min(low, 32_768)];
  if (high <= 60_000) return [high + 1, 65_535];
  return [20_000, 32_768];
}

/** Whether nothing listens there now. */
export function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once("error", () => resolve(false));
  server.listen(port, host, () => server.close(() => resolve(true)));
  return promise;
}
