// Names of contenders: ours and those of every other client in the field, and the numbers in them.
// Pure: knows no client.
// Used by queue.ts to line contenders up, and by enter.ts to name its own.

/** What the name of a contender says. */
export interface ContenderName {
  /** The whole name. */
  readonly name: string;
  /** The number the server gave it, as a signed 32-bit integer. */
  readonly sequence: number;
  /** Who made it, as far as the name tells. */
  readonly id: string | null;
  /** What it wants: `lock`, `read`, `write`, or `other` for a form nobody here knows. */
  readonly kind: "lock" | "read" | "write" | "other";
}

/** What `%010d` makes of a 32-bit integer: a negative one has a sign and nine or ten digits. */
const number = /^(?:\d{10}|-\d{9,10})$/;

/** The number in these digits, or null for one that no server writes. */
function sequenceIn(digits: string): number | null {
  const value = Number(digits);
  return (value | 0) === value ? value : null;
}

/**
 * What stands before the number, by client. Curator and go-zk: `lock-` after
 * `_c_` and an id, and `__READ__`, `__WRIT__`; kazoo: an id, then `__lock__` or
 * `__rlock__`; tutorials: `lock-` alone.
 */
const markers: readonly (readonly [string, ContenderName["kind"]])[] = [
  ["__rlock__", "read"],
  ["__lock__", "lock"],
  ["__READ__", "read"],
  ["__WRIT__", "write"],
  ["lock-", "lock"],
];

/** Java's recipe: `x-<session id>-`, in decimal and perhaps negative; C's: in 16 hex digits. */
const recipe = /^x-(-?\d{1,20}|[0-9a-f]{16})-(-?\d{9,10})$/;

/** The name under which one of ours asks for its place: Curator's form, so that Curator and go-zk understand it. */
export function contenderPrefix(id: string): string {
  return `_c_${id}-lock-`;
}

/**
 * What a child's name says, or null for a child that is no contender. Any name
 * that ends in ten digits counts as one: a stranger may wait in our queue.
 */
export function parseName(name: string): ContenderName | null {
  for (const [marker, kind] of markers) {
    const at = name.lastIndexOf(marker);
    if (at < 0) continue;
    const digits = name.slice(at + marker.length);
    if (!number.test(digits)) continue;
    const sequence = sequenceIn(digits);
    if (sequence === null) return null;
    return { name, kind, id: idIn(name.slice(0, at)), sequence };
  }
  const [, id, digits] = recipe.exec(name) ?? [];
  const isRecipe = id !== undefined && number.test(digits);
  const ofRecipe = isRecipe ? sequenceIn(digits) : null;
  if (ofRecipe !== null) return { name, kind: "lock", id, sequence: ofRecipe };
  const [signed, last] = /-?(\d{10})$/.exec(name) ?? [];
  if (signed === undefined) return null;
  // A hyphen belongs to the name, unless the number could not be without a sign.
  const sequence = sequenceIn(last) ?? sequenceIn(signed);
  return sequence === null ? null : { name, kind: "other", id: null, sequence };
}

function idIn(before: string): string | null {
  const id = before.replace(/^_c_/, "").replace(/-$/, "");
  return id === "" ? null : id;
}

/** An id nobody else has: a random UUID (RFC 9562, version 4). */
export function newId(random: (bytes: Uint8Array) => void): string {
  const bytes = new Uint8Array(16);
  random(bytes);
  bytes[6] = bytes[6] & 0x0f | 0x40;
  bytes[8] = bytes[8] & 0x3f | 0x80;
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join(
    "",
  );
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
