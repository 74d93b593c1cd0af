// The demo from beginning to end: server, clients, both experiments, and what they show.
// Knows no packets and no command line.
// Called by demo.ts.

import {
  type Client,
  ExclusiveLock,
  type Lock,
  SequentialLock,
} from "../../mod.ts";
import { check } from "./checks.ts";
import { Clients } from "./clients.ts";
import { explanation } from "./explanation.ts";
import { experiment, type Findings } from "./experiment.ts";
import type { Options } from "./options.ts";
import { openSource } from "./server.ts";
import { table } from "./table.ts";
import { timeline } from "./timeline.ts";
import { Meter } from "./traffic.ts";

type Print = (line: string) => void;

interface Kind {
  name: string;
  /** How it works, in a few words. */
  idea: string;
  isFair: boolean;
  make(client: Client, path: string): Lock;
}

const kinds: readonly Kind[] = [
  {
    name: "ExclusiveLock",
    idea: "whoever makes the one znode has it",
    isFair: false,
    make: (client, path) => new ExclusiveLock(client, path),
  },
  {
    name: "SequentialLock",
    idea: "numbered znodes, the lowest has it",
    isFair: true,
    make: (client, path) => new SequentialLock(client, path),
  },
];

/** Shows everything. True if all is as it must be. */
export async function show(
  options: Options,
  print: Print,
  signal: AbortSignal,
): Promise<boolean> {
  await using source = await openSource(options.servers, print);
  const meter = new Meter();
  await using clients = await Clients.open(
    source.servers,
    meter,
    options,
    (message) => print(`! ${message}`),
    signal,
  );
  const { contenders, hold, sharedSession } = options;
  print(`${await clients.server()} at ${source.servers}`);
  print("");
  print(
    `${contenders} contenders, ` +
      (sharedSession ? "one session for all." : "each with its own session."),
  );
  print(
    `Each keeps the resource for ${hold} ms, the first until all others wait.`,
  );
  let ok = true;
  const results: { name: string; findings: Findings }[] = [];
  for (const { name, idea, isFair, make } of kinds) {
    print(`\n== ${name}: ${idea}\n`);
    const path = `${clients.root}/${name}`;
    const locks = clients.each.map((client) => make(client, path));
    const tell = (at: number, contender: number, what: string) =>
      print(`${ms(at)}  contender ${`${contender}`.padStart(2)}  ${what}`);
    const findings = await experiment({ locks, meter, hold, tell, signal });
    results.push({ name, findings });
    print(`\nWho held it when: ░ waiting, █ holding\n`);
    for (const line of timeline(findings.turns)) print(line);
    print("");
    for (const verdict of check(findings.turns, contenders, isFair)) {
      print(`  ${verdict.ok ? "ok   " : "WRONG"}  ${verdict.text}`);
      ok &&= verdict.ok;
    }
  }
  print("\n== What a hand-over costs\n");
  for (const line of table(results)) print(line);
  const [exclusive, sequential] = results.map(({ findings }) => findings);
  for (const line of explanation(exclusive, sequential, options)) print(line);
  if (!ok) print("\nWRONG: see above");
  return ok;
}

function ms(at: number): string {
  return `${at.toFixed(0).padStart(7)} ms`;
}
