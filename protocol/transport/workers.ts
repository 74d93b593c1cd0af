// TCP and one-way TLS by cloudflare:sockets, for edge workers (workerd).
// Knows neither packets nor sessions.
// Loaded by transport/mod.ts when it is needed.

import { ZooKeeperError } from "../errors.ts";
import type { Socket, SocketHandlers, TlsOptions, Transport } from "./mod.ts";

/** Put together when it is needed: bundlers for other runtimes would look for it, and fail. */
const module = ["cloudflare", "sockets"].join(":");

/** What we use of a socket of workerd. */
interface WorkersSocket {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  readonly opened: Promise<unknown>;
  readonly closed: Promise<unknown>;
  close(): Promise<void>;
  startTls(options: { expectedServerHostname: string }): WorkersSocket;
}

type Connect = (
  address: { hostname: string; port: number },
  options: { secureTransport: "off" | "on" | "starttls" },
) => WorkersSocket;

/**
 * Connects by TCP or TLS from inside a handler; Nagle's delay is off there
 * anyway. There is no deadline but the signal's: a TLS handshake may hang.
 *
 * Rejects with a ZooKeeperError whose `code` is one of those below. Of
 * the options for TLS it knows `serverName` alone; checkTls() refuses the others.
 */
export const connectWorkers: Transport = async (
  { host, port, tls, signal },
  handlers,
) => {
  signal.throwIfAborted();
  const { connect } = await import(module) as { connect: Connect };
  signal.throwIfAborted();
  const name = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const explain = (cause: unknown) => explained(cause, name, tls);
  let socket: WorkersSocket;
  try {
    socket = open(connect, host, port, tls);
  } catch (cause) {
    throw explain(cause);
  }
  await opened(socket, signal, explain);
  return new Line(socket, handlers, explain);
};

function open(
  connect: Connect,
  host: string,
  port: number,
  tls: TlsOptions | undefined,
): WorkersSocket {
  const address = {
    hostname: host.includes(":") ? `[${host}]` : host,
    port,
  };
  if (!tls) return connect(address, { secureTransport: "off" });
  const { serverName } = tls;
  if (serverName === undefined) {
    return connect(address, { secureTransport: "on" });
  }
  const plain = connect(address, { secureTransport: "starttls" });
  plain.opened.catch(ignore);
  plain.closed.catch(ignore);
  return plain.startTls({ expectedServerHostname: serverName });
}

/** Waits until it stands. */
function opened(
  socket: WorkersSocket,
  signal: AbortSignal,
  explain: (cause: unknown) => Error,
): Promise<void> {
  // It rejects as `opened` does.
  socket.closed.catch(ignore);
  return new Promise((resolve, reject) => {
    const abort = () => {
      quietly(() => socket.close());
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort);
    socket.opened.then(() => resolve(), (cause) => reject(explain(cause)))
      .finally(() => signal.removeEventListener("abort", abort));
  });
}

function ignore(): void {}

/** What is ended may be in no state to be ended, or belong to another request. */
function quietly(run: () => Promise<unknown>): void {
  new Promise((resolve) => resolve(run())).catch(ignore);
}

/** A connection that stands. A peer that will say no more is a peer that is gone, as for all transports. */
class Line implements Socket {
  readonly #socket: WorkersSocket;
  readonly #handlers: SocketHandlers;
  readonly #explain: (cause: unknown) => Error;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #isOver = false;

  constructor(
    socket: WorkersSocket,
    handlers: SocketHandlers,
    explain: (cause: unknown) => Error,
  ) {
    this.#socket = socket;
    this.#handlers = handlers;
    this.#explain = explain;
    this.#writer = socket.writable.getWriter();
    this.#reader = socket.readable.getReader();
    this.#writer.closed.catch(ignore);
    this.#reader.closed.catch(ignore);
    void this.#read();
  }

  write(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#writer.write(bytes).catch((cause) => this.#end(cause));
  }

  close(): void {
    this.#end();
  }

  /** Asks for more when what came was handled: what is not read piles up at the server, not here. */
  async #read(): Promise<void> {
    for (;;) {
      let chunk: ReadableStreamReadResult<Uint8Array>;
      try {
        chunk = await this.#reader.read();
      } catch (cause) {
        return this.#end(cause);
      }
      if (this.#isOver) return;
      if (chunk.done) return this.#end();
      this.#handlers.data(chunk.value);
    }
  }

  #end(cause?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Without this, close() waits until a peer that does not read has read all.
    quietly(() => this.#writer.abort());
    quietly(() => this.#reader.cancel());
    quietly(() => this.#socket.close());
    const error = cause === undefined ? undefined : this.#explain(cause);
    // The caller of close() is not called back from inside it.
    queueMicrotask(() => this.#handlers.close(error));
  }
}

/**
 * What workerd's messages are about, by the `code` our errors have. workerd gives
 * its errors no code, and most failures to connect have the same message: a port
 * that refuses, an unknown host, a certificate that is not trusted (measured).
 */
const reasons: Readonly<Record<string, [RegExp, string]>> = {
  TooManyConnections: [
    /too many|simultaneous|limit/i,
    "this request has too many connections",
  ],
  Blocked: [
    /not allowed|prohibited|blocked|loop detected/i,
    "Workers may not connect to this address",
  ],
  Unreachable: [
    /cannot connect|proxy request failed|internal error/i,
    "refused, unknown or blocked (ECONNREFUSED, ENOTFOUND or EACCES: workerd does not tell which)",
  ],
  ConnectionReset: [/connection lost/i, "the connection was reset"],
};

/** Where TLS may be the reason as well. */
const orTls = "refused, unknown or blocked, its certificate is not trusted " +
  "or names another host, or it asks for a client certificate " +
  "(workerd does not tell which)";

function explained(
  cause: unknown,
  address: string,
  tls: TlsOptions | undefined,
): Error {
  const { message } = cause as Error;
  const [code, [, usual]] = Object.entries(reasons)
    .find(([, [pattern]]) => pattern.test(message)) ??
    ["SocketFailed", [, message]];
  const why = tls && code === "Unreachable" ? orTls : usual;
  return new ZooKeeperError(code, `Cannot reach ${address}: ${why}`, { cause });
}
