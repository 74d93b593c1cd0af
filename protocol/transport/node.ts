// TCP by node:net and TLS by node:tls, for Node, Deno and Bun.
// Knows neither packets nor sessions; what an error means is for its callers.
// Loaded by transport/mod.ts when it is needed.

import type { Socket, TlsOptions, Transport } from "./mod.ts";

type Net = typeof import("node:net");
type NodeSocket = ReturnType<Net["connect"]>;

// Loaded when the first connection is made: bundlers put what is imported in the
// usual way on top of their one file, and an edge worker, which has none of these,
// could not load it.
let net: Net;
let nodeTls: typeof import("node:tls");
let nodeCrypto: typeof import("node:crypto");

async function load(): Promise<void> {
  [net, nodeTls, nodeCrypto] = await Promise.all([
    import("node:net"),
    import("node:tls"),
    import("node:crypto"),
  ]);
}

/**
 * Connects by TCP or TLS, without Nagle's delay: it costs 40 ms a request against
 * a server that delays its ACKs. There is no deadline but the signal's.
 */
export const connectNode: Transport = async (
  { host, port, tls, signal, keepAlive = true },
  handlers,
) => {
  if (net === undefined) await load();
  return await new Promise((resolve, reject) => {
    const socket = tls ? secured(host, port, tls) : net.connect({ host, port });
    socket.setNoDelay(true);
    if (!keepAlive) socket.unref();
    let failure: Error | undefined;
    let open = false;
    const abort = () => {
      socket.destroy();
      reject(signal.reason);
    };
    if (signal.aborted) abort();
    // Not passed to connect(): Bun ignores it there.
    signal.addEventListener("abort", abort);
    socket.on("error", (error) => failure ??= error);
    socket.on(tls ? "secureConnect" : "connect", () => {
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

/** A socket that emits "secureConnect" when the server has proved who it is. Throws if the options are of no use. */
function secured(host: string, port: number, tls: TlsOptions): NodeSocket {
  const { ca, cert, key, serverName = host, rejectUnauthorized = true } = tls;
  checkOnce(tls);
  return nodeTls.connect({
    host,
    port,
    ca: typeof ca === "object" ? [...ca] : ca,
    cert,
    key,
    rejectUnauthorized,
    servername: nameToTell(net.isIP(serverName) ? host : serverName),
    checkServerIdentity: (_, certificate) =>
      nodeTls.checkServerIdentity(serverName, certificate),
  });
}

/** What goes out as SNI (RFC 6066): no address, no final dot. Empty: nothing. */
function nameToTell(name: string): string {
  return net.isIP(name) ? "" : name.replace(/\.$/, "");
}

const checked = new WeakSet<TlsOptions>();

/**
 * Each runtime finds out in a way of its own that a certificate cannot be read or
 * that a key is another's: Node passes over the one, Deno over the other
 * (measured). Here it is the same error everywhere. Nothing of a key is in it.
 */
function checkOnce(tls: TlsOptions): void {
  if (checked.has(tls)) return;
  const { ca = [], cert, key } = tls;
  for (const pem of typeof ca === "string" ? [ca] : ca) readAll("ca", pem);
  if (cert !== undefined) readAll("cert", cert);
  if (cert !== undefined && key !== undefined) {
    const certificate = new nodeCrypto.X509Certificate(cert);
    const own = attempt(
      "tls.key cannot be read",
      () => nodeCrypto.createPrivateKey(key),
    );
    if (!certificate.checkPrivateKey(own)) {
      throw unusable("tls.key is not the key of tls.cert");
    }
  }
  checked.add(tls);
}

const begin = /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/g;
const block = /-----BEGIN ([A-Z0-9 ]*CERTIFICATE)-----[^-]*-----END \1-----/g;

function readAll(name: "ca" | "cert", pem: string): void {
  const found = pem.match(block) ?? [];
  const why = `tls.${name} holds a certificate that cannot be read`;
  if (found.length !== pem.match(begin)?.length) throw unusable(why);
  for (const text of found) {
    attempt(why, () => new nodeCrypto.X509Certificate(text));
  }
}

function attempt<T>(why: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw unusable(why, cause);
  }
}

function unusable(why: string, cause?: unknown): Error {
  const error = new Error(why, { cause });
  return Object.assign(error, { code: "ERR_ZKLOCK_TLS_OPTIONS" });
}

function wrap(socket: NodeSocket): Socket {
  return {
    write(bytes) {
      if (!socket.destroyed) socket.write(bytes);
    },
    close: () => void socket.destroy(),
    ref: () => void socket.ref(),
    unref: () => void socket.unref(),
  };
}
