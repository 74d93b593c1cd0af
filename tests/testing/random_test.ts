// Random: the same numbers for the same seed, for ever and everywhere.
// The known numbers were made by another implementation of xoshiro128** and splitmix32 (in Python).

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Random } from "../../testing/random.ts";

function numbers(random: Random, count = 4): number[] {
  return Array.from({ length: count }, () => random.bits());
}

describe("Random", () => {
  const known: [seed: number, name: string, first: number[]][] = [
    [1, "", [393288148, 2174103013, 3814759091, 2092745082]],
    [0, "", [1789933344, 44971166, 2521387044, 3848737593]],
    [-1, "", [4104197751, 1825856343, 1152209388, 2427537429]],
    [1, "environment", [4276429368, 2900991322, 3743930753, 829586415]],
  ];

  for (const [seed, name, first] of known) {
    it(`begins with known numbers for the seed ${seed} and the name "${name}"`, () => {
      const random = new Random(seed, name);

      const result = numbers(random);

      assertEquals(result, first);
    });
  }

  it("gives the same for the same seed and name, another for others", () => {
    const [a, b, c, d] = [
      new Random(7, "x"),
      new Random(7, "x"),
      new Random(8, "x"),
      new Random(7, "y"),
    ].map((random) => numbers(random));

    assertEquals(a, b);
    assertNotEquals(a, c);
    assertNotEquals(a, d);
  });

  it("streams of one seed do not move each other", () => {
    const [x, y] = [new Random(7, "x"), new Random(7, "y")];
    const alone = numbers(new Random(7, "y"), 8);

    const mixed = Array.from({ length: 8 }, () => {
      numbers(x, 3);
      return y.bits();
    });

    assertEquals(mixed, alone);
  });

  it("fraction() stays from 0 up to 1, and is spread evenly", () => {
    const random = new Random(1);
    const tenths = new Array(10).fill(0);

    for (let i = 0; i < 10_000; i++) {
      tenths[Math.floor(random.fraction() * 10)]++;
    }

    assertEquals(tenths.length, 10);
    assert(tenths.every((count) => count > 900 && count < 1100), `${tenths}`);
  });

  it("between() reaches both ends and nothing outside", () => {
    const random = new Random(1);

    const seen = new Set(
      Array.from({ length: 200 }, () => random.between(3, 6)),
    );

    assertEquals([...seen].sort(), [3, 4, 5, 6]);
  });

  it("chance() is never true for 0, always for 1, and as often as said", () => {
    const random = new Random(1);
    const count = (probability: number) =>
      Array.from({ length: 10_000 }, () => random.chance(probability))
        .filter(Boolean).length;

    const counts = [count(0), count(0.3), count(1)];

    assertEquals([counts[0], counts[2]], [0, 10_000]);
    assert(counts[1] > 2850 && counts[1] < 3150, `${counts[1]}`);
  });

  it("pick() gives each of them, and nothing else", () => {
    const random = new Random(1);

    const seen = new Set(
      Array.from({ length: 100 }, () => random.pick("abc".split(""))),
    );

    assertEquals([...seen].sort(), ["a", "b", "c"]);
  });

  it("shuffle() keeps all items, in any order", () => {
    const random = new Random(1);

    const orders = new Set(
      Array.from({ length: 200 }, () => random.shuffle([1, 2, 3]).join("")),
    );

    assertEquals([...orders].sort(), [
      "123",
      "132",
      "213",
      "231",
      "312",
      "321",
    ]);
  });

  it("fill() fills every byte with any of 256", () => {
    const bytes = new Uint8Array(10_000);

    new Random(1).fill(bytes);

    assertEquals(new Set(bytes).size, 256);
  });
});
