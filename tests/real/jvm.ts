// One java program at a time, in a temporary folder, that can't outlive us.
// Must not know what the program is.
// Called by server.ts.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

// Java's parent is this shell, not us. It ends java, and removes the folder, when
// its standard input ends: when we close it, and also when we are killed, however
// that happens, as the system closes our end then. (Asking the system to kill
// java itself when its parent dies would be wrong between the two of us: that
// goes by the parent's thread, and a runtime's threads come and go. Between the
// shell, which has one thread, and java it is right, and covers the one case
// that is left: the shell is killed. It needs util-linux, an essential package on
// Debian; elsewhere we do without.)
// The shell stays over restarts, so that a test which kills and restarts a
// server neither opens nor closes anything that a leak check counts. For the
// same reason it answers with a file, not on a pipe.
// Until it has been told to reap, the pid can't mean another process.
const supervisor = `
folder=$1; shift; pid=
if setpriv --pdeathsig KILL true; then set -- setpriv --pdeathsig KILL "$@"; fi
while read -r word; do
  case $word in
    start)
      "$@" </dev/null >>"$folder/log" 2>&1 &
      pid=$!
      echo $pid >"$folder/pid.new"
      mv "$folder/pid.new" "$folder/pid" ;;
    reap)
      wait $pid
      pid=
      rm -f "$folder/pid" ;;
  esac
done
if [ -n "$pid" ]; then kill -KILL $pid; wait $pid; fi
rm -rf "$folder"
`;

/** How long anything may take on a busy machine, in ms. */
const patience = 60_000;

/** Waits until `done()`; false if that didn't happen within `ms`. */
export async function until(
  done: () => boolean,
  ms: number,
): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!done()) {
    if (performance.now() > deadline) return false;
    await sleep(5);
  }
  return true;
}

/** A java program that is started, killed, and started again. */
export class Jvm {
  /** The temporary folder: the program's working folder, removed at the end. */
  readonly folder: string;
  #shell: ChildProcess;
  #pid: number | null = null;

  constructor(folder: string, command: readonly string[]) {
    this.folder = folder;
    const script = ["-c", supervisor, "zklock-supervisor", folder, ...command];
    this.#shell = spawn("/bin/sh", script, {
      cwd: folder,
      stdio: ["pipe", "ignore", "ignore"],
      // A session of its own: what a terminal or a runner sends to our process
      // group must not keep it from cleaning up.
      detached: true,
    });
    const input = this.#shell.stdin!;
    // It may be gone; whoever waits for its answer finds out.
    input.on("error", () => {});
    this.#shell.on("error", () => {});
    // A server that nobody ended must not keep the tests from ending.
    this.#shell.unref();
    (input as { unref?(): void }).unref?.();
  }

  /** The id of the java process; null if it was not started or has been ended. */
  get pid(): number | null {
    return this.#pid;
  }

  /** Whether it still runs (or is frozen): it may have ended by itself. */
  get isAlive(): boolean {
    if (this.#pid === null) return false;
    try {
      const stat = readFileSync(`/proc/${this.#pid}/stat`, "utf8");
      return !/\) [ZX] /.test(stat);
    } catch {
      return false;
    }
  }

  /** Starts the program; it must not be running. */
  async start(): Promise<void> {
    if (this.#pid !== null) throw new Error(`Start java: is ${this.#pid}`);
    this.#tell("start");
    const started = await until(() => existsSync(this.#answer), patience);
    if (!started) throw new Error("Start java: no answer from its supervisor");
    this.#pid = Number(readFileSync(this.#answer, "utf8"));
  }

  /** Ends it with `signal` and waits until it is gone. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (this.#pid === null) return;
    this.signal(signal);
    this.#tell("reap");
    if (!(await until(() => !existsSync(this.#answer), patience))) {
      this.signal("SIGKILL");
      if (!(await until(() => !existsSync(this.#answer), patience))) {
        throw new Error(`End java: ${this.#pid} is still there`);
      }
    }
    this.#pid = null;
  }

  /** Sends a signal, if it runs. */
  signal(name: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"): void {
    if (this.isAlive) process.kill(this.#pid!, name);
  }

  /** Stops it, and waits until every thread stands: the signal takes its time. */
  async stop(): Promise<void> {
    this.signal("SIGSTOP");
    if (!(await until(() => this.#stands, patience))) {
      throw new Error(`Stop java: ${this.#pid} still runs`);
    }
  }

  /** The end of what it has printed, over all starts. */
  async log(): Promise<string> {
    const text = await readFile(join(this.folder, "log"), "utf8")
      .catch(() => "");
    return text.slice(-2_000).trim() || "(nothing)";
  }

  /** Kills it, ends its supervisor and removes the folder. */
  async dispose(): Promise<void> {
    const shell = this.#shell;
    const isGone = () => shell.exitCode !== null || shell.signalCode !== null;
    shell.stdin!.end();
    if (!(await until(isGone, patience))) {
      throw new Error(`End java: its supervisor ${shell.pid} is still there`);
    }
    this.#pid = null;
    // Already done, unless somebody killed the supervisor.
    await rm(this.folder, { recursive: true, force: true });
  }

  get #stands(): boolean {
    const tasks = `/proc/${this.#pid}/task`;
    try {
      return readdirSync(tasks).every((id) =>
        /\) [TZX] /.test(readFileSync(`${tasks}/${id}/stat`, "utf8"))
      );
    } catch {
      return !this.isAlive; // Else a thread has just ended: look again.
    }
  }

  get #answer(): string {
    return join(this.folder, "pid");
  }

  #tell(word: "start" | "reap"): void {
    this.#shell.stdin!.write(`${word}\n`);
  }
}
