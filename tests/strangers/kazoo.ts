// kazoo's own tests, as Debian ships them, on a server that is already there.
// Must not know which server it is, nor what the tests are to find.
// Called by columns.ts; kazoo_adapter.py does the work.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Ended, start } from "./child.ts";
import { installPackages } from "./packages.ts";

/** How one test went. */
export interface KazooTest {
  /** As pytest names it: "test_lock.py::KazooLockTests::test_lock". */
  name: string;
  status: "passed" | "failed" | "skipped";
  /** Why it failed or was skipped; empty if it passed. */
  reason: string;
  seconds: number;
  /** How often it was run until it passed; failed ones get a second chance. */
  tries: number;
}

/** The files, in groups that take about as long; a group is one process. */
const groups = [
  ["test_watchers.py"],
  ["test_lock.py"],
  [
    "test_client.py",
    "test_election.py",
    "test_barrier.py",
    "test_queue.py",
    "test_counter.py",
    "test_party.py",
    "test_lease.py",
  ],
];

/** All files that are run. */
export const kazooFiles: readonly string[] = groups.flat().sort();

const packages = ["python3-kazoo", "python3-pytest", "python3-mock"];

/** For one test; the slowest takes 5 s. */
const secondsPerTest = 30;
/** For one group. */
const groupTimeout = 240_000;

/** Installs what it needs; resolves with its version. */
export async function installKazoo(): Promise<string> {
  return `kazoo ${(await installPackages(packages))["python3-kazoo"]}`;
}

/** Runs all tests against the server at `address` ("host:port"), sorted by name. */
export async function runKazoo(address: string): Promise<KazooTest[]> {
  await installKazoo();
  const first = await Promise.all(
    groups.map((files) => runTests(address, files)),
  );
  const tests = new Map(first.flat().map((test) => [test.name, test]));
  // Some of them wait for half a second and call that long enough, which on a
  // busy machine it is not. What is wrong with a server is wrong again.
  const failed = [...tests.values()].filter(({ status }) =>
    status === "failed"
  );
  if (failed.length > 0) {
    const names = failed.map(({ name }) => name);
    for (const test of await runTests(address, names)) {
      tests.set(test.name, { ...test, tries: 2 });
    }
  }
  return [...tests.values()].sort((a, b) => a.name < b.name ? -1 : 1);
}

/** Runs files, or tests by their name, in one process. */
async function runTests(
  address: string,
  names: readonly string[],
): Promise<KazooTest[]> {
  const folder = await mkdtemp(join(tmpdir(), "zklock-kazoo-"));
  const results = join(folder, "results");
  const adapter = fileURLToPath(new URL("kazoo_adapter.py", import.meta.url));
  const command = [
    // Debian's, whatever python3 is first on PATH.
    "/usr/bin/python3",
    // Nobody's modules but Debian's; no bytecode is left there.
    "-I",
    "-B",
    adapter,
    address,
    results,
    `${secondsPerTest}`,
    ...names,
  ];
  const env = {
    PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1",
    PYTEST_ADDOPTS: "",
    // kazoo's tests would believe its version instead of asking the server.
    TRAVIS: undefined,
  };
  try {
    const ended = await start(command, groupTimeout, env).ended;
    return parse(await readFile(results, "utf8").catch(() => ""), ended, names);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Line {
  test: string;
  status: "found" | "started" | KazooTest["status"] | "end";
  reason?: string;
  seconds?: number;
}

/** The last word on each test; one that was started and has none did not survive it. */
export function parse(
  text: string,
  ended: Ended,
  names: readonly string[],
): KazooTest[] {
  const lines = text.split("\n").filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line) as Line);
  const how = ended.late ? "took too long" : `ended with ${ended.code}`;
  const last = ended.stderr.trim().split("\n").at(-1) ?? "";
  const tests = new Map<string, KazooTest>();
  for (const { test, status, reason = "", seconds = 0 } of lines) {
    if (status === "end") continue;
    const isDone = status !== "found" && status !== "started";
    const started = status === "started" ? "during this test" : "before it";
    tests.set(test, {
      name: test,
      status: isDone ? status : "failed",
      reason: isDone ? reason : `python ${how} ${started}: ${last}`,
      seconds,
      tries: 1,
    });
  }
  // A file of which nothing was heard must not look as if it had no tests.
  for (const name of names) {
    if ([...tests.keys()].some((test) => test.startsWith(name))) continue;
    const reason = `python ${how} without a word of it: ${last}`;
    tests.set(name, { name, status: "failed", reason, seconds: 0, tries: 1 });
  }
  return [...tests.values()];
}
