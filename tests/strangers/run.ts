// By hand: `run.ts HOST:PORT [kazoo|curator|zkcli]…` on a server of yours, `run.ts table` to write docs/strangers.md.
// Must not know what is found.
// Run by developers: deno run -A tests/strangers/run.ts

import { writeFile } from "node:fs/promises";
import process from "node:process";
import { type Column, columnOf, faults } from "./columns.ts";
import { runCurator } from "./curator.ts";
import { runKazoo } from "./kazoo.ts";
import { startEmbedded, startReal } from "./servers.ts";
import { counts, page } from "./table.ts";
import { runZkCli } from "./zkcli.ts";

const parts: Record<string, (address: string) => Promise<void>> = {
  async kazoo(address) {
    const kazoo = await runKazoo(address);
    for (const { name, status, reason, tries } of kazoo) {
      if (status !== "passed") console.log(`${name} ${status}: ${reason}`);
      else if (tries > 1) console.log(`${name} passed at the second try`);
    }
    const column = { kazoo } as unknown as Column;
    console.log(`kazoo: ${counts(column)}`);
  },
  async curator(address) {
    for (const result of await runCurator(address)) {
      const found = faults(result).join("; ") || "as it should be";
      console.log(`Curator: ${JSON.stringify(result)}: ${found}`);
    }
  },
  async zkcli(address) {
    console.log((await runZkCli(address)).join("\n"));
  },
};

async function writeTable(): Promise<void> {
  const columns: Column[] = [];
  for (const start of [startReal, startEmbedded]) {
    await using host = await start();
    columns.push(await columnOf(host));
  }
  const file = new URL("../../docs/strangers.md", import.meta.url);
  const date = new Date().toISOString().slice(0, 10);
  await writeFile(file, page(columns, date));
}

async function main([address, ...names]: string[]): Promise<number> {
  if (address === "table" && names.length === 0) {
    await writeTable();
    return 0;
  }
  const wanted = names.length > 0 ? names : Object.keys(parts);
  const isKnown = wanted.every((name) => Object.hasOwn(parts, name));
  if (address === undefined || !/:\d+$/.test(address) || !isKnown) {
    console.error("Usage: run.ts HOST:PORT [kazoo|curator|zkcli]…, or table");
    return 2;
  }
  for (const name of wanted) await parts[name](address);
  return 0;
}

process.exit(await main(process.argv.slice(2)));
