// Jute's primitives: what goes over the wire for each value, and that no hostile length costs memory or crashes.
// Pure; records are tested against recorded bytes in golden_test.ts.

import { assertEquals, assertLess, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ProtocolError } from "../../protocol/errors.ts";
import {
  boolean,
  buffer,
  int,
  long,
  nullableUstring,
  Reader,
  record,
  trailing,
  type Type,
  ustring,
  vector,
  Writer,
} from "../../protocol/jute.ts";
import { Acl } from "../../protocol/records.ts";
import { hex, seeded } from "./wire.ts";

function written<T>(type: Type<T>, value: T, capacity?: number): Uint8Array {
  const writer = new Writer(capacity);
  type.write(writer, value);
  return writer.copy();
}

function again<T>(type: Type<T>, value: T): T {
  return type.read(new Reader(written(type, value)));
}

function readHex<T>(type: Type<T>, text: string): T {
  return type.read(new Reader(hex(text)));
}

describe("Writer and Reader", () => {
  it("int keeps its extremes", () => {
    const values = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)];

    const back = values.map((value) => again(int, value));

    assertEquals(back, values);
  });

  it("long keeps its extremes, which no number could", () => {
    const values = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 0x100000b596c0006n];

    const back = values.map((value) => again(long, value));

    assertEquals(back, values);
  });

  it("boolean reads every byte but 0 as true", () => {
    const bytes = ["00", "01", "02", "ff"];

    const values = bytes.map((byte) => readHex(boolean, byte));

    assertEquals(values, [false, true, true, true]);
  });

  it("buffer tells null from empty", () => {
    const values = [null, new Uint8Array(0)];

    const bytes = values.map((value) => written(buffer, value));

    assertEquals(bytes, [hex("ffffffff"), hex("00000000")]);
    assertEquals(values.map((value) => again(buffer, value)), values);
  });

  it("buffer reads a copy, so that later packets do not change it", () => {
    const packet = hex("0000000201020304");

    const value = buffer.read(new Reader(packet));
    packet.fill(9);

    assertEquals(value, hex("0102"));
  });

  it("Reader.byte() and the others read from a view into a larger buffer", () => {
    const view = hex("ffffff0000000700000000000000ff").subarray(3, 14);

    const reader = new Reader(view);

    assertEquals([reader.int(), reader.left, reader.offset], [7, 7, 4]);
  });

  it("ustring refuses null with the offset at which it stands", () => {
    const reader = new Reader(hex("00000000ffffffff"));
    reader.int();

    const error = assertThrows(() => ustring.read(reader), ProtocolError);

    assertEquals(error.offset, 4);
  });

  it("nullableUstring tells null from empty", () => {
    const back = [null, ""].map((value) => again(nullableUstring, value));

    assertEquals(back, [null, ""]);
  });

  it("ustring writes the UTF-8 that TextEncoder writes, around 64 characters and for every kind of character", () => {
    const kinds = [
      "a",
      "~",
      "\u0080",
      "é",
      "日",
      "\ud7ff",
      "\ue000",
      "😀",
      "\0",
    ];
    const lengths = [0, 1, 62, 63, 64, 65, 66, 200];
    const texts = kinds.flatMap((kind) =>
      lengths.flatMap((
        n,
      ) => [kind.repeat(n), "x".repeat(n) + kind, kind + "x".repeat(n)])
    );

    const back = texts.map((text) => written(ustring, text).subarray(4));

    assertEquals(back, texts.map((text) => new TextEncoder().encode(text)));
  });

  it("ustring writes its length in bytes, not in characters", () => {
    const bytes = written(ustring, "日");

    assertEquals(bytes, hex("00000003e697a5"));
  });

  it("ustring writes a lone surrogate as U+FFFD, which no server mistakes for another", () => {
    const lone = ["\ud800", "a\udc00", "x".repeat(70) + "\ud83d"];

    const back = lone.map((text) => again(ustring, text));

    assertEquals(back, ["\ufffd", "a\ufffd", "x".repeat(70) + "\ufffd"]);
  });

  it("ustring reads Java's CESU-8 pairs and other invalid UTF-8 without an exception", () => {
    const cesu = "00000006eda0bdedb880";
    const invalid = "00000004c328ff80";

    const texts = [readHex(ustring, cesu), readHex(ustring, invalid)];

    assertEquals(texts.map((text) => text.includes("\ufffd")), [true, true]);
  });

  it("ustring keeps a byte order mark and NUL", () => {
    const text = "\ufeff/a\0b";

    const back = again(ustring, text);

    assertEquals(back, text);
  });

  it("Writer grows from any capacity without losing a byte", () => {
    const value = Array.from({ length: 300 }, (_, i) => `name-${i}-ü`);
    const type = vector(ustring);

    const results = [0, 1, 3, 512, 5000].map((capacity) =>
      written(type, value, capacity)
    );

    for (const bytes of results) {
      assertEquals(type.read(new Reader(bytes)), value);
    }
  });

  it("Writer.truncate() takes back what was written last", () => {
    const writer = new Writer(2);
    writer.int(1);
    const start = writer.length;
    writer.text("forget me, please");

    writer.truncate(start);
    writer.int(2);

    assertEquals(writer.copy(), hex("0000000100000002"));
  });

  it("Writer.patchInt() overwrites in place and Writer.copy() is cut loose", () => {
    const writer = new Writer();
    writer.int(0);
    writer.raw(hex("aabb"));

    writer.patchInt(0, 2);
    const copy = writer.copy();
    writer.patchInt(0, 9);

    assertEquals(copy, hex("00000002aabb"));
  });

  it("vector reads a null list as an empty one", () => {
    const list = readHex(vector(int), "ffffffff");

    assertEquals(list, []);
  });

  it("trailing leaves undefined away and reads what is there", () => {
    const type = trailing(boolean);

    const bytes = [undefined, false, true].map((value) => written(type, value));

    assertEquals(bytes, [hex(""), hex("00"), hex("01")]);
    assertEquals([...bytes].map((b) => type.read(new Reader(b))), [
      undefined,
      false,
      true,
    ]);
  });

  it("record writes its fields in the order of the table, whatever that of the value", () => {
    const type = record("Pair", { first: int, second: boolean });

    const bytes = written(type, { second: true, first: 5 });

    assertEquals(bytes, hex("0000000501"));
  });

  it("record ignores bytes behind its fields: newer servers may add some", () => {
    const value = readHex(Acl, "0000001f0000000161000000016200000000ff");

    assertEquals(value, { perms: 31, scheme: "a", id: "b" });
  });
});

describe("Reader against hostile bytes", () => {
  const cases: Array<[string, Type<unknown>, string, number]> = [
    ["an int cut off", int, "000000", 0],
    ["a long cut off", long, "00000000000000", 0],
    ["a boolean that is missing", boolean, "", 0],
    ["a buffer of -2 bytes", buffer, "fffffffe", 0],
    ["a buffer of -2^31 bytes", buffer, "80000000", 0],
    ["a buffer of 2^31-1 bytes", buffer, "7fffffff00", 0],
    ["a buffer one byte short", buffer, "0000000301ff", 0],
    ["a buffer without its length", buffer, "0000", 0],
    ["a string of -2 bytes", ustring, "fffffffe", 0],
    ["a string of 2^31-1 bytes", ustring, "7fffffff61", 0],
    ["a string longer than the packet", ustring, "0000000461", 0],
    ["a list of -2 items", vector(int), "fffffffe", 0],
    ["a list of 2^31-1 items", vector(int), "7fffffff00000001", 0],
    [
      "a list of more items than bytes",
      vector(boolean),
      "00000003010101".slice(0, 12),
      0,
    ],
    ["a list that ends early", vector(int), "0000000200000001", 8],
    ["a list of null strings", vector(ustring), "00000001ffffffff", 4],
  ];

  for (const [what, type, text, offset] of cases) {
    it(`${type.name} reads ${what} as a ProtocolError at ${offset}`, () => {
      const reader = new Reader(hex(text));

      const error = assertThrows(() => type.read(reader), ProtocolError);

      assertEquals([error.offset, error.code], [offset, "Protocol"]);
    });
  }

  it("vector allocates for the items that came, not for the 2^31-1 that were promised", () => {
    let items = 0;
    const counting: Type<number> = {
      ...int,
      read: (from) => (items++, from.int()),
    };
    const packet = new Uint8Array(4096);
    new DataView(packet.buffer).setInt32(0, 2 ** 31 - 1);

    assertThrows(
      () => vector(counting).read(new Reader(packet)),
      ProtocolError,
    );

    assertEquals(items, 0);
  });

  it("vector of strings with a count that fits ends after at most as many reads as there are bytes", () => {
    let items = 0;
    const counting: Type<string> = {
      ...ustring,
      read: (from) => (items++, ustring.read(from)),
    };
    const packet = new Uint8Array(4096);
    new DataView(packet.buffer).setInt32(0, 4092);

    assertThrows(
      () => vector(counting).read(new Reader(packet)),
      ProtocolError,
    );

    assertLess(items, 1025);
  });

  it("every type reads random bytes as a value or a ProtocolError", () => {
    const random = seeded(1);
    const types: Array<Type<unknown>> = [
      int,
      long,
      boolean,
      buffer,
      ustring,
      vector(Acl),
    ];
    const others: unknown[] = [];

    for (let i = 0; i < 5000; i++) {
      const bytes = Uint8Array.from(
        { length: random() * 40 },
        () => random() < 0.5 ? 0 : random() * 256,
      );
      try {
        types[i % types.length].read(new Reader(bytes));
      } catch (error) {
        if (!(error instanceof ProtocolError)) others.push(error);
      }
    }

    assertEquals(others, []);
  });
});
