// docs/strangers.md: both columns, for people.
// Must not run anything.
// Called by run.ts.

import { type Column, differences, faults, fileOf } from "./columns.ts";
import type { KazooTest } from "./kazoo.ts";

/** The whole page. */
export function page(columns: readonly Column[], date: string): string {
  const [real] = columns;
  const servers = columns.map(({ server }) => server);
  return [
    "# Strangers' clients on the embedded server",
    "",
    "Other people's tests and tools, as Debian ships them, on a real standalone server and on the embedded one.",
    "Made by `deno run -A tests/strangers/run.ts table`, which writes this page anew.",
    "",
    `${date}: ${servers.join(", ")}; ${real.versions.join(", ")}.`,
    "",
    "## In short",
    "",
    row(["", ...servers]),
    row(["---", ...servers.map(() => "---")]),
    ...files(real).map((file) =>
      row([
        `kazoo's ${file}`,
        ...columns.map((column) => counts(column, file)),
      ])
    ),
    row(["kazoo, all of these", ...columns.map((column) => counts(column))]),
    ...real.curator.map(({ clients }, at) =>
      row([
        clients === "own"
          ? "Curator's InterProcessMutex, 9 threads with a client each"
          : "the same, 9 threads with one client",
        ...columns.map(({ curator }) => contestOf(curator[at])),
      ])
    ),
    row([
      "zkCli.sh: commands answered as on the real one",
      ...columns.map(({ zkcli }) => {
        const all = zkcli.filter((line) => line.startsWith(">")).length;
        return `${all - differences(real.zkcli, zkcli).length} of ${all}`;
      }),
    ]),
    "",
    "## What did not pass",
    "",
    "A standalone server has no ensemble to configure anew; kazoo's tests of that fail on every one.",
    "",
    ...columns.flatMap(({ server, kazoo }) =>
      kazoo.filter(({ status }) => status !== "passed").map(
        ({ name, status, reason }) =>
          `- ${server}: ${name} ${status}: \`${reason.replaceAll("`", "'")}\``,
      )
    ),
    "",
    ...columns.slice(1).flatMap((column) => shellSection(real, column)),
    "## kazoo, test by test",
    "",
    row(["test", ...servers]),
    row(["---", ...servers.map(() => "---")]),
    ...real.kazoo.map(({ name }) =>
      row([
        name,
        ...columns.map(({ kazoo }) =>
          kazoo.find((test) => test.name === name)?.status ?? "not run"
        ),
      ])
    ),
    "",
  ].join("\n");
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function files({ kazoo }: Column): string[] {
  return [...new Set(kazoo.map(fileOf))];
}

/** "30 passed", of one file or of all. */
export function counts({ kazoo }: Column, file?: string): string {
  const tests = kazoo.filter((test) => !file || fileOf(test) === file);
  const number = (status: KazooTest["status"]) =>
    tests.filter((test) => test.status === status).length;
  return (["passed", "failed", "skipped"] as const)
    .filter((status) => status === "passed" || number(status) > 0)
    .map((status) => `${number(status)} ${status}`).join(", ");
}

function contestOf(result: Column["curator"][number] | undefined): string {
  if (result === undefined) return "not run";
  const found = faults(result);
  if (found.length > 0) return found.join("; ");
  return `${result.acquired} turns, no overlap, no znode left`;
}

function shellSection(real: Column, other: Column): string[] {
  const found = differences(real.zkcli, other.zkcli);
  if (found.length === 0) return [];
  return [
    `## Where ${other.server} answers zkCli.sh otherwise`,
    "",
    "```",
    ...found.flatMap(({ command, real, other }) => [
      command,
      ...real.map((line) => `- ${line}`),
      ...other.map((line) => `+ ${line}`),
    ]),
    "```",
    "",
  ];
}
