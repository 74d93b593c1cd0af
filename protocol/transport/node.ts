// TCP by node:net, for Node, Deno and Bun.
// Knows neither packets nor sessions.
// Loaded by transport/mod.ts when it is needed.

import { connect } from "node:net";
import type { Socket, Transport } from "./mod.ts";

/** Connects by TCP, without Nagle's delay: it costs 40 ms a request against a server that delays its ACKs. */
export const connectNode: Transport = (
  { host, port, tls, signal, keepAlive = true },
  handlers,
) => {
  if (tls) return Promise.reject(new TypeError("Cannot connect: no TLS yet"));
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    if (!keepAlive) socket.unref();
    const abort = () => socket.destroy(signal.reason);
    let failure: Error | undefined;
    let open = false;
    if (signal.aborted) abort();
    // Not passed to connect(): Bun ignores it there.
    signal.addEventListener("abort", abort);
    socket.on("error", (error) => failure = error);
    socket.on("connect", () => {
      signal.removeEventListener("abort", abort);
      socket.setNoDelay(true);
      open = true;
      resolve(wrap(socket));
    });
    socket.on("data", (bytes) => handlers.data(bytes));
    socket.on("close", () => {
      signal.removeEventListener("abort", abort);
      if (open) handlers.close(failure);
      else reject(failure ?? new Error(`Cannot connect to ${host}:${port}`));
    });
  });
};

function wrap(socket: ReturnType<typeof connect>): Socket {
  return {
    write(bytes) {
      if (!socket.destroyed) socket.write(bytes);
    },
    close: () => void socket.destroy(),
    ref: () => void socket.ref(),
    unref: () => void socket.unref(),
  };
}
