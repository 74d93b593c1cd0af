// The demo as a whole, in a process of its own, with the server of tests or without one.
// Knows what people see, not how it comes about.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { connect } from "../../mod.ts";
import { TestServer } from "../../testing/mod.ts";

const demo = fileURLToPath(new URL("../../examples/demo.ts", import.meta.url));

type Interrupt = () => void;

/** What it prints, and how it ends. */
function run(
  ...args: string[]
): Promise<{ text: string; code: number | null }> {
  return watch(args, () => {});
}

/** The same, with somebody who looks at what it has printed so far, and may press Ctrl-C. */
function watch(
  args: readonly string[],
  look: (text: string, interrupt: Interrupt) => void,
): Promise<{ text: string; code: number | null }> {
  const env = { ...process.env };
  delete env.ZOOKEEPER_SERVERS;
  const child = spawn(process.execPath, ["run", "-A", demo, ...args], { env });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      look(text, () => void process.kill(child.pid!, "SIGINT"));
    });
  }
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ text, code }));
  });
}

describe("The demo", () => {
  it("needs no server: all checks are ok, and the herd shows in the notifications", async () => {
    const { text, code } = await run("--contenders", "3", "--hold", "0");

    assertEquals(code, 0);
    assert(text.includes("notifications 2 against 1"), text);
    assertEquals(text.match(/^ {2}ok /gm)?.length, 7, text);
  });

  it("with one session shows the herd in the requests", async () => {
    const { text, code } = await run("--contenders", "3", "--shared-session");

    assertEquals(code, 0);
    assert(/requests \d+ against 2/.test(text), text);
  });

  it("says in one line what to do if nobody answers at --servers", async () => {
    const { text, code } = await run("--servers", "127.0.0.1:1");

    assertEquals(code, 1);
    const [last] = text.trim().split("\n").slice(-1);
    assert(last.includes("without --servers the demo starts one"), text);
  });

  it("leaves nothing on the server, also when it is interrupted, which may be heard twice", async () => {
    await withServer(async (server) => {
      let pressed = false;
      const args = ["--servers", server.servers, "--hold", "4000"];
      const { text, code } = await watch(args, (text, interrupt) => {
        if (pressed || !text.includes("got it")) return;
        pressed = true;
        interrupt();
        interrupt();
      });

      assertEquals(code, 130, text);
      assertEquals(await left(server), ["zookeeper"]);
    });
  });

  it("does not make a chroot that is missing", async () => {
    await withServer(async (server) => {
      const servers = `${server.servers}/nope/deep`;
      const { text, code } = await run("--servers", servers);

      assertEquals(code, 2, text);
      assert(text.includes(`no /nope/deep at ${servers}`), text);
      assertEquals(await left(server), ["zookeeper"]);
    });
  });
});

async function withServer(
  use: (server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await TestServer.start();
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

async function left(server: TestServer): Promise<string[]> {
  const zk = await connect(server.servers);
  try {
    return await zk.getChildren("/");
  } finally {
    await zk.close();
  }
}
