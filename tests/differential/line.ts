// One raw connection to a server: frames out, frames in, and whether it has hung up.
// Knows no records and no sessions.
// Used by player.ts.

import { connect, type Socket } from "node:net";

/** Where a server listens. */
export interface Address {
  host: string;
  port: number;
}

/** What comes next on a line: a frame with its length, the end, or nothing in time. */
export type Next = Uint8Array | "closed" | "silent";

/** How long a server may take for anything; longer is an answer of its own: silence. */
const patience = 4_000;

/** A connection that is read one frame at a time. */
export class Line {
  #socket: Socket;
  #bytes: Uint8Array = new Uint8Array(0);
  #isClosed = false;
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Uint8Array) => {
      const all = new Uint8Array(this.#bytes.length + chunk.length);
      all.set(this.#bytes);
      all.set(chunk, this.#bytes.length);
      this.#bytes = all;
      this.#wake();
    });
    // A reset is a way to hang up like the other: which of the two it is depends
    // on what the server had not read yet.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  static async open(address: Address): Promise<Line> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = connect({ ...address, noDelay: true });
    const line = new Line(socket);
    socket.once("connect", resolve);
    socket.once("error", reject);
    await promise;
    return line;
  }

  send(bytes: Uint8Array): void {
    if (!this.#isClosed) this.#socket.write(bytes);
  }

  /** The next frame, in the order they came; those before the end come before "closed". */
  async next(limit: number = patience): Promise<Next> {
    const deadline = performance.now() + limit;
    for (;;) {
      const frame = this.#take();
      if (frame !== undefined) return frame;
      if (this.#isClosed) return "closed";
      const left = deadline - performance.now();
      if (left <= 0) return "silent";
      await this.#news(left);
    }
  }

  /** Whether the server hangs up within `limit` ms. */
  async isClosedWithin(limit: number): Promise<boolean> {
    const deadline = performance.now() + limit;
    while (!this.#isClosed && performance.now() < deadline) {
      await this.#news(deadline - performance.now());
    }
    return this.#isClosed;
  }

  /** Ends it, and resolves when that is done. */
  async hangUp(): Promise<void> {
    this.#socket.destroy();
    while (!this.#isClosed) await this.#news(patience);
  }

  #take(): Uint8Array | undefined {
    const bytes = this.#bytes;
    if (bytes.length < 4) return undefined;
    const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getInt32(0);
    if (bytes.length < end) return undefined;
    this.#bytes = bytes.slice(end);
    return bytes.slice(0, end);
  }

  #news(limit: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, limit);
    this.#wake = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  }
}
