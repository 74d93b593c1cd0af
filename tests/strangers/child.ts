// A program in a process group of its own, that ends in time.
// Must not know what the program is.
// Called by kazoo.ts, curator.ts and zkcli.ts.

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";

/** How a program ended, and what it said. */
export interface Ended {
  /** Its exit code; null if a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
  /** It was ended by us, for want of time. */
  late: boolean;
}

/** A program on its way. */
export interface Child {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Starts a program that may take `ms`; then it is killed, with all that it started. */
export function start(
  command: readonly string[],
  ms: number,
  env: Record<string, string | undefined> = {},
): Child {
  const [file, ...args] = command;
  const child = spawn(file, args, {
    // A group of its own: a shell that is killed doesn't take java with it.
    detached: true,
    env: { ...process.env, LC_ALL: "C.UTF-8", TZ: "UTC", ...env },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    // Its number is not another group's: it has not ended yet.
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, ms);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text) => stderr += text);
  // It may be gone before it has read everything.
  child.stdin.on("error", () => {});
  child.on("error", (error) => {
    clearTimeout(timer);
    reject(error);
  });
  child.on("close", (code) => {
    clearTimeout(timer);
    resolve({ code, stdout, stderr, late });
  });
  return { process: child, ended: promise };
}
