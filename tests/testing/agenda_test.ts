// Agenda: the earliest first, ties in order, and what was taken back is gone.
// Pure: no clock.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Agenda } from "../../testing/agenda.ts";
import { Random } from "../../testing/random.ts";

describe("Agenda", () => {
  it("hands out a thousand things by time, then by the order they were added", () => {
    const random = new Random(1);
    const agenda = new Agenda();
    const added = Array.from({ length: 1000 }, (_, order) => ({
      at: random.between(0, 50),
      order,
    }));
    const ran: typeof added = [];
    for (const each of added) agenda.add(each.at, () => ran.push(each));

    for (let run; (run = agenda.take());) run();

    const sorted = [...added].sort((a, b) => a.at - b.at || a.order - b.order);
    assertEquals(ran, sorted);
  });

  it("never hands out what was taken back", () => {
    const random = new Random(2);
    const agenda = new Agenda();
    const ran: number[] = [];
    const cancels = Array.from(
      { length: 300 },
      (_, i) => agenda.add(random.between(0, 9), () => ran.push(i)),
    );
    for (let i = 0; i < 300; i += 2) cancels[i]();
    const { size } = agenda;

    for (let run; (run = agenda.take());) run();

    assertEquals([size, ran.length, agenda.size], [150, 150, 0]);
    assertEquals(ran.every((i) => i % 2 === 1), true);
  });

  it("next is the time of the first that is left, Infinity for none", () => {
    const agenda = new Agenda();
    const cancel = agenda.add(1, () => {});
    agenda.add(2, () => {});

    const before = agenda.next;
    cancel();
    const after = agenda.next;
    agenda.take();

    assertEquals([before, after, agenda.next], [1, 2, Infinity]);
    assertEquals(agenda.take(), undefined);
  });

  it("size counts what was taken back twice, or after it ran, once", () => {
    const agenda = new Agenda();
    const [a, b] = [agenda.add(1, () => {}), agenda.add(2, () => {})];
    agenda.add(3, () => {});
    agenda.take();

    a();
    b();
    b();

    assertEquals(agenda.size, 1);
  });
});
