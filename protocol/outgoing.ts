// The bytes of one turn of the event loop: requests are encoded when they are made and leave in one write.
// Knows no sockets and no sessions.
// Used by exchange.ts, and by options.ts to see that a credential is not too large.

import { maxRequestBytes } from "./codes.ts";
import { Writer } from "./jute.ts";
import { auth, type Operation, sasl } from "./operations.ts";
import { RequestHeader } from "./records.ts";
import type { Request } from "./requests.ts";

/** A buffer that grew beyond this is not kept for the next turn. */
const keep = 64 * 1024;
const headerBytes = 8;

/** Packets on their way to the socket. */
export class Outgoing {
  #writer = new Writer();
  #touching = false;

  /**
   * True if something of what take() will answer re-arms the session on the
   * server. Credentials do not: they are dealt with before the session is looked
   * at (measured on 3.8.0: a client that sends nothing else expires).
   */
  get touching(): boolean {
    return this.#touching;
  }

  /** Adds a packet that is not a request: only the handshake. */
  packet(write: (to: Writer) => void): void {
    const start = this.#writer.length;
    this.#writer.int(0);
    write(this.#writer);
    this.#touching = true;
    this.#writer.patchInt(start, this.#writer.length - start - 4);
  }

  /** Adds a request; its body may be encoded already. Throws a RangeError and adds nothing if it is too large. */
  request(
    xid: number,
    op: Operation,
    body: unknown,
    path: string | null,
  ): void {
    const start = this.#writer.length;
    const touching = this.#touching;
    try {
      this.packet((to) => {
        RequestHeader.write(to, { xid, type: op.code });
        if (body instanceof Uint8Array) to.raw(body);
        else op.request.write(to, body);
      });
      checkSize(this.#writer.length - start - 4, op, path);
      if (op.code === auth.code || op.code === sasl.code) {
        this.#touching = touching;
      }
    } catch (error) {
      this.#writer.truncate(start);
      this.#touching = touching;
      throw error;
    }
  }

  /** The body of a request that has to wait. Throws a RangeError if it is too large. */
  encode(
    { op, body, path }: Pick<Request, "op" | "body" | "path">,
  ): Uint8Array {
    const start = this.#writer.length;
    try {
      op.request.write(this.#writer, body);
      checkSize(this.#writer.length - start + headerBytes, op, path);
      return this.#writer.copy(start);
    } finally {
      this.#writer.truncate(start);
    }
  }

  /** Everything added since the last time, for somebody who may keep it; null for nothing. */
  take(): Uint8Array | null {
    if (this.#writer.length === 0) return null;
    const bytes = this.#writer.copy();
    this.clear();
    return bytes;
  }

  /** Drops what was not taken. */
  clear(): void {
    this.#touching = false;
    if (this.#writer.length > keep) this.#writer = new Writer();
    else this.#writer.truncate(0);
  }
}

function checkSize(size: number, op: Operation, path: string | null): void {
  if (size <= maxRequestBytes) return;
  const what = path === null ? op.name : `${op.name} ${path}`;
  throw new RangeError(
    `Cannot ${what}: the request has ${size} bytes, ` +
      `a server takes at most ${maxRequestBytes}`,
  );
}
