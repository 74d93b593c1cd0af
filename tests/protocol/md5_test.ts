// MD5 against the vectors of RFC 1321 and another implementation.
// Pure.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createHash } from "node:crypto";
import { md5 } from "../../protocol/md5.ts";

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/** RFC 1321, A.5. */
const vectors = {
  "": "d41d8cd98f00b204e9800998ecf8427e",
  "a": "0cc175b9c0f1b6a831c399e269772661",
  "abc": "900150983cd24fb0d6963f7d28e17f72",
  "message digest": "f96b697d7cb7938d525a2f31aaf161d0",
  "abcdefghijklmnopqrstuvwxyz": "c3fcd3d76192e4007dfb496cca67e13b",
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789":
    "d174ab98d277d9f5a5611c2c9f419d9f",
  "12345678901234567890123456789012345678901234567890123456789012345678901234567890":
    "57edf4a22be3c955ac49da2e2107b67a",
};

describe("md5()", () => {
  for (const [text, expected] of Object.entries(vectors)) {
    it(`of "${text}" is that of the RFC`, () => {
      const hash = hex(md5(new TextEncoder().encode(text)));

      assertEquals(hash, expected);
    });
  }

  it("is that of another implementation, for every length up to four blocks", () => {
    const messages = Array.from(
      { length: 257 },
      (_, length) => Uint8Array.from({ length }, (_, i) => 7 * i + length),
    );

    const hashes = messages.map((message) => hex(md5(message)));

    const expected = messages.map((message) =>
      createHash("md5").update(message).digest("hex")
    );
    assertEquals(hashes, expected);
  });
});
