// One process with some contenders, each with a session of its own: they want the lock again and again.
// Must not judge: it writes down what happens, in the turn in which it happens.
// Started by contest.ts: <servers> <kind> <root> <history> <rounds> <names>. Says "ready", waits for a line.

import { openSync, writeSync } from "node:fs";
import process from "node:process";
import {
  type Client,
  connect,
  ConnectionLossError,
  ExclusiveLock,
  type HeldLock,
  LockLostError,
  SequentialLock,
} from "../../../mod.ts";
import type { Line } from "./history.ts";

const [servers, kind, root, history, rounds, names] = process.argv.slice(2);
const Lock = kind === "exclusive" ? ExclusiveLock : SequentialLock;
const counter = `${root}/counter`;
// To the end of the file with each write, whoever else writes.
const file = openSync(history, "a");

function note(line: Line): void {
  writeSync(file, `${JSON.stringify(line)}\n`);
}

/**
 * Adds one to a counter, by reading and writing: two at once would lose one. If
 * it cannot be known whether it is written, it is written again, as the same.
 */
async function work(zk: Client, held: HeldLock): Promise<void> {
  for (;;) {
    const { data } = await zk.getData(counter);
    const [count, last] = new TextDecoder().decode(data!).split(" ");
    if (last === `${held.token}`) return;
    try {
      const next = `${Number(count) + 1} ${held.token}`;
      await held.guard([{ op: "setData", path: counter, data: next }]);
      return;
    } catch (error) {
      if (!(error instanceof ConnectionLossError)) throw error;
    }
  }
}

async function round(zk: Client, who: string): Promise<void> {
  note({ who, event: "asked" });
  let token = "";
  const held = await new Lock(zk, `${root}/locks/lock`).acquire({
    onQueued: () => note({ who, event: "queued" }),
    onState: (state) => {
      if (state === "lost") note({ who, event: "lost", token });
    },
  });
  token = `${held.token}`;
  note({ who, event: "granted", token });
  try {
    await work(zk, held);
  } catch (error) {
    if (!(error instanceof LockLostError)) throw error;
  }
  if (held.state === "lost") return;
  note({ who, event: "releasing", token });
  const was = await held.release();
  note({ who, event: "released", token, was });
}

const contenders = await Promise.all(
  names.split(",").map(async (who) => {
    const zk = await connect(servers, { sessionTimeout: 30_000 });
    return { who, zk };
  }),
);
console.log("ready");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.destroy();
await Promise.all(contenders.map(async ({ who, zk }) => {
  for (let i = 0; i < Number(rounds); i++) await round(zk, who);
  await zk.close();
}));
