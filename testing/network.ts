// Connections in memory: what is written at one end comes out at the other, later and in order.
// Knows no packets and no faults; how much later is somebody else's business.
// Used by server.ts for its transport, and by simulations, whose ways lose and delay.

import type { Socket, SocketHandlers } from "../protocol/transport/mod.ts";
import type { Intake, Line } from "./backend.ts";

/** One direction of a connection: runs what it is given later, in order, or never. */
export type Way = (run: () => void) => void;

/** A connection between a client and an embedded server. */
export class Link {
  /** The client's end. */
  readonly socket: Socket;
  readonly #up: Way;
  readonly #down: Way;
  readonly #handlers: SocketHandlers;
  readonly #intake: Intake;
  /** Writes and hears no more. */
  #isClientGone = false;
  #isClientTold = false;
  #isServerGone = false;

  /** Opened by the client; `accept` makes the server's end. */
  constructor(
    ways: { up: Way; down: Way },
    handlers: SocketHandlers,
    accept: (line: Line) => Intake,
  ) {
    this.#up = ways.up;
    this.#down = ways.down;
    this.#handlers = handlers;
    this.socket = {
      write: (bytes) => {
        if (!this.#isClientGone) this.#up(() => this.#intake.take(bytes));
      },
      close: () => this.#closedByClient(),
    };
    const hangUp = () => this.#closedByServer();
    this.#intake = accept({
      remote: "127.0.0.1",
      write: (bytes) => {
        if (!this.#isServerGone) this.#down(() => this.#deliver(bytes));
      },
      finish: hangUp,
      reset: hangUp,
    });
  }

  /** Ends the connection, at both ends and at once, with whatever is on its way. */
  cut(): void {
    this.#isServerGone = true;
    this.#clientIsTold();
    this.#intake.hungUp();
  }

  #deliver(bytes: Uint8Array): void {
    if (!this.#isClientGone) this.#handlers.data(bytes);
  }

  #closedByServer(): void {
    if (this.#isServerGone) return;
    this.#isServerGone = true;
    this.#down(() => this.#clientIsTold());
  }

  #closedByClient(): void {
    if (this.#isClientGone) return;
    this.#isClientGone = true;
    this.#up(() => this.#intake.hungUp());
    // The caller of close() is not called back from inside it.
    queueMicrotask(() => this.#clientIsTold());
  }

  /** Once. */
  #clientIsTold(): void {
    this.#isClientGone = true;
    if (this.#isClientTold) return;
    this.#isClientTold = true;
    this.#handlers.close();
  }
}
