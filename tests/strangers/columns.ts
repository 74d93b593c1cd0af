// Everything that strangers' clients found on one server, and where one server falls short of another.
// Must not know how a server is started.
// Called by run.ts, table.ts and strangers_test.ts.

import {
  contest,
  type CuratorContest,
  installCurator,
  runCurator,
} from "./curator.ts";
import { installKazoo, type KazooTest, runKazoo } from "./kazoo.ts";
import { installZkCli, runZkCli } from "./zkcli.ts";

/** What was found on one server. */
export interface Column {
  /** The server's name. */
  server: string;
  /** Of the clients. */
  versions: readonly string[];
  kazoo: readonly KazooTest[];
  curator: readonly CuratorContest[];
  /** Lines of the shell's session; see runZkCli(). */
  zkcli: readonly string[];
}

/** Runs everybody on the server at `address`, one after the other: they mind a busy machine. */
export async function columnOf(
  { name, address }: { name: string; address: string },
): Promise<Column> {
  const versions = [
    await installKazoo(),
    await installCurator(),
    await installZkCli(),
  ];
  const kazoo = await runKazoo(address);
  const curator = await runCurator(address);
  const zkcli = await runZkCli(address);
  return { server: name, versions, kazoo, curator, zkcli };
}

/** The part of a test's name that says in which file it is. */
export function fileOf({ name }: KazooTest): string {
  return name.split("::")[0];
}

/** Tests, of all or of one file, that pass in the first column and not in the second, and why. */
export function shortfalls(
  real: Column,
  other: Column,
  file?: string,
): string[] {
  const there = new Map(other.kazoo.map((test) => [test.name, test]));
  return real.kazoo
    .filter((test) => file === undefined || fileOf(test) === file)
    .filter(({ status }) => status === "passed")
    .flatMap(({ name }) => {
      const test = there.get(name);
      if (test?.status === "passed") return [];
      return [`${name}: ${test?.status ?? "not run"}, ${test?.reason ?? ""}`];
    });
}

/** What is wrong with a contest of Curator's; empty if nothing is. */
export function faults(result: CuratorContest): string[] {
  const all = contest.threads * contest.rounds;
  const found: string[] = [];
  if (result.error !== "") found.push(result.error);
  if (result.acquired !== all) found.push(`${result.acquired} of ${all} turns`);
  if (result.counted !== result.acquired) found.push("a turn was overwritten");
  if (result.overlaps > 0) found.push(`${result.overlaps} overlaps`);
  if (result.left > 0) found.push(`${result.left} znodes left`);
  if (!result.isGone) found.push("the lock's znode is not gone");
  return found;
}

/** An answer of the shell that is another than on the first server. */
export interface Difference {
  command: string;
  real: string[];
  other: string[];
}

/** Where two sessions of the shell differ. */
export function differences(
  real: readonly string[],
  other: readonly string[],
): Difference[] {
  const answers = answersIn(real);
  const others = answersIn(other);
  const found: Difference[] = [];
  for (let at = 0; at < Math.max(answers.length, others.length); at++) {
    const [command] = answers[at] ?? others[at];
    const [, ...lines] = answers[at] ?? [command, "(not run)"];
    const [, ...otherLines] = others[at] ?? [command, "(not run)"];
    if (lines.join("\n") === otherLines.join("\n")) continue;
    found.push({ command, real: lines, other: otherLines });
  }
  return found;
}

/** The lines of each command, which comes first. */
function answersIn(lines: readonly string[]): string[][] {
  const answers: string[][] = [];
  for (const line of lines) {
    if (line.startsWith(">") || answers.length === 0) answers.push([line]);
    else answers.at(-1)!.push(line);
  }
  return answers;
}
