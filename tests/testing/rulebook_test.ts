// Rulebook: who decides about a packet, and what becomes of faults that are never met.
// Packets are numbers, verdicts are words.

import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Rulebook } from "../../testing/rulebook.ts";

function even(packet: number): string | undefined {
  return packet % 2 === 0 ? "even" : undefined;
}

describe("Rulebook", () => {
  it("has no opinion without a fault", () => {
    const book = new Rulebook<number, string>("server");

    const verdict = book.judge(2);

    assertEquals(verdict, undefined);
  });

  it("once() is over with the first packet it has an opinion of, and resolves with it", async () => {
    const book = new Rulebook<number, string>("server");
    const met = book.once("do it", even);

    const verdicts = [1, 2, 4].map((packet) => book.judge(packet));

    assertEquals(verdicts, [undefined, "even", undefined]);
    assertEquals(await met, 2);
  });

  it("asks in the order in which faults were made, until one has an opinion", async () => {
    const book = new Rulebook<number, string>("server");
    const first = book.once("do it", even);
    const second = book.once("do it", () => "any");

    const verdicts = [2, 4].map((packet) => book.judge(packet));

    assertEquals(verdicts, ["even", "any"]);
    assertEquals(await Promise.all([first, second]), [2, 4]);
  });

  it("always() stays until it is given up", () => {
    const book = new Rulebook<number, string>("server");
    book.always(even);

    const before = [2, 3, 4].map((packet) => book.judge(packet));
    book.giveUp("was healed first");

    assertEquals(before, ["even", undefined, "even"]);
    assertEquals(book.judge(2), undefined);
  });

  it("giveUp() rejects what was not met, and says why", async () => {
    const book = new Rulebook<number, string>("server");
    const met = book.once("cut before create", even);

    book.giveUp("was healed first");

    await assertRejects(
      () => met,
      Error,
      "Cannot cut before create: the server was healed first",
    );
    assertEquals(book.judge(2), undefined);
  });

  it("giveUp() leaves what was met", async () => {
    const book = new Rulebook<number, string>("server");
    const met = book.once("do it", even);
    book.judge(2);

    book.giveUp("was healed first");

    assertEquals(await met, 2);
  });

  it("nobody need look at a promise that rejects", async () => {
    const book = new Rulebook<number, string>("server");
    book.once("do it", even);

    book.giveUp("was closed first");
    await new Promise((resolve) => setTimeout(resolve, 0));

    assertEquals(book.judge(2), undefined);
  });
});
