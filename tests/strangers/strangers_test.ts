// Strangers' clients find on the embedded server what they find on a real one.
// Must not know how they are run.
// Run by `deno task test`; docs/strangers.md has the same as a table.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type Column,
  columnOf,
  differences,
  faults,
  fileOf,
  shortfalls,
} from "./columns.ts";
import { contest } from "./curator.ts";
import { kazooFiles, parse } from "./kazoo.ts";
import { type Host, startEmbedded, startReal } from "./servers.ts";
import { clean } from "./zkcli_clean.ts";

/** What a server on its own can't do. */
const knownFailures = [
  "test_client.py::TestReconfig::test_add_remove_observer",
  "test_client.py::TestReconfig::test_bad_input",
  "test_client.py::TestReconfig::test_no_super_auth",
];

async function run(start: () => Promise<Host>): Promise<Column> {
  await using host = await start();
  return await columnOf(host);
}

const real = await run(startReal);
const embedded = await run(startEmbedded);

// Without these, "as on a real one" would mean nothing.
describe("On a real server", () => {
  it("kazoo's tests pass, but for those that need an ensemble", () => {
    const failed = real.kazoo.filter(({ status }) => status !== "passed");

    assertEquals(failed.map(({ name }) => name), knownFailures);
    assertEquals([...new Set(real.kazoo.map(fileOf))], [...kazooFiles]);
    assert(real.kazoo.length > 200, `${real.kazoo.length} tests`);
  });

  it("Curator's mutex lets in one at a time", () => {
    const found = real.curator.flatMap(faults);

    assertEquals(found, []);
    assertEquals(real.curator.length, 2);
  });

  it("ZooKeeper's shell comes to the end of the script", () => {
    const text = real.zkcli.join("\n");

    assert(text.includes("Created ROOT/queue-0000000001"), text);
    assert(text.includes("type:PersistentWatchRemoved path:ROOT/a/b"), text);
    assert(!text.includes("(the shell"), text);
  });
});

describe("On the embedded server", () => {
  for (const file of kazooFiles) {
    it(`kazoo's ${file} passes wherever it passes on a real one`, () => {
      const found = shortfalls(real, embedded, file);

      assertEquals(found, []);
    });
  }

  for (const [at, clients] of ["own", "shared"].entries()) {
    it(`Curator's mutex lets in one at a time (clients: ${clients})`, () => {
      const result = embedded.curator[at];

      assertEquals(result.clients, clients);
      assertEquals(faults(result), []);
    });
  }

  it("ZooKeeper's shell is answered as by a real one, line by line", () => {
    const found = differences(real.zkcli, embedded.zkcli);

    assertEquals(found, []);
  });
});

describe("What is compared", () => {
  const ended = { code: 1, stdout: "", stderr: "oops\n", late: false };

  it("has a failure for a test that python did not survive, and for a file it never came to", () => {
    const text = '{"test": "a.py::b", "status": "started"}\n{"tes';

    const tests = parse(text, ended, ["a.py", "c.py"]);

    assertEquals(
      tests.map(({ name, status, reason }) => [name, status, reason]),
      [
        ["a.py::b", "failed", "python ended with 1 during this test: oops"],
        ["c.py", "failed", "python ended with 1 without a word of it: oops"],
      ],
    );
  });

  it("falls short where a test passed and now fails, is skipped, or is missing", () => {
    const test = { reason: "", seconds: 0, tries: 1 };
    const names = ["a", "b", "c", "d"];
    const passed = names.map((name) => ({
      ...test,
      name,
      status: "passed" as const,
    }));
    const [a, b, c] = passed;
    const kazoo = [a, { ...b, status: "failed" as const, reason: "no" }, {
      ...c,
      status: "skipped" as const,
    }];

    const found = shortfalls(
      { ...real, kazoo: passed },
      { ...real, kazoo },
    );

    assertEquals(found, ["b: failed, no", "c: skipped, ", "d: not run, "]);
  });

  it("has a fault wherever a contest of Curator's is not as it should be", () => {
    const all = contest.threads * contest.rounds;
    const good = {
      ...{ clients: "own" as const, acquired: all, counted: all, overlaps: 0 },
      ...{ left: 0, isGone: true, ms: 1, error: "" },
    };

    const found = [
      good,
      { ...good, acquired: all - 1, counted: all - 1 },
      { ...good, counted: all - 1 },
      { ...good, overlaps: 1 },
      { ...good, left: 1 },
      { ...good, isGone: false },
      { ...good, error: "late" },
    ].map((result) => faults(result).length);

    assertEquals(found, [0, 1, 1, 1, 1, 1, 1]);
  });

  it("keeps of the shell's words what a server decides", () => {
    const text = [
      "> stat /r/a",
      "cZxid = 0x1f",
      "mtime = Tue Dec 01 02:53:13 UTC 2026",
      "mZxid = 0x2a",
      "pZxid = 0x1f",
      "ephemeralOwner = 0x1000ad2f9c60000",
      "",
      "WATCHER::",
      "",
      "WatchedEvent state:SyncConnected type:None path:null",
      "SLF4J: something",
      "> whoami",
      "Auth scheme: User",
      "ip: 127.0.0.1",
      "digest: me",
      "> ls",
      "[/r/b, /r/a]",
      "ctime = Thu Jan 01 00:00:00 UTC 1970",
      "ephemeralOwner = 0x0",
    ].join("\n");

    const lines = clean(text, "/r", "127.0.0.1:1");

    assertEquals(lines, [
      "> stat ROOT/a",
      "cZxid = #0",
      "mtime = (time)",
      "mZxid = #1",
      "pZxid = #0",
      "ephemeralOwner = (session)",
      "> whoami",
      "Auth scheme: User",
      "digest: me",
      "ip: 127.0.0.1",
      "> ls",
      "[ROOT/a, ROOT/b]",
      "ctime = Thu Jan 01 00:00:00 UTC 1970",
      "ephemeralOwner = 0x0",
      "> (watch events)",
      "WatchedEvent state:SyncConnected type:None path:null",
    ]);
  });

  it("differs where a command is answered otherwise, or not at all", () => {
    const one = ["> a", "1", "> b", "2", "> c"];
    const two = ["> a", "1", "> b", "3"];

    const found = differences(one, two);

    assertEquals(found, [
      { command: "> b", real: ["2"], other: ["3"] },
      { command: "> c", real: [], other: ["(not run)"] },
    ]);
  });
});
