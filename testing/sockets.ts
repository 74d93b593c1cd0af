// TCP by node:net, for both sides: listening and calling.
// Knows no packets; the only file in testing/ that names node:net.
// Used by faults.ts and relay.ts, which stand between client and server, and by expire.ts.

import { connect, createServer, type Socket } from "node:net";
import type { Address } from "../protocol/servers.ts";

/** What a wire reports. */
export interface WireHandlers {
  /** Bytes came; they may be changed after the call. */
  data(bytes: Uint8Array): void;
  /** The peer will write no more; it may still read. */
  finished?(): void;
  /** The kernel took everything written so far. */
  drained?(): void;
  /** The connection is gone, whoever ended it; called exactly once. */
  closed(error?: Error): void;
}

/** One end of a TCP connection. Nothing here throws; when it is gone, calls do nothing. */
export class Wire {
  readonly #socket: Socket;
  #pending = 0;
  #drained = () => {};

  /** For listen() and dial(). */
  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
  }

  /** Bytes written that the kernel has not taken yet. */
  get pending(): number {
    return this.#pending;
  }

  /** Sends bytes, which must not be changed afterwards. Kept until connected. */
  write(bytes: Uint8Array): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    this.#pending += bytes.length;
    this.#socket.write(bytes, () => {
      this.#pending -= bytes.length;
      if (this.#pending === 0) this.#drained();
    });
  }

  /** Tells the peer, behind all bytes written, that no more will come. */
  finish(): void {
    if (!this.#socket.destroyed) this.#socket.end();
  }

  /**
   * Ends the connection, by a reset. If bytes are still on their way out, they
   * go first and the end is a plain one: a reset right behind 5 MB lost some of
   * them in 5 to 18 of 100 runs, although the kernel had taken them (measured).
   */
  hangUp(): void {
    const socket = this.#socket;
    if (this.#pending === 0) this.reset();
    else if (!socket.destroyed) socket.end(() => void socket.destroy());
  }

  /** Ends the connection by a reset, at once; bytes on their way may be lost. */
  reset(): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    // Node's reset waits for a connection, and behind an end of ours it may fail
    // with EINVAL and never report a close (measured: 20, 22, 24).
    const isUnsafe = socket.connecting || socket.writableEnded;
    if (isUnsafe || typeof socket.resetAndDestroy !== "function") {
      socket.destroy();
    } else socket.resetAndDestroy();
  }

  /** Reads no more until resume(): the peer's bytes pile up, at last at the peer. */
  pause(): void {
    this.#socket.pause();
  }

  /** Reads on. */
  resume(): void {
    this.#socket.resume();
  }

  /** For listen() and dial(): begins to report. */
  report(handlers: WireHandlers): void {
    const socket = this.#socket;
    let failure: Error | undefined;
    this.#drained = () => handlers.drained?.();
    socket.on("data", (bytes) => handlers.data(bytes));
    socket.on("end", () => handlers.finished?.());
    socket.on("error", (error) => failure = error);
    socket.on("close", () => handlers.closed(failure));
  }
}

/** A port that takes connections. */
export interface Listener {
  readonly port: number;
  /** Takes no more; resolves when every connection it took is gone. */
  close(): Promise<void>;
}

/** Listens on 127.0.0.1; port 0 is any free one. Rejects if the port is taken. */
export function listen(
  port: number,
  accept: (wire: Wire) => WireHandlers,
): Promise<Listener> {
  const options = { allowHalfOpen: true, noDelay: true };
  const server = createServer(options, (socket) => {
    const wire = new Wire(socket);
    wire.report(accept(wire));
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen({ port, host: "127.0.0.1" }, () => {
      const { port } = server.address() as { port: number };
      resolve({
        port,
        close: () => new Promise((done) => void server.close(() => done())),
      });
    });
  });
}

/** Connects. The wire can be written to at once; if there is nobody, it is closed with an error. */
export function dial({ host, port }: Address, handlers: WireHandlers): Wire {
  const options = { host, port, allowHalfOpen: true, noDelay: true };
  const wire = new Wire(connect(options));
  wire.report(handlers);
  return wire;
}
