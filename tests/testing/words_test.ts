// Four-letter words (reference, 14): what TestServer says in plain text, and that it hangs up then.
// The lines are compared with those recorded from 3.8.0, numbers apart.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import * as ops from "../../protocol/operations.ts";
import { bytes, hex } from "../protocol/wire.ts";
import { frames } from "./golden_play.ts";
import { type Raw, Stage } from "./raw.ts";

async function said(stage: Stage, ...chunks: string[]): Promise<string> {
  const raw = await stage.raw();
  await raw.say(...chunks.map(bytes));
  return raw.isClosed ? raw.text() : `${raw.text()} (still open)`;
}

const open = [{ perms: 31, scheme: "world", id: "anyone" }];

function create(raw: Raw, path: string, flags = 0) {
  return raw.ask(ops.create, { path, data: null, acl: open, flags });
}

function id({ welcome }: Raw): string {
  return `0x${welcome.sessionId.toString(16)}`;
}

/** A text without its numbers. */
function shape(text: string): string[] {
  return text.split("\n").map((line) =>
    line.replace(/ version: .*/, " version: …").replace(
      /(0x)?\d+(\.\d+)?/g,
      "N",
    )
  );
}

describe("TestServer, asked in plain text", () => {
  for (const [word, answer] of [["ruok", "imok"], ["isro", "rw"]]) {
    it(`answers ${word} with ${answer} and hangs up`, async () => {
      await using stage = await Stage.start();

      const text = await said(stage, word);

      assertEquals(text, answer);
    });
  }

  for (const word of ["RUOK", "Ruok", "xxxx", "zzzz"]) {
    it(`takes ${word} for a length and hangs up`, async () => {
      await using stage = await Stage.start();

      const text = await said(stage, word);

      assertEquals(text, "");
    });
  }

  it("answers if there is a line end, and if the word comes in pieces", async () => {
    await using stage = await Stage.start();

    const texts = [
      await said(stage, "ruok\r\n"),
      await said(stage, "r", "uo", "k"),
    ];

    assertEquals(texts, ["imok", "imok"]);
  });

  it("knows no words behind a handshake", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();

    const heard = await raw.say(bytes("ruok"));

    assertEquals([heard, raw.text(), raw.isClosed], [[], "", true]);
  });

  it("srvr has the lines of a real server", async () => {
    await using stage = await Stage.start();
    const recorded = frames.find((f) => f.name === "fourLetterWord.srvr.reply");

    const text = await said(stage, "srvr");

    const real = new TextDecoder().decode(hex(recorded!.hex));
    assertEquals(shape(text), shape(real));
  });

  it("srvr tells of the version, the connections, the last transaction and the znodes", async () => {
    await using stage = await Stage.start({ version: "3.8" });
    const raw = await stage.attached();
    for (let i = 0; i < 15; i++) await create(raw, `/${i}`);

    const lines = (await said(stage, "srvr")).split("\n");

    assertEquals(lines[0].split("-")[0], "Zookeeper version: 3.8.0");
    assertEquals(lines.slice(2, 4), ["Received: 16", "Sent: 16"]);
    assertEquals(lines.slice(6), [
      "Zxid: 0x10",
      "Mode: standalone",
      "Node count: 19",
      "",
    ]);
  });

  it("stat lists the clients, then what srvr tells", async () => {
    await using stage = await Stage.start();
    await stage.attached();

    const lines = (await said(stage, "stat")).split("\n");

    assertEquals(lines.slice(1, 5), [
      "Clients:",
      " /127.0.0.1:0[1](queued=0,recved=1,sent=1)",
      "",
      "Latency min/avg/max: 0/0.0/0",
    ]);
  });

  it("cons tells of each client's session", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached({ timeOut: 5000 });

    const text = await said(stage, "cons");

    assertEquals(
      text,
      " /127.0.0.1:0[1](queued=0,recved=1,sent=1," +
        `sid=${id(raw)},lop=NA,to=5000)\n\n`,
    );
  });

  it("mntr has a key and a value in each line", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    await create(raw, "/e", 1);
    await raw.ask(ops.exists, { path: "/w", watch: true });

    const lines = (await said(stage, "mntr")).trimEnd().split("\n");

    const figures = Object.fromEntries(lines.map((line) => line.split("\t")));
    const { zk_version, ...rest } = figures;
    assertEquals(zk_version.startsWith("3.9.3-"), true);
    assertEquals(rest, {
      zk_server_state: "standalone",
      zk_znode_count: "5",
      zk_ephemerals_count: "1",
      zk_watch_count: "1",
      zk_num_alive_connections: "2",
      zk_outstanding_requests: "0",
      zk_global_sessions: "1",
    });
  });

  it("wchs, wchp and wchc tell who watches what", async () => {
    await using stage = await Stage.start();
    const [a, b] = [await stage.attached(), await stage.attached()];
    for (const raw of [a, b]) {
      await raw.ask(ops.exists, { path: "/w", watch: true });
    }
    await b.ask(ops.exists, { path: "/v", watch: true });

    const texts = [
      await said(stage, "wchs"),
      await said(stage, "wchp"),
      await said(stage, "wchc"),
    ];

    assertEquals(texts, [
      "2 connections watching 2 paths\nTotal watches:3\n",
      `/w\n\t${id(a)}\n\t${id(b)}\n/v\n\t${id(b)}\n\n`,
      `${id(a)}\n\t/w\n${id(b)}\n\t/w\n\t/v\n\n`,
    ]);
  });

  it("dump lists sessions and their ephemeral znodes", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached({ timeOut: 5000 });
    await stage.attached({ timeOut: 5000 });
    await create(raw, "/e", 1);

    const lines = (await said(stage, "dump")).split("\n");

    assertEquals(lines.slice(1, 3), [
      "Session Sets (2):",
      `5100\t${id(raw)}`,
    ]);
    assertEquals(lines.slice(4), [
      "ephemeral nodes dump:",
      "Sessions with Ephemerals (1):",
      `${id(raw)}:`,
      "\t/e",
      "",
    ]);
  });
});
