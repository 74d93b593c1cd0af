// Jute, ZooKeeper's serialization: five primitives, lists, and records made of them.
// Knows no record of the protocol and no I/O.
// Used by records.ts for its tables, by outgoing.ts to write and by session.ts to read.

import { ProtocolError } from "./errors.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Strings up to this length are tried as ASCII, a byte a character: twice as fast as encodeInto (measured). */
const asciiLoop = 64;

/** Appends big-endian values to a growing buffer. */
export class Writer {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(capacity = 512) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Forgets everything behind the first `length` bytes. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** A copy of what was written, for somebody who keeps it. */
  copy(from = 0): Uint8Array {
    return this.#bytes.slice(from, this.#length);
  }

  /** Overwrites the int at `offset`, e.g. a length that is known only afterwards. */
  patchInt(offset: number, value: number): void {
    this.#view.setInt32(offset, value);
  }

  byte(value: number): void {
    const at = this.#grow(1);
    this.#bytes[at] = value;
  }

  int(value: number): void {
    const at = this.#grow(4);
    this.#view.setInt32(at, value);
  }

  long(value: bigint): void {
    const at = this.#grow(8);
    this.#view.setBigInt64(at, value);
  }

  /** Bytes as they are, without a length. */
  raw(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  buffer(bytes: Uint8Array | null): void {
    if (bytes === null) return this.int(-1);
    this.int(bytes.length);
    this.raw(bytes);
  }

  text(value: string | null): void {
    if (value === null) return this.int(-1);
    const at = this.#grow(4 + value.length * 3);
    const written = this.#ascii(value, at + 4) ??
      encoder.encodeInto(value, this.#bytes.subarray(at + 4)).written;
    this.#view.setInt32(at, written);
    this.#length = at + 4 + written;
  }

  #ascii(value: string, at: number): number | undefined {
    if (value.length > asciiLoop) return undefined;
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i);
      if (unit > 0x7f) return undefined;
      this.#bytes[at + i] = unit;
    }
    return value.length;
  }

  /** Makes room for `count` bytes more and answers where they begin. */
  #grow(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(
        Math.max(this.#bytes.length * 2, this.#length),
      );
      larger.set(this.#bytes.subarray(0, at));
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }
}

/** Reads big-endian values out of one packet; every overrun is a ProtocolError. */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(
      bytes.buffer,
      bytes.byteOffset,
      bytes.byteLength,
    );
  }

  /** Where the next value begins, in bytes from the start of the packet. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes not read yet. */
  get left(): number {
    return this.#bytes.length - this.#offset;
  }

  byte(): number {
    return this.#bytes[this.#take(1, "a byte")];
  }

  int(): number {
    return this.#view.getInt32(this.#take(4, "an int"));
  }

  long(): bigint {
    return this.#view.getBigInt64(this.#take(8, "a long"));
  }

  /** A copy, so that a small value does not keep a large packet in memory. */
  buffer(): Uint8Array | null {
    const length = this.count("a buffer");
    if (length === -1) return null;
    const at = this.#take(length, "a buffer");
    return this.#bytes.slice(at, at + length);
  }

  text(): string | null {
    const length = this.count("a string");
    if (length === -1) return null;
    const at = this.#take(length, "a string");
    return decoder.decode(this.#bytes.subarray(at, at + length));
  }

  /** A length or a count: -1 for null, else never more than the bytes that are left. */
  count(what: string): number {
    const at = this.#offset;
    const count = this.int();
    if (count < -1 || count > this.left) {
      throw new ProtocolError(
        `Cannot read ${what}: its length is ${count} with ${this.left} bytes left`,
        at,
      );
    }
    return count;
  }

  #take(count: number, what: string): number {
    if (count > this.left) {
      throw new ProtocolError(
        `Cannot read ${what}: ${this.left} bytes left at ${this.#offset}`,
        this.#offset,
      );
    }
    const at = this.#offset;
    this.#offset += count;
    return at;
  }
}

/** How values of one kind lie on the wire. */
export interface Type<T> {
  /** The name in ZooKeeper's own definition, or of the primitive. */
  readonly name: string;
  write(to: Writer, value: T): void;
  read(from: Reader): T;
  /** Of a record: its fields in wire order, for whoever reads them by rules of its own. */
  readonly fields?: Readonly<Record<string, Type<unknown>>>;
  /** Of a list. */
  readonly item?: Type<unknown>;
}

/** The values a type describes. */
export type ValueOf<T> = T extends Type<infer V> ? V : never;

/** Four bytes, signed. */
export const int: Type<number> = {
  name: "int",
  write: (to, value) => to.int(value),
  read: (from) => from.int(),
};

/** Eight bytes, signed: session ids and zxids, which do not fit a number. */
export const long: Type<bigint> = {
  name: "long",
  write: (to, value) => to.long(value),
  read: (from) => from.long(),
};

/** One byte; everything but 0 is true. */
export const boolean: Type<boolean> = {
  name: "boolean",
  write: (to, value) => to.byte(value ? 1 : 0),
  read: (from) => from.byte() !== 0,
};

/** Bytes with their length in front; null and empty are different values. */
export const buffer: Type<Uint8Array | null> = {
  name: "buffer",
  write: (to, value) => to.buffer(value),
  read: (from) => from.buffer(),
};

/** UTF-8 with its length in bytes in front, where the protocol has no use for null. */
export const ustring: Type<string> = {
  name: "ustring",
  write: (to, value) => to.text(value),
  read(from) {
    const at = from.offset;
    const value = from.text();
    if (value === null) {
      throw new ProtocolError("Cannot read a string: it is null", at);
    }
    return value;
  },
};

/** A string that may be null. */
export const nullableUstring: Type<string | null> = {
  name: "ustring",
  write: (to, value) => to.text(value),
  read: (from) => from.text(),
};

/** A list with its count in front. A null list, which no server sends, is read as an empty one. */
export function vector<T>(item: Type<T>): Type<readonly T[]> {
  return {
    name: `vector<${item.name}>`,
    item: item as Type<unknown>,
    write(to, values) {
      to.int(values.length);
      for (const value of values) item.write(to, value);
    },
    read(from) {
      const count = from.count("a list");
      const values: T[] = [];
      for (let i = 0; i < count; i++) values.push(item.read(from));
      return values;
    },
  };
}

/** The last field of a record that older peers leave out: undefined is not written. */
export function trailing<T>(type: Type<T>): Type<T | undefined> {
  return {
    name: type.name,
    write(to, value) {
      if (value !== undefined) type.write(to, value);
    },
    read: (from) => from.left > 0 ? type.read(from) : undefined,
  };
}

/** The value of a record with these fields. */
export type RecordOf<F> = { -readonly [K in keyof F]: ValueOf<F[K]> };

/** Fields in wire order, without tags or padding: a table is all there is to a record. */
export function record<F extends Record<string, Type<unknown>>>(
  name: string,
  fields: F,
): Type<RecordOf<F>> {
  const columns = Object.entries(fields);
  return {
    name,
    fields,
    write(to, value) {
      for (const [key, type] of columns) {
        type.write(to, value[key as keyof F]);
      }
    },
    read(from) {
      const value: Record<string, unknown> = {};
      for (const [key, type] of columns) value[key] = type.read(from);
      return value as RecordOf<F>;
    },
  };
}
