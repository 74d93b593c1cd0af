// Plays what was recorded from a real server to an embedded one: the requests, in their order, on as many connections.
// Knows the recorded scenario; what must be the same is said by golden_compare.ts.
// Used by golden_server_test.ts.

import { readFileSync } from "node:fs";
import { Reader } from "../../protocol/jute.ts";
import * as ops from "../../protocol/operations.ts";
import * as r from "../../protocol/records.ts";
import type { ServerVersion } from "../../testing/mod.ts";
import { hex } from "../protocol/wire.ts";
import { hexOf, Translation } from "./golden_compare.ts";
import { helloFrame, type Raw, requestFrame, Stage } from "./raw.ts";

export interface Frame {
  name: string;
  direction: "client->server" | "server->client";
  hex: string;
  serverVersion: string;
}

const file = new URL("../vectors/golden-frames.json", import.meta.url);
export const frames: Frame[] = JSON.parse(readFileSync(file, "utf8"));

/** A request and what came next. */
interface Case {
  name: string;
  request?: Frame;
  answers: Frame[];
}

/**
 * Where a case was played, if not on the connection of the case before it: on one
 * that is in no session, in a new one, or again in the first.
 */
interface Scene {
  as: "nobody" | "somebody" | "the first";
  /** The session was closed behind it. */
  closes?: true;
  /** The next case goes on where the one before left off. */
  aside?: true;
}

const scenes: Record<string, Scene> = {
  "connect.new": { as: "nobody" },
  "connect.pre34-no-readOnly-byte": { as: "nobody", aside: true },
  "error.noAuth": { as: "somebody", closes: true, aside: true },
  "connect.reattach": { as: "nobody" },
  "connect.wrong-password": { as: "nobody" },
  "connect.unknown-session": { as: "nobody" },
  "auth.unknown-scheme": { as: "somebody" },
  "error.unimplemented": { as: "somebody" },
  "error.marshalling": { as: "somebody" },
  "connect.new.readOnly-true": { as: "nobody", closes: true },
  "check.standalone": { as: "somebody" },
  "closeSession": { as: "the first" },
  "connect.expired-session": { as: "nobody" },
  "readonly-server.connect": { as: "nobody" },
  "readonly-server.connect.refused-no-local-sessions": { as: "nobody" },
  "fourLetterWord.ruok": { as: "nobody" },
  "fourLetterWord.isro": { as: "nobody" },
  "fourLetterWord.srvr": { as: "nobody" },
  "fourLetterWord.wchs": { as: "nobody" },
  "fourLetterWord.xxxx": { as: "nobody" },
};

/** Names of frames, by whether ours were the same. */
export interface Verdicts {
  same: string[];
  different: string[];
}

/**
 * Plays all that was recorded from one version. Read-only servers were others
 * than that of the scenario, and so was the one that was asked in plain text.
 */
export async function play(serverVersion: string): Promise<Verdicts> {
  const version = serverVersion.slice(0, 3) as ServerVersion;
  const recorded = frames.filter((f) => f.serverVersion === serverVersion);
  const verdicts: Verdicts = { same: [], different: [] };
  for (const cases of byServer(casesOf(recorded))) {
    await using stage = await Stage.start({ version });
    const player = new Player(stage, verdicts);
    for (const each of cases) await player.play(each);
  }
  return verdicts;
}

function byServer(cases: Case[]): Case[][] {
  const kinds = [/^readonly.*refused/, /^readonly/, /^fourLetterWord/, /./];
  const left = [...kinds.keys()].map((): Case[] => []);
  for (const each of cases) {
    left[kinds.findIndex((kind) => kind.test(each.name))].push(each);
  }
  return left;
}

function casesOf(recorded: Frame[]): Case[] {
  const cases: Case[] = [];
  for (const frame of recorded) {
    const name = frame.name.replace(/\.(request|reply|event)(\.\d+)?$/, "");
    if (frame.direction === "client->server") {
      cases.push({ name, request: frame, answers: [] });
    } else if (name.includes("refused-no-local-sessions")) {
      // Of another server, whose request was left out of the file.
      cases.push({ name, answers: [frame] });
    } else cases.at(-1)!.answers.push(frame);
  }
  return cases;
}

class Player {
  readonly #stage: Stage;
  readonly #verdicts: Verdicts;
  readonly #translation = new Translation();
  #main!: Raw;
  /** What the first session goes by, with us. */
  #first: Raw["welcome"] | undefined;

  constructor(stage: Stage, verdicts: Verdicts) {
    this.#stage = stage;
    this.#verdicts = verdicts;
  }

  async play({ name, request, answers }: Case): Promise<void> {
    const { server } = this.#stage;
    const scene = scenes[name];
    if (request === undefined) await this.#stage.attached();
    if (name === "readonly-server.connect") await this.#age();
    const raw = scene ? await this.#enter(scene) : this.#main;
    server.reception = request === undefined
      ? "read-only"
      : name.startsWith("readonly")
      ? "read-only-session"
      : "normal";
    const heard = await raw.say(
      request
        ? this.#translation.request(hex(request.hex))
        : helloFrame({ readOnly: true }),
    );
    if (name === "connect.new") this.#first = welcomeIn(heard[0]);
    if (name.startsWith("fourLetterWord")) {
      const text = new TextEncoder().encode(raw.text());
      this.#verdict(answers[0].name, hexOf(text) === answers[0].hex);
    } else this.#compare(heard, { name, request, answers });
    if (scene?.closes) {
      await raw.say(requestFrame(99, ops.closeSession, null));
    }
    const isStrange = name === "check.standalone" &&
      request?.serverVersion === "3.4.13";
    // There, somebody else made a transaction before the next case.
    if (isStrange) await this.#stage.attached();
  }

  /** The read-only server had one znode, made 400 transactions ago. */
  async #age(): Promise<void> {
    const { clock } = this.#stage;
    const zk = await this.#stage.client();
    await clock.until(zk.create("/x2", ""));
    for (let i = 0; i < 400; i++) {
      await clock.until(zk.delete("/none").catch(() => {}));
    }
  }

  #compare(heard: Uint8Array[], { name, request, answers }: Case): void {
    for (const [i, answer] of answers.entries()) {
      const asked = request && hex(request.hex);
      const ours = heard[i] &&
        this.#translation.answer(heard[i], hex(answer.hex), asked);
      this.#verdict(answer.name, ours === answer.hex);
    }
    const tooMany = heard.length - answers.length;
    if (tooMany > 0) {
      this.#verdicts.different.push(`${name}: ${tooMany} too many`);
    }
  }

  #verdict(name: string, isSame: boolean): void {
    const { same, different } = this.#verdicts;
    (isSame ? same : different).push(name);
  }

  async #enter({ as, aside }: Scene): Promise<Raw> {
    const raw = await this.#stage.raw();
    if (as === "somebody") await raw.say(helloFrame());
    if (as === "the first") {
      const { sessionId, passwd } = this.#first!;
      await raw.say(helloFrame({ sessionId, passwd }));
    }
    if (!aside) this.#main = raw;
    return raw;
  }
}

function welcomeIn(frame: Uint8Array): Raw["welcome"] {
  return r.ConnectResponse.read(new Reader(frame.subarray(4)));
}
