// A real ZooKeeper server with a secureClientPort beside its plain one.
// Must not know the client under test, nor who made the certificates.
// Called by tests/tls/.

import { join } from "node:path";
import { fetchJars, hasJars } from "./debian.ts";
import {
  caches,
  InstallError,
  system,
  type Version,
  writableCache,
} from "./install.ts";
import { freePorts, host } from "./ports.ts";
import { type RealServer, startServer } from "./server.ts";

/** What a server shows, and what it asks for. */
export interface Security {
  version: Version;
  /** A certificate and its key, as PEM text. */
  keyStore: string;
  /** The authorities of clients, as PEM text. */
  trustStore: string;
  /** Whether clients must show a certificate. */
  clientAuth: "none" | "need";
}

/** A server, and where it speaks TLS. */
export interface SecureServer extends AsyncDisposable {
  server: RealServer;
  /** The secureClientPort. */
  port: number;
}

/**
 * TLS goes by Netty alone. netty-codec.jar is not named in zookeeper.jar's
 * manifest: without it the port listens, and every connection dies.
 */
const jars = [
  "buffer",
  "codec",
  "common",
  "handler",
  "resolver",
  "transport",
  "transport-native-epoll",
  "transport-native-unix-common",
].map((name) => `netty-${name}.jar`);

/** Starts one, and resolves when it serves sessions on its plain port. */
export async function startSecureServer(
  { version, keyStore, trustStore, clientAuth }: Security,
): Promise<SecureServer> {
  const [port] = await freePorts(1);
  const server = await startServer({
    version,
    jars: await nettyJars(),
    files: { "keys.pem": keyStore, "trust.pem": trustStore },
    config: [
      "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
      `secureClientPort=${port}`,
      `secureClientPortAddress=${host}`,
      "ssl.keyStore.location=keys.pem",
      "ssl.trustStore.location=trust.pem",
      `ssl.clientAuth=${clientAuth}`,
    ],
  });
  const dispose = () => server[Symbol.asyncDispose]();
  return { server, port, [Symbol.asyncDispose]: dispose };
}

let fetching: Promise<string> | undefined;

/** One release of Netty serves every server: 3.8.0 and 3.9.3 take it (tried). */
async function nettyJars(): Promise<string[]> {
  const known = [system, ...caches().map((cache) => join(cache, "netty"))];
  const folder = known.find((folder) => hasJars(folder, jars)) ??
    await (fetching ??= fetchNetty());
  return jars.map((jar) => join(folder, jar));
}

async function fetchNetty(): Promise<string> {
  try {
    const folder = join(await writableCache(), "netty");
    const selection = { suite: "bookworm", packages: ["libnetty-java"], jars };
    await fetchJars(selection, folder);
    return folder;
  } catch (cause) {
    const { message } = cause as Error;
    throw new InstallError(
      `Get Netty: ${message}; put the jars of bookworm's libnetty-java into ${
        caches()[0]
      }/netty`,
      { cause },
    );
  }
}
