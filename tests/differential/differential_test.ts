// Random traces that have to come out the same on two servers.
// Must not know what is in a trace, but for the one that shows that shortening works.
// By hand, with more seeds and other servers: play.ts.

import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { shown } from "./commands.ts";
import { realServer } from "./servers.ts";
import { type Pair, playCommands, playSeed, shorter } from "./trace.ts";

/** Says where a pair comes apart, in as few commands as can be; empty if nowhere. */
async function differences(
  pair: Pair,
  seeds: readonly number[],
  count: number,
): Promise<string[]> {
  const found: string[] = [];
  for (const seed of seeds) {
    const { difference } = await playSeed(pair, seed, count);
    if (difference === undefined) continue;
    const { command, first, second, at } = difference;
    found.push(
      `seed ${seed}, command ${at}: ${shown(command)}\n` +
        `${shown(first)}\n${shown(second)}\nwith few commands:\n` +
        (await shorter(pair, difference)).map(shown).join("\n"),
    );
  }
  return found;
}

describe("Traces on two real servers", () => {
  it("come out the same, until a byte of one of them is changed", async () => {
    const servers = await Promise.all([
      realServer("3.8.0"),
      realServer("3.8.0"),
    ]);
    try {
      const [first, second] = servers;

      const clean = await differences({ first, second }, [1, 2], 150);
      let frames = 0;
      const tamper = (frame: Uint8Array) => {
        // The zxid of a reply.
        if (++frames === 300) frame[15] ^= 1;
        return frame;
      };
      const tampered = await playSeed({ first, second, tamper }, 1, 150);

      assertEquals(clean, []);
      assertMatch(`${tampered.difference?.at}`, /^\d+$/);
    } finally {
      for (const server of servers) await server[Symbol.asyncDispose]();
    }
  });

  it("are made shorter as long as they differ", async () => {
    const servers = await Promise.all([
      realServer("3.8.0"),
      realServer("3.9.3"),
    ]);
    try {
      const [first, second] = servers;
      const path = "/@/a";
      const body = { path, data: null, flags: 0, acl: [] };
      const open = [{ perms: 31, scheme: "world", id: "anyone" }];
      const trace = [
        { op: "exists", body: { path, watch: false } },
        { op: "create", body: { ...body, acl: open } },
        { op: "create", body },
        { op: "exists", body: { path, watch: true } },
        { op: "getData", body: { path, watch: false } },
        // 3.9.3 has a zxid in the event, 3.8.0 has not.
        { op: "setData", body: { path, data: null, version: -1 } },
      ].map((request) => ({ do: "ask" as const, on: 0, requests: [request] }));

      const { difference } = await playCommands({ first, second }, trace);
      const short = await shorter({ first, second }, difference!);

      const ops = short.map((one) => one.do === "ask" && one.requests[0].op);
      assertEquals(ops, ["create", "exists", "setData"]);
    } finally {
      for (const server of servers) await server[Symbol.asyncDispose]();
    }
  });
});
