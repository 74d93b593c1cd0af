// The whole suite: sets up what it needs, runs every part, says what was tested against.
// Must not know single tests.
// Called by `deno task test`.

import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { spawn } from "node:child_process";
import { install, InstallError, versions } from "./real/install.ts";
import { runBun } from "./runtimes/bun.ts";
import { countOf, resultsIn } from "./runtimes/junit.ts";
import { runWorkers } from "./runtimes/workers.ts";
import { runNode } from "./runtimes/node.ts";
import type { Row } from "./runtimes/row.ts";
import { merged, rowsOf, tableOf, totalOf } from "./runtimes/table.ts";

/** A part of the suite, and how long it may take: a budget to look at, not an assertion. */
interface Part {
  name: string;
  minutes: number;
  /** Files and folders of tests that Deno runs… */
  paths?: string[];
  /** …or the suites on other runtimes. */
  elsewhere?: () => Promise<Row[]>;
  /** Which servers its tests run against; absent: none, or one for each test. */
  against?: "real" | "embedded";
  /** How many of its files run at the same time; default 1. */
  jobs?: number;
}

const embedded =
  "the embedded server as 3.4, 3.8 and 3.9 over TCP, and as 3.9 in memory";

const parts: Part[] = [
  {
    name: "unit",
    paths: [
      "tests/layout_test.ts",
      "tests/protocol",
      "tests/lock",
      "tests/examples",
      "tests/runtimes/junit_test.ts",
    ],
    minutes: 1,
  },
  { name: "testing", paths: ["tests/testing"], minutes: 1 },
  {
    name: "embedded",
    paths: ["tests/embedded"],
    minutes: 1,
    against: "embedded",
    // They wait more than they work.
    jobs: 4,
  },
  {
    name: "real servers",
    paths: ["tests/real"],
    minutes: 4,
    against: "real",
  },
  { name: "faults", paths: ["tests/faults"], minutes: 5, against: "real" },
  {
    name: "strangers",
    paths: ["tests/strangers"],
    minutes: 3,
    against: "real",
  },
  { name: "tls", paths: ["tests/tls"], minutes: 1, against: "real" },
  { name: "simulation", paths: ["tests/simulation"], minutes: 2 },
  {
    name: "differential",
    paths: ["tests/differential"],
    minutes: 1,
    against: "real",
  },
  { name: "auth", paths: ["tests/auth"], minutes: 1, against: "real" },
  { name: "ways in", paths: ["tests/ways_in"], minutes: 2, against: "real" },
  {
    name: "edge workers",
    paths: [
      "tests/runtimes/workers_examples_test.ts",
      "tests/runtimes/workers_limits_test.ts",
      "tests/runtimes/workers_tls_test.ts",
      "tests/runtimes/workers_tls_real_test.ts",
      "tests/runtimes/workers_transport_test.ts",
    ],
    minutes: 1,
    against: "real",
  },
  { name: "workerd", elsewhere: runWorkers, minutes: 2, against: "real" },
  { name: "node", elsewhere: runNode, minutes: 3, against: "real" },
  { name: "bun", elsewhere: runBun, minutes: 1, against: "real" },
];

/** Ends what runs now. */
let stop = () => {};

/** Runs one part in a process of its own; its output goes through as it comes. */
async function runOnDeno(
  { name, paths = [], jobs = 1 }: Part,
  folder: string,
): Promise<Row[]> {
  const report = join(folder, `${name}.xml`);
  const status = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(process.execPath, [
      "test",
      "-A",
      "--sanitize-ops",
      "--sanitize-resources",
      "--import-map",
      "tests/offline.import_map.json",
      `--junit-path=${report}`,
      ...jobs > 1 ? ["--parallel"] : [],
      ...paths,
    ], {
      stdio: "inherit",
      env: { ...process.env, DENO_JOBS: `${jobs}` },
    });
    stop = () => child.kill();
    child.on("error", reject);
    child.on("close", resolve);
  });
  const results = resultsIn(await readFile(report, "utf8").catch(() => ""));
  const { passed, failed } = countOf(results);
  // A file that does not load fails without a test to show for it; a part of
  // which nothing passed, or that left no report, has tested nothing.
  if ((status !== 0 || passed === 0) && failed === 0) {
    results.push({ name: `${name} ended with ${status}`, outcome: "failed" });
  }
  return rowsOf(`Deno ${Deno.version.deno}`, results);
}

/** What real servers there are to test against; throws an InstallError that says what to do if none. */
async function servers(): Promise<string> {
  const given = process.env.ZOOKEEPER_SERVERS;
  if (given) return `the servers at ${given} (ZOOKEEPER_SERVERS)`;
  const wanted = process.env.ZKLOCK_VERSIONS ?? versions.join(",");
  const names: string[] = [];
  for (const version of versions.filter((v) => wanted.includes(v))) {
    await install(version);
    names.push(version);
  }
  return `ZooKeeper ${names.join(", ")}`;
}

/** Where the parts leave their reports. Goes with this process, also when it is interrupted. */
function reportFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "zklock-reports-"));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      stop();
      process.exit(1);
    });
  }
  return folder;
}

async function main(): Promise<number> {
  const only = process.argv.slice(2);
  const chosen = parts.filter(({ name }) =>
    only.length === 0 || only.includes(name)
  );
  const targets: string[] = [];
  try {
    const kinds = chosen.map(({ against }) => against);
    if (kinds.includes("real")) targets.push(await servers());
    if (kinds.includes("embedded")) targets.push(embedded);
  } catch (error) {
    if (!(error instanceof InstallError)) throw error;
    console.error(error.message);
    return 1;
  }
  const folder = reportFolder();
  const rows: Row[] = [];
  const lines: string[] = [];
  for (const part of chosen) {
    console.log(`\n== ${part.name}`);
    const start = performance.now();
    const own = await (part.elsewhere?.() ?? runOnDeno(part, folder));
    const minutes = ((performance.now() - start) / 60_000).toFixed(1);
    const { passed, failed } = totalOf(own);
    rows.push(...own);
    lines.push(
      `${part.name}: ${passed} passed, ${failed} failed, ` +
        `${minutes} of ${part.minutes} min`,
    );
  }
  console.log(`\n${lines.join("\n")}`);
  const against = targets.length > 0 ? targets.join("; ") : "no server";
  console.log(`Tested against ${against}\n`);
  console.log(tableOf(merged(rows)));
  const { passed, failed } = totalOf(rows);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && chosen.length > 0 ? 0 : 1;
}

process.exit(await main());
