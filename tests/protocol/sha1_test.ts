// sha1(): the vectors of FIPS 180 and of RFC 3174, and every length at which a block is full.
// The longer ones were made by another implementation (Python's hashlib).

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { sha1 } from "../../protocol/sha1.ts";
import { bytes } from "../protocol/wire.ts";
import { hexOf } from "../testing/golden_compare.ts";

describe("sha1()", () => {
  const published = [
    ["", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
    ["abc", "a9993e364706816aba3e25717850c26c9cd0d89d"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
    ],
    [
      "0123456701234567012345670123456701234567012345670123456701234567"
        .repeat(10),
      "dea356a2cddd90c7a7ecedc5ebb563934f460452",
    ],
    ["a".repeat(1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"],
  ];

  for (const [message, hash] of published) {
    it(`gives the published hash of ${message.length} characters`, () => {
      const text = bytes(message);

      const result = sha1(text);

      assertEquals(hexOf(result), hash);
    });
  }

  const blocks: [length: number, hash: string][] = [
    [1, "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"],
    [54, "b05d71c64979cb95fa74a33cdb31a40d258ae02e"],
    [55, "c1c8bbdc22796e28c0e15163d20899b65621d65a"],
    [56, "c2db330f6083854c99d4b5bfb6e8f29f201be699"],
    [57, "f08f24908d682555111be7ff6f004e78283d989a"],
    [63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5"],
    [64, "0098ba824b5c16427bd7a1122a5a442a25ec644d"],
    [65, "11655326c708d70319be2610e8a57d9a5b959d3b"],
    [119, "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56"],
    [120, "f34c1488385346a55709ba056ddd08280dd4c6d6"],
    [128, "ad5b3fdbcb526778c2839d2f151ea753995e26a0"],
  ];

  for (const [length, hash] of blocks) {
    it(`pads a message of ${length} bytes`, () => {
      const message = new Uint8Array(length).fill(0x61);

      const result = sha1(message);

      assertEquals(hexOf(result), hash);
    });
  }

  it("leaves the message as it is", () => {
    const message = bytes("user:password");

    sha1(message);

    assertEquals(message, bytes("user:password"));
  });
});
