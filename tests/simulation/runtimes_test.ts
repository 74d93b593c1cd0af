// One seed, one history, on every runtime.
// Knows how each is started; Bun and Node come from npm.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("./hashes.ts", import.meta.url));
const bun = ["npx", "-y", "bun@1.4.4"];

/** What a program prints; throws if it fails. */
async function run(program: string, ...args: string[]): Promise<string> {
  const child = spawn(program, args);
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk) => out += chunk);
  child.stderr.setEncoding("utf8").on("data", (chunk) => err += chunk);
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`${program} ${args.join(" ")}: ${err}`);
  return out;
}

describe("A seed", () => {
  it("has the same history on Deno, Bun and Node", async () => {
    const [npx, ...rest] = bun;
    const folder = await mkdtemp(join(tmpdir(), "zklock-node-"));
    try {
      const onDeno = await run(
        process.execPath,
        "run",
        "-A",
        "--no-check",
        script,
      );
      const onBun = await run(npx, ...rest, "run", script);
      await run(
        npx,
        ...rest,
        "build",
        "--target=node",
        script,
        "--outdir",
        folder,
      );
      const onNode = await run("node", join(folder, "hashes.js"));

      assertEquals([onBun, onNode], [onDeno, onDeno]);
      assertEquals(onDeno.trim().split("\n").length, 8);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
