// The queue that requests stand in: first in, first out, whatever is done to it meanwhile.
// Pure.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Fifo } from "../../protocol/requests.ts";
import { seeded } from "./wire.ts";

describe("Fifo", () => {
  it("first and shift() of an empty one are undefined", () => {
    const fifo = new Fifo<number>();

    const found = [fifo.first, fifo.shift(), fifo.length];

    assertEquals(found, [undefined, undefined, 0]);
  });

  it("drain() empties it, in order, behind what was shifted", () => {
    const fifo = new Fifo<number>();
    for (const n of [1, 2, 3]) fifo.push(n);
    fifo.shift();

    const drained = fifo.drain();

    assertEquals([drained, fifo.length, fifo.first], [[2, 3], 0, undefined]);
  });

  it("keep() drops what is not wanted and keeps the order", () => {
    const fifo = new Fifo<number>();
    for (const n of [1, 2, 3, 4, 5]) fifo.push(n);
    fifo.shift();

    fifo.keep((n) => n !== 3);

    assertEquals([fifo.first, fifo.length, fifo.drain()], [2, 3, [2, 4, 5]]);
  });

  it("does what a plain array does, over 100,000 random steps", () => {
    const random = seeded(11);
    const fifo = new Fifo<number>();
    const array: number[] = [];
    let different = 0;

    for (let step = 0; step < 100_000; step++) {
      // Long enough for shift() to make room: more in than out, then the other way round.
      if (random() < (step % 20_000 < 10_000 ? 0.7 : 0.3)) {
        fifo.push(step);
        array.push(step);
      } else if (fifo.shift() !== array.shift()) different++;
      if (fifo.length !== array.length || fifo.first !== array[0]) different++;
    }

    assertEquals([different, fifo.drain()], [0, array]);
  });
});
