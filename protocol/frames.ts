// Cuts a stream of bytes into packets: a length in four bytes, then so many bytes.
// Knows nothing of what is in them.
// Used by session.ts for what the server sends, and by testing/ for both directions.

import { ProtocolError } from "./errors.ts";

/** Chunks up to this size start a buffer that is worth keeping when it is empty again. */
const keep = 64 * 1024;

/**
 * Collects chunks and hands out whole packets. Memory grows with the bytes that
 * came, not with the length a peer claims, and never beyond the limit.
 */
export class Frames {
  readonly #limit: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  /** @param limit Largest packet to accept, in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes of a packet that is not complete yet. */
  get partial(): number {
    return this.#end - this.#start;
  }

  /** Takes what came from the network. The chunk is not changed and not kept. */
  push(chunk: Uint8Array): void {
    if (this.#start === this.#end) this.#start = this.#end = 0;
    if (this.#end + chunk.length > this.#bytes.length) this.#grow(chunk.length);
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /**
   * The next whole packet without its length, or null. It is a view that the
   * next push() may overwrite. Throws a ProtocolError for a length below 0 or
   * above the limit.
   */
  next(): Uint8Array | null {
    if (this.partial < 4) {
      if (this.partial === 0 && this.#bytes.length > keep) {
        this.#bytes = new Uint8Array(0);
        this.#start = this.#end = 0;
      }
      return null;
    }
    const length = this.#length();
    if (length < 0 || length > this.#limit) {
      throw new ProtocolError(
        `Cannot read a packet of ${length} bytes: the limit is ${this.#limit}`,
        0,
      );
    }
    if (this.partial < 4 + length) return null;
    const from = this.#start + 4;
    this.#start = from + length;
    return this.#bytes.subarray(from, this.#start);
  }

  #length(): number {
    const b = this.#bytes, at = this.#start;
    return (b[at] << 24) | (b[at + 1] << 16) | (b[at + 2] << 8) | b[at + 3];
  }

  #grow(more: number): void {
    const size = this.partial + more;
    const larger = size * 2 <= this.#bytes.length
      ? this.#bytes
      : new Uint8Array(Math.max(size, 2 * this.#bytes.length, 1024));
    larger.set(this.#bytes.subarray(this.#start, this.#end));
    this.#bytes = larger;
    this.#end = this.partial;
    this.#start = 0;
  }
}
