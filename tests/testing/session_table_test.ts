// The session table: until when a session lives (reference, 5.8), and who is due.
// Times are given, none pass.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { SessionTable } from "../../testing/session_table.ts";

const password = new Uint8Array(16);

function opened(tick: number, timeout: number, now: number): SessionTable {
  const table = new SessionTable(tick);
  table.open(1n, password, timeout, now);
  return table;
}

describe("SessionTable", () => {
  const deadlines: [tick: number, timeout: number, now: number, end: number][] =
    [
      [200, 400, 0, 600],
      [200, 400, 1, 600],
      [200, 400, 199, 600],
      [200, 400, 199.9, 600],
      [200, 400, 200, 800],
      [200, 1000, 50, 1200],
      [1, 1000, 0, 1001],
      [1000, 30, 10, 1000],
    ];

  for (const [tick, timeout, now, end] of deadlines) {
    it(`a session of ${timeout} ms, heard of at ${now}, ends at ${end} with a tick of ${tick}`, () => {
      const table = opened(tick, timeout, now);

      const { deadline } = table.get(1n)!;

      assertEquals(deadline, end);
    });
  }

  it("touch() moves the deadline on", () => {
    const table = opened(200, 400, 0);

    const isKnown = table.touch(1n, 350);

    assertEquals([isKnown, table.nextDeadline], [true, 800]);
  });

  it("touch() never moves the deadline back, also if the timeout became shorter", () => {
    const table = opened(200, 4000, 0);
    table.get(1n)!.timeout = 400;

    table.touch(1n, 100);

    assertEquals(table.nextDeadline, 4200);
  });

  it("touch() answers that a session is not known, and makes none", () => {
    const table = new SessionTable(200);

    const isKnown = table.touch(1n, 0);

    assertEquals([isKnown, table.size], [false, 0]);
  });

  it("nextDeadline is the earliest, and Infinity without a session", () => {
    const table = opened(100, 900, 0);
    table.open(2n, password, 400, 0);
    table.open(3n, password, 700, 0);

    const before = table.nextDeadline;
    for (const id of [1n, 2n, 3n]) table.close(id);

    assertEquals([before, table.nextDeadline], [500, Infinity]);
  });

  it("expired() lists those whose deadline has come, in the order of their opening", () => {
    const table = opened(100, 900, 0);
    table.open(2n, password, 400, 0);
    table.open(3n, password, 300, 0);

    const lists = [399, 400, 500].map((now) =>
      table.expired(now).map(({ id }) => id)
    );

    assertEquals(lists, [[], [3n], [2n, 3n]]);
  });

  it("close() forgets a session, once", () => {
    const table = opened(100, 900, 0);

    const answers = [table.close(1n), table.close(1n)];

    assertEquals([...answers, table.list()], [true, false, []]);
  });
});
