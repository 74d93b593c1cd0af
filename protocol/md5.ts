// MD5, which SASL's DIGEST-MD5 is made of (RFC 1321).
// Pure: no runtime has it in Web Crypto, and the runtimes' own are not to be had by URL.
// Used by digest_md5.ts. No secret is kept safe by it: it is what the servers use.

/** By how much each step of a round rotates. */
const shifts = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [
  6,
  10,
  15,
  21,
]];
const constants = Int32Array.from(
  { length: 64 },
  (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32) | 0,
);

/** The sixteen bytes of the hash. */
export function md5(message: Uint8Array): Uint8Array {
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  const words = new Int32Array(16);
  const padded = pad(message);
  for (let at = 0; at < padded.byteLength; at += 64) {
    for (let i = 0; i < 16; i++) words[i] = padded.getInt32(at + 4 * i, true);
    mix(state, words);
  }
  const hash = new DataView(new ArrayBuffer(16));
  state.forEach((word, i) => hash.setInt32(4 * i, word, true));
  return new Uint8Array(hash.buffer);
}

function mix(state: Int32Array, words: Int32Array): void {
  let [a, b, c, d] = state;
  for (let i = 0; i < 64; i++) {
    const round = i >> 4;
    const [choice, word] = round === 0
      ? [(b & c) | (~b & d), i]
      : round === 1
      ? [(d & b) | (~d & c), 5 * i + 1]
      : round === 2
      ? [b ^ c ^ d, 3 * i + 5]
      : [c ^ (b | ~d), 7 * i];
    const sum = (a + choice + constants[i] + words[word & 15]) | 0;
    const by = shifts[round][i & 3];
    [a, d, c, b] = [d, c, b, (b + ((sum << by) | (sum >>> (32 - by)))) | 0];
  }
  [a, b, c, d].forEach((word, i) => state[i] = (state[i] + word) | 0);
}

/** The message, a bit that ends it, zeros, and its length in bits, in whole blocks. */
function pad(message: Uint8Array): DataView {
  const bytes = new Uint8Array(64 * Math.ceil((message.length + 9) / 64));
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setBigUint64(bytes.length - 8, 8n * BigInt(message.length), true);
  return view;
}
