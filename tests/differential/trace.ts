// Plays a trace on two servers at once, command by command, until they differ; and makes a trace shorter that does.
// Knows no operation: whether two outcomes are the same is a matter of their text.
// Used by play.ts and by differential_test.ts.

import { type Command, type Request, shown } from "./commands.ts";
import { Generator } from "./generate.ts";
import type { Address } from "./line.ts";
import { type Outcome, Player } from "./player.ts";

/** Where two servers came apart. */
export interface Difference {
  /** Number of the command, counting from 0. */
  at: number;
  command: Command;
  first: Outcome;
  second: Outcome;
  /** All commands, this one the last. */
  trace: readonly Command[];
}

/** Two servers, and what may differ between them. */
export interface Pair {
  first: Address;
  second: Address;
  /**
   * Says why two outcomes that are not the same are meant to be so: "…, go on", or
   * "…, stop" where what follows cannot be the same. Undefined: they are not.
   */
  excuse?: Excuse;
  /** The release line whose operations are enough; to the others an older server answers by hanging up, sooner or later. */
  line?: string;
  /** For tests: changes what came from the second server. */
  tamper?: (frame: Uint8Array) => Uint8Array;
}

/** See {@linkcode Pair.excuse}. `trace` ends with this command. */
export type Excuse = (
  trace: readonly Command[],
  first: Outcome,
  second: Outcome,
) => Reason | undefined;

/** Why a difference is one of versions. */
export interface Reason {
  why: string;
  /** Whether the servers are in the same state after it. */
  goesOn: boolean;
}

/** What came of a trace. */
export interface Result {
  /** Commands played. */
  played: number;
  difference?: Difference;
  /** How often which difference was excused. */
  excused: Map<string, number>;
}

// A root of its own for each play, so that what other traces left is not in the way.
let roots = Date.now() % 1_000_000_000;

/** The commands of a seed. */
export function playSeed(
  pair: Pair,
  seed: number,
  count: number,
): Promise<Result> {
  const generator = new Generator(seed, pair.line);
  return play(pair, count, (outcome) => {
    if (outcome) generator.learn(outcome);
    return generator.next();
  });
}

/** Commands that are known before. */
export function playCommands(
  pair: Pair,
  commands: readonly Command[],
): Promise<Result> {
  let at = 0;
  return play(pair, commands.length, () => commands[at++]);
}

async function play(
  pair: Pair,
  count: number,
  next: (last: Outcome | undefined) => Command,
): Promise<Result> {
  const root = `/d${`${++roots}`.padStart(10, "0")}`;
  const players = await Promise.all([
    Player.start(pair.first, root),
    Player.start(pair.second, root),
  ]);
  if (pair.tamper) players[1].tamper = pair.tamper;
  const trace: Command[] = [];
  const excused = new Map<string, number>();
  try {
    let last: Outcome | undefined;
    while (trace.length < count) {
      const command = next(last);
      trace.push(command);
      const [first, second] = await Promise.all(
        players.map((player) => player.play(command)),
      );
      last = first;
      if (JSON.stringify(first) === JSON.stringify(second)) continue;
      const reason = pair.excuse?.(trace, first, second);
      if (reason === undefined) {
        const at = trace.length - 1;
        const difference = { at, command, first, second, trace };
        return { played: trace.length, difference, excused };
      }
      excused.set(reason.why, (excused.get(reason.why) ?? 0) + 1);
      if (!reason.goesOn) break;
    }
    return { played: trace.length, excused };
  } catch (cause) {
    const last = trace.slice(-3).map(shown).join("\n");
    throw new Error(`Play ${root}: ${cause}; the last were\n${last}`, {
      cause,
    });
  } finally {
    await Promise.allSettled(players.map((player) => player.end()));
  }
}

/** Drops commands, and then requests of bursts and parts of multis, while there is a difference like it; at most `tries` plays. */
export async function shorter(
  pair: Pair,
  { trace }: Difference,
  tries = 400,
): Promise<readonly Command[]> {
  const kind = kindOf(trace.at(-1)!);
  const isBurst = kind === "burst";
  const differs = async (commands: readonly Command[]) => {
    const { difference } = await playCommands(pair, commands);
    return difference !== undefined &&
      (isBurst || kindOf(difference.command) === kind);
  };
  /** Drops items of a list while what is made of the rest still differs. */
  const dropped = async <T>(
    list: readonly T[],
    made: (rest: readonly T[]) => readonly Command[],
  ): Promise<readonly T[]> => {
    let size = Math.ceil(list.length / 2);
    while (size >= 1) {
      const before = list.length;
      for (let to = list.length; to > 0 && tries-- > 0; to -= size) {
        const rest = list.filter((_, i) => i < to - size || i >= to);
        if (rest.length > 0 && await differs(made(rest))) list = rest;
      }
      if (size === 1 && list.length === before || tries <= 0) break;
      size = Math.max(1, Math.floor(size / 2));
    }
    return list;
  };
  let best = await dropped(trace, (rest) => rest);
  for (const [at, command] of best.entries()) {
    if (command.do !== "ask") continue;
    const instead = (requests: readonly Request[]) =>
      best.with(at, { ...command, requests });
    const requests = await dropped(command.requests, instead);
    best = instead(requests);
    for (const [n, request] of requests.entries()) {
      if (!request.parts || request.parts.length < 2) continue;
      const withParts = (parts: readonly Request[]) =>
        instead(requests.with(n, { ...request, parts }));
      best = withParts(await dropped(request.parts, withParts));
    }
  }
  return best;
}

/** What must stay the same in a shorter trace, or it is another difference. */
function kindOf(command: Command): string {
  if (command.do !== "ask") return command.do;
  const ops = new Set(command.requests.map(({ op }) => op));
  return ops.size > 1 ? "burst" : `${command.requests[0].op}`;
}
