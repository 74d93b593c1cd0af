// Plays random traces on two servers by hand: deno run -A --import-map tests/offline.import_map.json tests/differential/play.ts A B
// Knows servers by address, or starts real ones by version.
// Called by people. A, B: HOST:PORT; 3.8.0, 3.9.3, 3.4.13; embedded-3.8… Options: --seeds FROM TO, --commands N, --excuse, --all.

import { readFile } from "node:fs/promises";
import process from "node:process";
import { profiles, type ServerVersion } from "../../testing/profiles.ts";
import { isVersion } from "../real/install.ts";
import { shown } from "./commands.ts";
import { versionsDiffer } from "./excuses.ts";
import type { Address } from "./line.ts";
import { embeddedServer, realServer, type Stage } from "./servers.ts";
import { type Difference, type Pair, playSeed, shorter } from "./trace.ts";

function show(seed: number, difference: Difference): string {
  const { at, command, first, second } = difference;
  const lines = [`seed ${seed}, command ${at}: ${shown(command)}`];
  for (const [on, heard] of first.entries()) {
    for (let i = 0; i < Math.max(heard.length, second[on].length); i++) {
      const [a, b] = [heard[i], second[on][i]].map((one) =>
        JSON.stringify(one)
      );
      lines.push(
        a === b
          ? `  ${on}      ${a}`
          : `  ${on} first  ${a}\n  ${on} second ${b}`,
      );
    }
  }
  return lines.join("\n");
}

async function main(args: readonly string[]): Promise<number> {
  const option = (name: string, at: number, other: number) => {
    const found = args.indexOf(name);
    return found >= 0 ? Number(args[found + at]) : other;
  };
  const [from, to] = [option("--seeds", 1, 1), option("--seeds", 2, 10)];
  const count = option("--commands", 1, 500);
  const started: Stage[] = [];
  const addressOf = async (text: string): Promise<Address> => {
    const line = text.replace("embedded-", "");
    const stage = isVersion(text)
      ? await realServer(text)
      : line !== text && line in profiles
      ? await embeddedServer(line as ServerVersion)
      : undefined;
    if (stage) {
      started.push(stage);
      return stage;
    }
    const [host, port] = text.split(":");
    return { host, port: Number(port) };
  };
  const pair: Pair = {
    first: await addressOf(args[0]),
    second: await addressOf(args[1]),
    line: args.includes("3.4.13") ? "3.4" : undefined,
    excuse: args.includes("--excuse") ? versionsDiffer : undefined,
  };
  const excused = new Map<string, number>();
  let [clean, played] = [0, 0];
  const start = performance.now();
  for (let seed = from; seed <= to; seed++) {
    const result = await playSeed(pair, seed, count).catch(async (error) => {
      console.log(`seed ${seed}`);
      for (const { folder } of started) {
        if (folder === undefined) continue;
        console.log((await readFile(`${folder}/log`, "utf8")).slice(-3000));
      }
      throw error;
    });
    played += result.played;
    for (const [why, n] of result.excused) {
      excused.set(why, (excused.get(why) ?? 0) + n);
    }
    if (result.difference === undefined) {
      clean++;
      continue;
    }
    console.log(show(seed, result.difference));
    if (args.includes("--all")) continue;
    const short = await shorter(pair, result.difference);
    console.log(`\nThe same with ${short.length} commands:`);
    for (const command of short) console.log(`  ${shown(command)}`);
    break;
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(
    `seeds ${from} to ${to}: ${clean} clean, ${played} commands, ${seconds} s`,
  );
  for (const [why, n] of excused) console.log(`  excused ${n} times: ${why}`);
  for (const one of started) await one[Symbol.asyncDispose]();
  return clean === to - from + 1 ? 0 : 1;
}

process.exit(await main(process.argv.slice(2)));
