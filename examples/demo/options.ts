// The options of the demo, and what --help says.
// Pure: what cannot be is a UsageError.
// Used by demo.ts; the other parts take what it makes.

import { parseArgs } from "node:util";

/** What the demo is to do. */
export interface Options {
  /** How many want the resource. */
  contenders: number;
  /** How long each keeps it, in ms. */
  hold: number;
  /** All contenders use one session; else each has its own. */
  sharedSession: boolean;
  /** A connect string; undefined: start a server. */
  servers: string | undefined;
}

/** The command line asks for what cannot be; the message says which, and what can. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** What --help prints. */
export const helpText = `\
Some contenders take one resource in turn, first with ExclusiveLock, then with
SequentialLock. Prints who held it when, whether two ever held it at once, and
what a hand-over costs: watch notifications and requests.

Usage: deno task demo [options]

  --contenders N   how many want the resource, 2 to 99; default 9
  --hold MS        how long each one keeps it, 0 to 4000 ms; default 150
  --shared-session all contenders use one session; default: each has its own
  --servers LIST   host:port,… of a running ZooKeeper; default: one in this process
  --help           print this

Exit code: 0, or 1 if two held it at once or anything failed, 2 for bad options.`;

// With longer holds, holders would send heartbeats and watch their own znode,
// and the table would show that besides the hand-overs.
const longestHold = 4000;

/** Reads the command line. Throws a {@link UsageError}. */
export function readOptions(args: readonly string[]): Options | "help" {
  const values = parse(args[0] === "--" ? args.slice(1) : args);
  if (values.help) return "help";
  const { servers } = values;
  if (servers?.trim() === "") {
    throw new UsageError('--servers is empty: give "host:port,…"');
  }
  return {
    contenders: whole("--contenders", values.contenders ?? "9", 2, 99),
    hold: whole("--hold", values.hold ?? "150", 0, longestHold),
    sharedSession: values["shared-session"] ?? false,
    servers,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        contenders: { type: "string" },
        hold: { type: "string" },
        "shared-session": { type: "boolean" },
        servers: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    const [reason] = (error as Error).message.split(/[.\n]/);
    throw new UsageError(`${reason}; --help tells the options`);
  }
}

function whole(name: string, text: string, least: number, most: number) {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(
    `${name} is not a whole number from ${least} to ${most}: "${text}"`,
  );
}
