// How bytes travel: one interface for every runtime, and the built-in implementation.
// Knows neither packets nor sessions.
// Used by connection.ts; users may pass a Transport of their own, e.g. a tunnel.

/** How to secure a connection. Certificates and keys are PEM text, not names of files. */
export interface TlsOptions {
  /** Certificates of the authorities to trust, in place of those of the runtime, which are the default. */
  ca?: string | readonly string[];
  /** Certificate of this client, for servers that ask for one; certificates of intermediate authorities may follow in the same text. Needs `key`. */
  cert?: string;
  /** The key to `cert`, not encrypted. */
  key?: string;
  /**
   * Name or address that the server's certificate must carry, on every server;
   * default: the host in the connect string. Where it is a name, it is also
   * told to the server (SNI); otherwise the host is, where that is a name.
   */
  serverName?: string;
  /**
   * False takes any certificate of any server: what is sent is encrypted, but
   * whoever is on the way can read and change it all, and see passwords. For
   * experiments only; a server with a certificate of its own is trusted by
   * `ca`. Default true.
   */
  rejectUnauthorized?: boolean;
}

/** A connection that stands. */
export interface Socket {
  /** Sends bytes; never blocks, never throws. The bytes are not changed afterwards. */
  write(bytes: Uint8Array): void;
  /** Hangs up, at once. May be called twice. */
  close(): void;
  /** Keeps the process alive, as is the default. */
  ref?(): void;
  /** Lets the process end although the connection stands. */
  unref?(): void;
}

/** What a transport reports. */
export interface SocketHandlers {
  /** Bytes came; they may be changed after the call. */
  data(bytes: Uint8Array): void;
  /** The connection is gone, whoever ended it. Called exactly once for every socket. */
  close(error?: Error): void;
}

/** Opens a connection; rejects if there is none to be had or the signal aborts. */
export type Transport = (
  address: {
    host: string;
    port: number;
    tls?: TlsOptions;
    signal: AbortSignal;
    /** Whether the process is to stay alive for this attempt; default true. */
    keepAlive?: boolean;
  },
  handlers: SocketHandlers,
) => Promise<Socket>;

/** The transport for the runtime we are in: node:net, which Deno, Bun and Node have, or cloudflare:sockets. Loaded when it is first used, so that a runtime without either can bring its own. */
export const pickTransport: Transport = async (address, handlers) => {
  if (isWorker()) {
    const { connectWorkers } = await import("./workers.ts");
    return await connectWorkers(address, handlers);
  }
  const { connectNode } = await import("./node.ts");
  return await connectNode(address, handlers);
};

/** Whether this is an edge worker (workerd), also one that has node:net. */
export function isWorker(): boolean {
  // Node 20 has no navigator.
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  return navigator?.userAgent === "Cloudflare-Workers";
}

/** What an edge worker has no place for, and why. */
const unfit: Readonly<Record<string, string>> = {
  ca: "whom to trust is up to the platform's configuration",
  cert: "it has no client certificates",
  key: "it has no client certificates",
  rejectUnauthorized: "it always checks the server's certificate",
};

/**
 * Throws a TypeError for options that workers cannot honour: to pass over them in
 * silence would make another connection than the one that was asked for.
 */
export function checkWorkerTls(tls: TlsOptions): void {
  for (const [name, value] of Object.entries(tls)) {
    const isUsual = value === undefined ||
      name === "rejectUnauthorized" && value === true;
    if (!(name in unfit) || isUsual) continue;
    throw new TypeError(`Cannot use tls.${name} in a Worker: ${unfit[name]}`);
  }
}
