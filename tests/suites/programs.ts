// Programs that tests start in processes of their own.
// Knows none of them.
// Used by client_suite_hosts.ts and contest/contest.ts.

import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/**
 * Program and arguments that run a file of this folder on the runtime we are on.
 * Where the suites are a bundle, the program is one too, and ZKLOCK_PROGRAMS says where.
 */
export function programOf(file: string): [string, ...string[]] {
  const flags = "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
  const folder = process.env.ZKLOCK_PROGRAMS;
  const script = folder
    ? join(folder, file.replace(/\.ts$/, ".mjs"))
    : fileURLToPath(new URL(file, import.meta.url));
  return [process.execPath, ...flags, script];
}
