// Random traces that have to come out the same on two servers.
// Must not know what is in a trace, but for the one that shows that shortening works.
// By hand, with more seeds and other servers: play.ts.

import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import process from "node:process";
import type { ServerVersion } from "../../testing/profiles.ts";
import { shown } from "./commands.ts";
import { embeddedServer, realServer } from "./servers.ts";
import { type Pair, playCommands, playSeed, shorter } from "./trace.ts";

/** How many traces are always played, by version; more of all with ZKLOCK_TRACES=200. */
const usual = { "3.4.13": 3, "3.8.0": 10, "3.9.3": 10 };
const versions = Object.keys(usual) as (keyof typeof usual)[];
/** One more, which is another each day, as a number like 20260131. */
const ofToday = Number(
  new Date().toISOString().slice(0, 10).replaceAll("-", ""),
);
/** After so many traces the servers are fresh ones. */
const perServer = 50;

/** Says where a pair comes apart, in as few commands as can be; empty if nowhere. */
async function differences(
  pair: Pair,
  seeds: readonly number[],
  count: number,
): Promise<string[]> {
  const found: string[] = [];
  for (const seed of seeds) {
    const { difference, played } = await playSeed(pair, seed, count);
    if (difference === undefined) {
      if (played !== count) found.push(`seed ${seed}: only ${played} commands`);
      continue;
    }
    const { command, first, second, at } = difference;
    found.push(
      `seed ${seed}, command ${at}: ${shown(command)}\n` +
        `${shown(first)}\n${shown(second)}\nwith few commands:\n` +
        (await shorter(pair, difference, 100)).map(shown).join("\n"),
    );
  }
  return found;
}

describe("Traces on the embedded server", () => {
  for (const version of versions) {
    const count = Number(process.env.ZKLOCK_TRACES ?? usual[version]);
    const seeds = Array.from({ length: count }, (_, i) => i + 1);
    const name = `come out as on ${version}, byte for byte: ` +
      `seeds 1 to ${count} and ${ofToday}, 500 commands each`;
    it(name, async () => {
      const line = version.slice(0, 3) as ServerVersion;
      const all = [...seeds, ofToday];
      while (all.length > 0) {
        await using real = await realServer(version);
        await using embedded = await embeddedServer(line);

        const found = await differences(
          { first: real, second: embedded, line },
          all.splice(0, perServer),
          500,
        );

        assertEquals(found, []);
      }
    });
  }
});

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
