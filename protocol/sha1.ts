// SHA-1, which ZooKeeper's digest scheme is made of.
// Pure, and in one turn: Web Crypto has it as a promise only, and the runtimes' own are not to be had by URL.
// Used by acl.ts, and by the embedded server. No secret is kept safe by it: it is what the servers use.

const initial = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
const constants = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6];

/** The twenty bytes of the hash. */
export function sha1(message: Uint8Array): Uint8Array {
  const state = Int32Array.from(initial);
  const words = new Int32Array(80);
  const padded = pad(message);
  for (let at = 0; at < padded.byteLength; at += 64) {
    for (let i = 0; i < 16; i++) words[i] = padded.getInt32(at + 4 * i);
    for (let i = 16; i < 80; i++) {
      words[i] = rotate(
        words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16],
        1,
      );
    }
    mix(state, words);
  }
  const hash = new DataView(new ArrayBuffer(20));
  state.forEach((word, i) => hash.setInt32(4 * i, word));
  return new Uint8Array(hash.buffer);
}

function mix(state: Int32Array, words: Int32Array): void {
  let [a, b, c, d, e] = state;
  for (let i = 0; i < 80; i++) {
    const round = Math.floor(i / 20);
    const choice = round === 0
      ? (b & c) | (~b & d)
      : round === 2
      ? (b & c) | (b & d) | (c & d)
      : b ^ c ^ d;
    const next = (rotate(a, 5) + choice + e + constants[round] + words[i]) | 0;
    [a, b, c, d, e] = [next, a, rotate(b, 30), c, d];
  }
  [a, b, c, d, e].forEach((word, i) => state[i] = (state[i] + word) | 0);
}

/** The message, a bit that ends it, zeros, and its length in bits, in whole blocks. */
function pad(message: Uint8Array): DataView {
  const blocks = Math.ceil((message.length + 9) / 64);
  const bytes = new Uint8Array(64 * blocks);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setBigUint64(bytes.length - 8, 8n * BigInt(message.length));
  return view;
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
