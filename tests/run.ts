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

/** A part of the suite, and how long it may take: a budget to look at, not an assertion. */
interface Part {
  name: string;
  paths: string[];
  minutes: number;
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
  { name: "simulation", paths: ["tests/simulation"], minutes: 2 },
  {
    name: "differential",
    paths: ["tests/differential"],
    minutes: 1,
    against: "real",
  },
  { name: "auth", paths: ["tests/auth"], minutes: 1, against: "real" },
  { name: "ways in", paths: ["tests/ways_in"], minutes: 1, against: "real" },
];

/** Ends what runs now. */
let stop = () => {};

interface Count {
  passed: number;
  failed: number;
  ignored: number;
}

/** Runs one part in a process of its own; its output goes through as it comes. */
async function run(part: Part, folder: string): Promise<Count> {
  const report = join(folder, `${part.name}.xml`);
  const status = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(process.execPath, [
      "test",
      "-A",
      "--sanitize-ops",
      "--sanitize-resources",
      "--import-map",
      "tests/offline.import_map.json",
      `--junit-path=${report}`,
      ...part.jobs ? ["--parallel"] : [],
      ...part.paths,
    ], {
      stdio: "inherit",
      env: { ...process.env, DENO_JOBS: `${part.jobs ?? 1}` },
    });
    stop = () => child.kill();
    child.on("error", reject);
    child.on("close", resolve);
  });
  const count = countIn(await readFile(report, "utf8").catch(() => ""));
  // A file that does not load fails without a test to show for it; a part of
  // which nothing passed, or that left no report, has tested nothing.
  const isBad = status !== 0 || count.passed === 0;
  if (isBad && count.failed === 0) count.failed = 1;
  return count;
}

function countIn(junit: string): Count {
  const [, tests, failures, errors] =
    /<testsuites[^>]* tests="(\d+)" failures="(\d+)" errors="(\d+)"/
      .exec(junit) ?? ["", "0", "0", "0"];
  const ignored = junit.match(/<skipped/g)?.length ?? 0;
  const failed = Number(failures) + Number(errors);
  return { passed: Number(tests) - failed - ignored, failed, ignored };
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
  const total: Count = { passed: 0, failed: 0, ignored: 0 };
  const lines: string[] = [];
  for (const part of chosen) {
    console.log(`\n== ${part.name}`);
    const start = performance.now();
    const count = await run(part, folder);
    const minutes = ((performance.now() - start) / 60_000).toFixed(1);
    total.passed += count.passed;
    total.failed += count.failed;
    total.ignored += count.ignored;
    lines.push(
      `${part.name}: ${count.passed} passed, ${count.failed} failed, ` +
        `${minutes} of ${part.minutes} min`,
    );
  }
  console.log(`\n${lines.join("\n")}`);
  const against = targets.length > 0 ? targets.join("; ") : "no server";
  console.log(`Tested against ${against}, on Deno ${Deno.version.deno}`);
  if (total.ignored > 0) console.log(`${total.ignored} ignored`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 && chosen.length > 0 ? 0 : 1;
}

process.exit(await main());
