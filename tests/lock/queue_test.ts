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

  it("says how many are ahead, and -1 for who is not there", () => {
    const line = new Line([lock("a", "0000000005"), lock("b", "0000000004")]);
    assertEquals(line.placeOf(lock("a", "0000000005")), 1);
    assertEquals(line.placeOf(lock("b", "0000000004")), 0);
    assertEquals(line.placeOf("nobody"), -1);
  });

  it("sees a tie on either side (kazoo#730: two holders)", () => {
    const line = new Line([
      lock("a", "2147483647"),
      lock("b", "2147483647"),
      lock("c", "2147483646"),
    ]);
    assertEquals([0, 1, 2].map((at) => line.hasTie(at)), [false, true, true]);
  });
});

describe("exclusive()", () => {
  it("waits for the nearest ahead, and for nobody at the head", () => {
    const { contenders } = new Line([
      lock("a", "0000000001"),
      lock("b", "0000000002"),
    ]);
    assertEquals(exclusive(contenders).map(({ sequence }) => sequence), [2]);
    assertEquals(exclusive([]), []);
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
