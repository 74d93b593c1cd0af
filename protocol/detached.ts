// A session without a connection: what another client needs to go on with it.
// Knows no client; what is secret in here is not shown when it is printed.
// Made by detach.ts, read by options.ts.

/** What connect() needs to go on with a session. */
export interface SessionKey {
  /** The id the ensemble gave it. */
  readonly id: bigint;
  /** Proves that the session is ours: whoever has it has its ephemeral znodes and locks. A secret. */
  readonly password: Uint8Array;
  /** How long the ensemble keeps it without hearing of us, in ms; asked for again. */
  readonly timeout: number;
  /** The newest transaction it saw: no server that is behind it is taken. Default 0n. */
  readonly zxid?: bigint;
}

const mark = "zklock-session";

/**
 * A session that a client has left and another may go on with, within
 * `timeout` ms. Printing, spreading or cloning it leaves the password out; to
 * store it, use {@linkcode DetachedSession.toSecret}.
 */
export class DetachedSession implements SessionKey {
  /** The id the ensemble gave it. */
  readonly id: bigint;
  /** Proves that the session is ours. A secret. */
  declare readonly password: Uint8Array;
  /** How long the ensemble keeps it, in ms. */
  readonly timeout: number;
  /** The newest transaction it saw. */
  readonly zxid: bigint;

  /** Made by the library. */
  constructor({ id, password, timeout, zxid = 0n }: SessionKey) {
    this.id = id;
    this.timeout = timeout;
    this.zxid = zxid;
    Object.defineProperty(this, "password", { value: password.slice() });
  }

  /** All of it in one line of text, to be stored where secrets are; `connect()` takes it as `session`. */
  toSecret(): string {
    const { id, timeout, zxid, password } = this;
    const hex = Array.from(password, (byte) => hexOf(BigInt(byte), 2)).join("");
    return [mark, hexOf(id), timeout, hexOf(zxid), hex].join(":");
  }
}

function hexOf(number: bigint, digits = 1): string {
  return BigInt.asUintN(64, number).toString(16).padStart(digits, "0");
}

/** Reads what somebody passes to connect() as `session`. Throws a TypeError that tells nothing of what is in it. */
export function sessionKeyOf(given: SessionKey | string): SessionKey {
  const key = typeof given === "string" ? parsed(given) : given ?? {};
  const { id, password, timeout, zxid = 0n } = key;
  if (typeof id !== "bigint" || id === 0n || typeof zxid !== "bigint") {
    throw unusable("it has no id");
  }
  if (!(password instanceof Uint8Array) || password.length === 0) {
    throw unusable("it has no password; a copy has none, store toSecret()");
  }
  if (!Number.isInteger(timeout) || timeout <= 0) {
    throw unusable("it has no timeout");
  }
  return { id, password: password.slice(), timeout, zxid };
}

function parsed(text: string): SessionKey {
  const shape = new RegExp(
    `^${mark}:([0-9a-f]{1,16}):(\\d{1,10}):([0-9a-f]{1,16}):((?:[0-9a-f]{2})+)$`,
  );
  const found = shape.exec(text);
  if (found === null) throw unusable("the text is not that of toSecret()");
  const [, id, timeout, zxid, password] = found;
  const signed = (hex: string) => BigInt.asIntN(64, BigInt(`0x${hex}`));
  return {
    id: signed(id),
    timeout: Number(timeout),
    zxid: signed(zxid),
    password: Uint8Array.from(
      password.match(/../g)!,
      (byte) => Number.parseInt(byte, 16),
    ),
  };
}

function unusable(why: string): TypeError {
  return new TypeError(`Cannot resume a session: ${why}`);
}
