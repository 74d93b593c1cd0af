// TLS in front of a server that speaks plain: the embedded one, for tests that need no Java.
// Must not know ZooKeeper.
// Called by the tests of this folder.

import { connect, type Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { Pair } from "./certificates.ts";

/** Options of {@link startTerminator}. */
export interface TerminatorOptions {
  /** What it shows. */
  pair: Pair;
  /** Where plain connections go: `host:port`. */
  target: string;
  /** Whose certificates clients must have; absent: they need none. */
  clientCa?: string;
  /** The newest version it takes; default 1.3. */
  maxVersion?: "TLSv1.2" | "TLSv1.3";
  /** The longest piece in which bytes go to clients. */
  chunk?: number;
}

/** A TLS server on 127.0.0.1. */
export interface Terminator extends AsyncDisposable {
  port: number;
  /** By name, as a certificate has it. */
  servers: string;
  /** The names that clients asked for; null: none. */
  names: Array<string | null>;
  /** Connections that got through the handshake. */
  accepted: number;
  /** Cuts all connections. */
  cut(): void;
  /** From now on it shows another certificate. */
  show(pair: Pair): void;
}

/** Starts one on a free port. */
export async function startTerminator(
  { pair, target, clientCa, maxVersion, chunk }: TerminatorOptions,
): Promise<Terminator> {
  const [host, port] = target.split(":");
  const open = new Set<Socket | TLSSocket>();
  const keep = (socket: Socket | TLSSocket) => {
    open.add(socket);
    socket.setNoDelay(true);
    // Who is cut off, or not trusted, hears of it by "close".
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
  };
  const server = createServer({
    ...pair,
    ca: clientCa,
    maxVersion,
    requestCert: clientCa !== undefined,
    rejectUnauthorized: clientCa !== undefined,
  }, (client) => {
    keep(client);
    terminator.accepted++;
    terminator.names.push(nameOf(client));
    const plain = connect({ host, port: Number(port) });
    keep(plain);
    client.on("data", (bytes) => plain.write(bytes));
    plain.on("data", (bytes: Uint8Array) => {
      const step = chunk ?? bytes.length;
      for (let at = 0; at < bytes.length; at += step) {
        client.write(bytes.slice(at, at + step));
      }
    });
    client.on("close", () => plain.destroy());
    plain.on("close", () => client.destroy());
  });
  server.on("connection", keep);
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as { port: number };
  const cut = () => open.forEach((socket) => socket.destroy());
  const terminator: Terminator = {
    port: address.port,
    servers: `localhost:${address.port}`,
    names: [],
    accepted: 0,
    cut,
    show: (other) => server.setSecureContext(other),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
  return terminator;
}

/** Runtimes differ in how they say that there is none. */
function nameOf(client: TLSSocket): string | null {
  return (client as { servername?: string | false | null }).servername || null;
}
