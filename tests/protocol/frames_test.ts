// Cutting a stream into packets: however the network splits or joins it, the same packets come out.
// Pure; the property tests use seeds, so that a failure comes again.

import { assert, assertEquals, assertLess, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { memoryUsage } from "node:process";
import { ProtocolError } from "../../protocol/errors.ts";
import { Frames } from "../../protocol/frames.ts";
import { bytes, framed, hex, joined, seeded } from "./wire.ts";

const limit = 16 * 1024 * 1024;

/** All packets that are complete after these chunks, as copies. */
function packets(frames: Frames, ...chunks: Uint8Array[]): Uint8Array[] {
  const all: Uint8Array[] = [];
  for (const chunk of chunks) {
    frames.push(chunk);
    for (let p = frames.next(); p !== null; p = frames.next()) {
      all.push(p.slice());
    }
  }
  return all;
}

function frame(...content: number[]): Uint8Array {
  return framed((to) => to.raw(Uint8Array.from(content)));
}

describe("Frames", () => {
  it("next() answers null as long as nothing came", () => {
    const frames = new Frames(limit);

    const packet = frames.next();

    assertEquals([packet, frames.partial], [null, 0]);
  });

  it("next() hands out the packets of one chunk in their order, empty ones too", () => {
    const stream = joined(frame(1, 2), frame(), frame(3));

    const found = packets(new Frames(limit), stream);

    assertEquals(found, [hex("0102"), hex(""), hex("03")]);
  });

  it("next() puts packets together from chunks of one byte", () => {
    const stream = joined(frame(1, 2, 3), frame(4), frame());

    const found = packets(
      new Frames(limit),
      ...Array.from(stream, (b) => Uint8Array.of(b)),
    );

    assertEquals(found, [hex("010203"), hex("04"), hex("")]);
  });

  it("next() finds a packet whatever place the stream is split at, in the length too", () => {
    const stream = joined(frame(1, 2, 3), frame(4, 5));
    const expected = [hex("010203"), hex("0405")];

    const found = Array.from(
      stream,
      (_, at) =>
        packets(new Frames(limit), stream.subarray(0, at), stream.subarray(at)),
    );

    for (const one of found) assertEquals(one, expected);
  });

  it("next() cuts 1,000 packets out of one segment", () => {
    const stream = joined(
      ...Array.from({ length: 1000 }, (_, i) => frame(i % 256, i >> 8)),
    );

    const found = packets(new Frames(limit), stream);

    assertEquals(
      found.map(([low, high]) => low + high * 256),
      Array.from({ length: 1000 }, (_, i) => i),
    );
  });

  it("push() neither keeps nor changes the chunk", () => {
    const chunk = frame(1, 2, 3);
    const frames = new Frames(limit);

    frames.push(chunk.subarray(0, 6));
    chunk.fill(9);
    frames.push(hex("03"));

    assertEquals(frames.next(), hex("010203"));
  });

  it("partial counts the bytes of a packet that is not complete", () => {
    const frames = new Frames(limit);

    const counts = [frame(1, 2, 3), frame(4).subarray(0, 2)].map((chunk) => {
      packets(frames, chunk);
      return frames.partial;
    });

    assertEquals(counts, [0, 2]);
  });

  for (
    const [what, length] of [["-1", "ffffffff"], ["-2^31", "80000000"], [
      "2^31-1",
      "7fffffff",
    ], ["limit + 1", "01000001"]]
  ) {
    it(`next() refuses a length of ${what} as soon as its four bytes are there`, () => {
      const frames = new Frames(limit);
      frames.push(hex(length));

      const error = assertThrows(() => frames.next(), ProtocolError);

      assert(error.message.includes(String(limit)));
    });
  }

  it("next() takes a packet of exactly the limit", () => {
    const frames = new Frames(3);

    const found = packets(frames, frame(1, 2, 3));

    assertEquals(found, [hex("010203")]);
    assertThrows(() => packets(frames, frame(1, 2, 3, 4)), ProtocolError);
  });

  for (
    const text of [
      "HTTP/1.1 400 Bad Request\r\n",
      "\x15\x03\x03\0\x02\x02\x28",
      "imok",
      "This ZooKeeper instance is not currently serving requests\n",
      "SSH-2.0-OpenSSH",
    ]
  ) {
    it(`next() refuses ${JSON.stringify(text.slice(0, 8))}…, which is no ZooKeeper server`, () => {
      const frames = new Frames(limit);
      frames.push(bytes(text));

      assertThrows(() => frames.next(), ProtocolError);

      assertEquals(frames.partial, text.length);
    });
  }

  it("next() gives the same packets for every random chunking of the same stream", () => {
    const random = seeded(20);
    const different: number[] = [];

    for (let round = 0; round < 300; round++) {
      const sent = Array.from({ length: random() * 12 }, () => {
        const size = random() < 0.1 ? random() * 70_000 : random() * 300;
        return Uint8Array.from({ length: size }, (_, i) => i + round);
      });
      const stream = joined(
        ...sent.map((packet) => framed((to) => to.raw(packet))),
      );
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < stream.length;) {
        const size = 1 +
          Math.floor(random() ** 3 * (random() < 0.2 ? 80_000 : 40));
        chunks.push(stream.subarray(at, at + size));
        at += size;
      }
      const frames = new Frames(limit);
      const found = packets(frames, ...chunks);
      const same = found.length === sent.length &&
        found.every((packet, i) =>
          packet.length === sent[i].length &&
          packet.every((b, j) => b === sent[i][j])
        );
      if (!same || frames.partial !== 0) different.push(round);
    }

    assertEquals(different, []);
  });
});

describe("The memory of Frames", () => {
  /** What is behind the views that are handed out. */
  function behind(frames: Frames): number {
    frames.push(frame());
    return frames.next()!.buffer.byteLength;
  }

  it("grows with the bytes that came, not with the length that was claimed", () => {
    const { arrayBuffers, external } = memoryUsage();
    const hundred = Array.from({ length: 100 }, () => new Frames(limit));

    for (const frames of hundred) {
      packets(frames, hex("00ffffff"), new Uint8Array(100));
    }

    const now = memoryUsage();
    assertLess(
      now.arrayBuffers + now.external - arrayBuffers - external,
      2 * limit,
    );
    assertEquals(hundred.map(({ partial }) => partial), hundred.map(() => 104));
  });

  it("stays below four times the largest packet over 2,000 packets in odd chunks", () => {
    const random = seeded(3);
    const frames = new Frames(limit);
    const packet = framed((to) => to.raw(new Uint8Array(1000)));
    const stream = joined(...Array.from({ length: 2000 }, () => packet));
    let largest = 0;

    for (let at = 0; at < stream.length;) {
      const size = 1 + Math.floor(random() * 1500);
      frames.push(stream.subarray(at, at + size));
      at += size;
      for (let p = frames.next(); p !== null; p = frames.next()) {
        largest = Math.max(largest, p.buffer.byteLength);
      }
    }

    assertLess(largest, 4 * (1004 + 1500));
  });

  it("of a large packet is given back when it was read", () => {
    const frames = new Frames(limit);
    const large = framed((to) => to.raw(new Uint8Array(1024 * 1024)));

    packets(frames, large);

    assertLess(behind(frames), 64 * 1024);
  });
});
