import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  compareSequences,
  exclusive,
  isExhausted,
  Line,
  warnFrom,
} from "../../lock/queue.ts";

const lock = (id: string, number: string) => `_c_${id}-lock-${number}`;

describe("compareSequences()", () => {
  it("orders numbers as a 32-bit counter that runs over counts them", () => {
    const counted = [2147483646, 2147483647, -2147483648, -2147483647];
    const sorted = [...counted].reverse().sort(compareSequences);
    assertEquals(sorted, counted);
  });
});

describe("Line", () => {
  it("orders by number, not by name (ZOOKEEPER-2931)", () => {
    const line = new Line(["x-9-0000000002", "x-10-0000000001"]);
    const names = line.contenders.map(({ name }) => name);
    assertEquals(names, ["x-10-0000000001", "x-9-0000000002"]);
  });

  it("lines up contenders of all clients, and sets strangers apart", () => {
    const line = new Line([
      "notes",
      lock("b", "0000000003"),
      "0123456789abcdef0123456789abcdef__lock__0000000001",
      "lock-0000000002",
    ]);
    assertEquals(line.contenders.map(({ sequence }) => sequence), [1, 2, 3]);
    assertEquals(line.strangers, ["notes"]);
  });

  it("says how many are ahead, and nothing of who is not there", () => {
    const line = new Line([lock("a", "0000000005"), lock("b", "0000000004")]);
    const ahead = (name: string) => line.standingOf(name)?.ahead;
    assertEquals(ahead(lock("a", "0000000005")), 1);
    assertEquals(ahead(lock("b", "0000000004")), 0);
    assertEquals(ahead("nobody"), undefined);
  });

  it("keeps everybody's order whatever strange numbers stand beside them", () => {
    // Neither has an order with both of the others that all agree on.
    const strange = ["lock--2147483642", "lock-1073741830", "lock--1073741820"];
    for (const one of strange) {
      for (const other of strange) {
        const five = lock("a", "0000000005");
        const six = lock("b", "0000000006");
        const { order, ahead } = new Line([one, six, other, five])
          .standingOf(six)!;
        const before = order.slice(0, ahead).map(({ name }) => name);
        assertEquals(before.at(-1), five, `beside ${one}, ${other}`);
      }
    }
  });

  it("stays in order where the counter ran over (kazoo#606)", () => {
    const line = new Line(["lock--2147483648", "lock-2147483647"]);
    assertEquals(line.standingOf("lock--2147483648")?.ahead, 1);
    assertEquals(line.standingOf("lock-2147483647")?.ahead, 0);
  });

  it("sees a tie on either side (kazoo#730: two holders)", () => {
    const line = new Line([
      lock("a", "2147483647"),
      lock("b", "2147483647"),
      lock("c", "2147483646"),
    ]);
    const tied = line.contenders.map(({ name }) => line.standingOf(name)!.tied);
    assertEquals(tied, [false, true, true]);
  });
});

describe("exclusive()", () => {
  it("waits for the nearest ahead, and for nobody at the head", () => {
    const { contenders } = new Line([
      lock("a", "0000000001"),
      lock("b", "0000000002"),
    ]);
    assertEquals(exclusive(contenders, 2).map((c) => c.sequence), [2]);
    assertEquals(exclusive(contenders, 1).map((c) => c.sequence), [1]);
    assertEquals(exclusive(contenders, 0), []);
  });
});

describe("isExhausted()", () => {
  it("refuses where the counter sticks, and beyond", () => {
    const refused = [2147483647, -2147483648, -1];
    assert(refused.every(isExhausted));
    assert(![0, 2147483646].some(isExhausted));
  });

  it("comes long after the warning", () => {
    assertEquals(2147483647 - warnFrom, 2 ** 20 - 1);
  });
});
