// The programs that only stand between a person and us: npx, its shell, deno task. What ends them is meant for us.
// Must not know what we do. Without /proc it knows our parent alone.
// Called by foreground.ts.

import { readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";
import process from "node:process";

interface Program {
  pid: number;
  parent: number;
  /** Tells it from another one that gets the same number later. */
  started: string;
}

/**
 * Waits until one of the programs that started us is gone, looking once a second.
 * A signal that ends npx reaches nobody else, and our own parent lives on then.
 */
export async function launcherGone(): Promise<void> {
  const first = await launchers();
  const { ppid } = process;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    if (process.ppid !== ppid) return;
    const now = await Promise.all(first.map(({ pid }) => look(pid)));
    if (first.some(({ started }, i) => now[i]?.started !== started)) return;
  }
}

/** From our parent on, as far up as they are launchers: who started those may go and leave us running. */
async function launchers(): Promise<Program[]> {
  const found: Program[] = [];
  for (let pid = process.ppid; await isLauncher(pid);) {
    const program = await look(pid);
    if (program === null) break;
    found.push(program);
    pid = program.parent;
  }
  return found;
}

async function isLauncher(pid: number): Promise<boolean> {
  try {
    const name = basename(await readlink(`/proc/${pid}/exe`));
    if (/^(deno|node)\b/.test(name)) return true;
    // npx has its command run by a shell.
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
    return words[1] === "-c" && /^\W*deno\b/.test(words[2] ?? "");
  } catch {
    return false;
  }
}

async function look(pid: number): Promise<Program | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // A name may hold spaces and parentheses; what follows does not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z") return null;
    return { pid, parent: Number(fields[1]), started: fields[19] };
  } catch {
    return null;
  }
}
