// The test that README shows to users, run as it stands there.
// Knows where it stands, not what it says.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const root = new URL("../../", import.meta.url);

describe("README's test of lock loss", () => {
  it("passes", async () => {
    const readme = await readFile(new URL("README.md", root), "utf8");
    const blocks = readme.match(/(?<=```ts\n)[^`]*Deno\.test[^]*?(?=```)/g) ??
      [];
    const folder = await mkdtemp(join(tmpdir(), "zklock-readme-"));
    try {
      const file = join(folder, "readme_test.ts");
      await writeFile(file, blocks.join("").replaceAll('"./', `"${root.href}`));
      const args = [
        "test",
        "-A",
        "--sanitize-ops",
        "--sanitize-resources",
        file,
      ];
      const child = spawn(process.execPath, args);
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (chunk) => text += chunk);
      child.stderr.resume();

      const code = await new Promise((resolve) => child.on("close", resolve));

      assertEquals([blocks.length, code], [1, 0], text);
      assert(text.includes("1 passed"), text);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
