// Reports as Deno, Node and Bun write them, and the table that is made of them.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { countOf, resultsIn } from "./junit.ts";
import { merged, rowsOf, tableOf, totalOf } from "./table.ts";

const reports = {
  Node: `<?xml version="1.0" encoding="utf-8"?>
<testsuites>
\t<testcase name="ZooKeeper 3.8.0 > a &amp; b" time="0.1" classname="test"/>
\t<testcase name="x > c" time="0.1" classname="test" failure="no">
\t\t<failure type="testCodeFailure" message="no">no > yes</failure>
\t</testcase>
\t<testcase name="x > d" time="0.1" classname="test">
\t\t<skipped type="skipped" message="true"/>
\t</testcase>
</testsuites>`,
  Bun: `<testsuites name="bun test" tests="3" failures="1" skipped="1">
  <testsuite name="suite.test.mjs" file="suite.test.mjs" tests="3">
    <testcase name="ZooKeeper 3.8.0 &gt; a &amp; b" classname="" time="1" file="s" line="1" assertions="0" />
    <testcase name="x &gt; c" classname="" time="1" file="s" line="1" assertions="0">
      <failure type="AssertionError" />
    </testcase>
    <testcase name="x &gt; d" classname="" time="0" file="s" line="1" assertions="0">
      <skipped />
    </testcase>
  </testsuite>
</testsuites>`,
  Deno: `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="3" failures="1" errors="0" time="0.002">
    <testsuite name="./x_test.ts" tests="3" disabled="1" errors="0" failures="1">
        <testcase name="ZooKeeper 3.8.0 &gt; a &amp; b" classname="./x_test.ts" time="0.001" line="1" col="6">
        </testcase>
        <testcase name="x &gt; c" classname="./x_test.ts" time="0.001" line="2" col="6">
            <failure message="Uncaught">no</failure>
        </testcase>
        <testcase name="x &gt; d" classname="./x_test.ts" time="0.000" line="3" col="6">
            <skipped/>
        </testcase>
    </testsuite>
</testsuites>`,
};

describe("resultsIn()", () => {
  for (const [runtime, report] of Object.entries(reports)) {
    it(`finds every test in a report of ${runtime}`, () => {
      const results = resultsIn(report);

      assertEquals(results, [
        { name: "ZooKeeper 3.8.0 > a & b", outcome: "passed" },
        { name: "x > c", outcome: "failed" },
        { name: "x > d", outcome: "skipped" },
      ]);
    });
  }

  it("finds none where there is no report", () => {
    const results = resultsIn("");

    assertEquals(countOf(results), { passed: 0, failed: 0, skipped: 0 });
  });
});

describe("The table", () => {
  it("has a row for each runtime and target, and loses no test", () => {
    const results = resultsIn(reports.Node);
    const rows = [
      ...rowsOf("Deno", results),
      ...rowsOf("Node", results),
      ...rowsOf("Deno", results),
    ];

    const text = tableOf(merged(rows));

    assertEquals(text.split("\n").map((line) => line.split(/\s{2,}/)), [
      ["runtime", "target", "passed", "failed", "skipped"],
      ["Deno", "ZooKeeper 3.8.0", "2", "0", "0"],
      ["Deno", "no server, or one of their own", "0", "2", "2"],
      ["Node", "ZooKeeper 3.8.0", "1", "0", "0"],
      ["Node", "no server, or one of their own", "0", "1", "1"],
    ]);
    assertEquals(totalOf(rows), { passed: 3, failed: 3, skipped: 3 });
  });
});
