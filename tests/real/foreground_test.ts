// `deno task zookeeper`: what it prints, and that nothing stays when what launched it is gone.
// Knows it as a process only.
// Run by deno task test.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { until, within } from "../suites/tools.ts";
import { freePorts, host } from "./ports.ts";
import { askFourLetter } from "./server.ts";

const cwd = fileURLToPath(new URL("../../", import.meta.url));

interface Program {
  child: ChildProcess;
  readonly text: string;
  /** Resolves with the exit code when all that writes to our pipes has ended. */
  closed: Promise<number | null>;
}

function launch(...args: string[]): Program {
  const env = { ...process.env, NO_COLOR: "1" };
  const words = ["task", "zookeeper", ...args];
  const child = spawn(process.execPath, words, { cwd, env });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => text += chunk);
  }
  const closed = new Promise<number | null>((resolve) => {
    child.on("close", (code) => resolve(code));
  });
  return {
    child,
    closed,
    get text() {
      return text;
    },
  };
}

describe("deno task zookeeper", () => {
  it("ends, with its server, when what launched it was killed", async () => {
    const [port] = await freePorts(1);
    const program = launch("--port", `${port}`);
    try {
      const line = `at ${host}:${port}; Ctrl-C ends it`;
      await until(line, () => program.text.includes(line));
      assertEquals(
        await askFourLetter(host, port, "srvr", 60_000) !== "",
        true,
      );

      // Not the program itself, which only `deno task` knows.
      process.kill(program.child.pid!, "SIGKILL");

      await within("it is gone", program.closed);
      const isGone = () =>
        askFourLetter(host, port, "srvr").then(() => false, () => true);
      await until("its server is gone", isGone);
    } finally {
      program.child.kill("SIGKILL");
    }
  });

  it("says how it is used, and in one line what cannot be", async () => {
    const help = launch("--help");
    const bad = launch("--port", "0");

    const codes = await Promise.all([help.closed, bad.closed]);

    assertEquals(codes, [0, 2]);
    assert(help.text.includes("Usage: deno task zookeeper [version]"));
    const line = 'zookeeper: --port is not a number from 1 to 65535: "0"';
    assertEquals(
      bad.text.split("\n").filter((l) => l.includes(line)).length,
      1,
    );
  });
});
