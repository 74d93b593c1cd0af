// Passwords are never printed: the same script on Deno, Bun and Node.
// Knows how to run it on each; what it looks at is its own business.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("secrets.ts", import.meta.url));

/** What a program prints, and how it ends. */
function run(program: string, args: string[]): Promise<[string, number]> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args);
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => text += chunk);
    child.stderr.setEncoding("utf8").on("data", (chunk) => text += chunk);
    child.on("error", reject);
    child.on("close", (code) => resolve([text.trim(), code ?? -1]));
  });
}

describe("A password", () => {
  it("is shown by nothing that the library hands out, on Deno", async () => {
    const result = await run(process.execPath, [
      "run",
      "-A",
      "--no-check",
      script,
    ]);

    assertEquals(result, ["0 leaks", 0]);
  });

  it("is shown by nothing that the library hands out, on Bun", async () => {
    const result = await run("npx", ["-y", "bun@1.4.4", "run", script]);

    assertEquals(result, ["0 leaks", 0]);
  });

  it("is shown by nothing that the library hands out, on Node", async () => {
    const folder = await mkdtemp(join(tmpdir(), "zklock-secrets-"));
    try {
      const bundle = join(folder, "secrets.mjs");
      await run(process.execPath, [
        "bundle",
        "--platform",
        "deno",
        script,
        "-o",
        bundle,
      ]);

      const result = await run("node", [bundle]);

      assertEquals(result, ["0 leaks", 0]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
