// Packets as they may be printed: passwords, credentials and proofs overwritten.
// Looks at the packets that have such things, at their places, and believes no length.
// Used by trace.ts, and by what the embedded server and the proxy show.

const star = 0x2a;
/** What a server's proof begins with: who has it can try passwords. */
const proof = new TextEncoder().encode("rspauth=");

/**
 * The packet, or a copy in which what is secret is overwritten with asterisks:
 * a session's password, a credential, a SASL token. Lengths stay.
 *
 * @param bytes Without the length of the packet.
 */
export function withoutSecrets(
  direction: "sent" | "received",
  op: string | null,
  bytes: Uint8Array,
): Uint8Array {
  const at = direction === "sent"
    ? sentSecret(op, bytes)
    : receivedSecret(op, bytes);
  if (at === undefined) return bytes;
  const begin = at + 4;
  const length = Math.max(0, intAt(bytes, at));
  const secret = bytes.subarray(begin, begin + length);
  // A client without a session sends zeros.
  if (secret.every((byte) => byte === 0)) return bytes;
  return bytes.slice().fill(star, begin, begin + length);
}

/** Where the length of the secret stands. */
function sentSecret(op: string | null, bytes: Uint8Array): number | undefined {
  if (op === "connect") return 24;
  if (op === "auth") return 16 + Math.max(0, intAt(bytes, 12));
  return op === "sasl" ? 8 : undefined;
}

function receivedSecret(
  op: string | null,
  bytes: Uint8Array,
): number | undefined {
  if (op === "connect") return 16;
  return proof.every((byte, i) => bytes[20 + i] === byte) ? 16 : undefined;
}

/** 0 where the packet has ended. */
function intAt(bytes: Uint8Array, at: number): number {
  if (bytes.length < at + 4) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset).getInt32(at);
}
