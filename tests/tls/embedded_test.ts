// TLS without Java: a TLS server in this process, in front of the embedded ZooKeeper; each runtime in its own.
// The outcomes are those of docs/tls.md.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createServer } from "node:http";
import { certificates } from "./certificates.ts";
import { clientOf, type Row, rowsOf, world } from "./outcomes.ts";
import type { Outcome } from "./probe.ts";
import { perform, runtimes } from "./runtimes.ts";

const { client, stranger, formerClient } = await certificates();

/** The outcomes, and what is wrong with messages: they are not compared in full. */
function compared(rows: readonly Row[], outcomes: readonly Outcome[]) {
  return outcomes.map(({ name, outcome, code, cause, message = "" }, i) => {
    const { says = "" } = rows[i][1];
    const said = message.includes(says) ? says : message;
    const fields = { name, outcome, code, cause, says: said };
    // Which of several servers came last is left to chance.
    return rows[i][1].code ? fields : { ...fields, code: undefined };
  });
}

describe("connect() by TLS", () => {
  for (const runtime of runtimes) {
    it(`ends on ${runtime} as docs/tls.md says`, async () => {
      await using stack = new AsyncDisposableStack();
      const to = await world(stack);
      const rows = rowsOf(to);

      const outcomes = await perform(runtime, rows.map(([job]) => job));

      const expected = rows.map(([{ name }, { says = "", ...more }]) => (
        { name, code: undefined, cause: undefined, ...more, says }
      ));
      assertEquals(compared(rows, outcomes), expected);
      assertEquals(secretsIn(JSON.stringify(outcomes)), []);
    });

    it(`holds locks on ${runtime}, whose connections are cut`, async () => {
      await using stack = new AsyncDisposableStack();
      const { mutual } = await world(stack);
      const cutter = createServer((_, response) => {
        mutual.cut();
        response.end();
      });
      await new Promise<void>((done) => cutter.listen(0, "127.0.0.1", done));
      const { port: cutAt } = cutter.address() as { port: number };
      const { servers } = mutual;
      const tls = clientOf(client);

      const [{ outcome, message }] = await perform(runtime, [
        { name: "locks", servers, tls, then: "lock", cutAt },
      ]);

      cutter.closeAllConnections();
      await new Promise((done) => cutter.close(done));
      assertEquals([outcome, message], ["locked", undefined]);
      // Two clients, cut twice.
      assertEquals(mutual.accepted >= 6, true, `${mutual.accepted}`);
    });
  }
});

/** Lines of keys that stand in a text. */
function secretsIn(text: string): string[] {
  return [client, stranger, formerClient].flatMap(({ key }) =>
    key.split("\n").filter((line) =>
      line !== "" && !line.startsWith("--") && text.includes(line)
    )
  );
}
