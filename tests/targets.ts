// Which servers the suites run against: real ones, and embedded ones over TCP and in memory.
// Must not know what the suites do with them.
// Called by the tests of protocol/ and lock/ that run on every server.

import process from "node:process";
import {
  type Client,
  connect,
  type ConnectOptions,
  type Transport,
} from "../protocol/mod.ts";
import {
  type ServerVersion,
  TestServer,
  type TestServerOptions,
} from "../testing/mod.ts";
import {
  InstallError,
  isVersion,
  type Version,
  versions,
} from "./real/install.ts";
import { Metronome } from "./metronome.ts";
import { askFourLetter, type RealServer, startServer } from "./real/server.ts";

/** A server to test against. */
export interface Target {
  /** For the names of tests. */
  name: string;
  /** As `srvr` says it, "3.8.0"; "unknown" where it doesn't. */
  version: string;
  /** The connect string. */
  servers: string;
  /** How clients reach it; absent where that is TCP. Proxies and twins go by TCP in any case. */
  transport?: Transport;
  /** We started it: it has our settings, and ends with this process. */
  isOurs: boolean;
  /** A real one of ours: a process. */
  server?: RealServer;
  /** One of ours in TypeScript: what tests do to it behind the network. */
  embedded?: Embedded;
}

/** A TestServer, here or in another process: then what it tells takes a while. */
export interface Embedded {
  readonly sessions: readonly bigint[] | Promise<readonly bigint[]>;
  setCounter(path: string, next: number): void | Promise<void>;
}

/** What tests expect of the settings of a server that is ours. */
const settings = {
  environment: new Metronome(),
  tick: 200,
  minSessionTimeout: 400,
  maxSessionTimeout: 60_000,
  reapInterval: 1_000,
};

/** A server of a test's own, to be ended like a process; what it knew is there again when it runs again. */
export interface Mortal extends AsyncDisposable {
  servers: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/** A target in this process. */
export type EmbeddedTarget = Target & { embedded: TestServer };

const started = new Map<Version, Promise<Target>>();

/** A client of a target. Tests of clients and locks call no other connect(). */
export function connectTo(
  { servers, transport }: Target,
  options: ConnectOptions = {},
  chroot: string = "",
): Promise<Client> {
  return connect(`${servers}${chroot}`, { transport, ...options });
}

/**
 * Real targets: the one of ZOOKEEPER_SERVERS (`host:port,…`) if set, else the
 * versions of ZKLOCK_VERSIONS (`3.8.0,…`) if set, else all. Each is started at
 * most once, and ends with the process (see jvm.ts), so nobody disposes it.
 */
export function targets(): Promise<Target[]> {
  const { ZOOKEEPER_SERVERS } = process.env;
  if (ZOOKEEPER_SERVERS) {
    return Promise.all([given(ZOOKEEPER_SERVERS)]);
  }
  return Promise.all(wanted().map(start));
}

/** One real target, for tests that one server is enough for: 3.8.0 if there is a choice. */
export function defaultTarget(): Promise<Target> {
  const { ZOOKEEPER_SERVERS } = process.env;
  if (ZOOKEEPER_SERVERS) return given(ZOOKEEPER_SERVERS);
  const names = wanted();
  return start(names.includes("3.8.0") ? "3.8.0" : names[0]);
}

/** Another server of the target's kind, for one test. */
export async function startMortal(target: Target): Promise<Mortal> {
  if (target.embedded === undefined) return await startServer();
  const version = target.version.slice(0, 3) as ServerVersion;
  const server = await TestServer.start({ ...settings, version });
  // Closed for good it would forget everything.
  const kill = () => {
    server.refuseConnections();
    server.cut();
    return Promise.resolve();
  };
  const restart = () => Promise.resolve(server.refuseConnections(false));
  const end = () => server.close();
  const { servers } = server;
  return { servers, kill, restart, [Symbol.asyncDispose]: end };
}

/** An embedded server as a target. It lives as long as this process, like all targets. */
export async function embeddedTarget(
  version: ServerVersion,
  way: "over TCP" | "in memory",
  more: TestServerOptions = {},
): Promise<EmbeddedTarget> {
  // Also where clients come in memory: for proxies.
  const embedded = await TestServer.start({ ...settings, version, ...more });
  const probe = await connect(embedded.servers);
  const release = await probe.serverVersion();
  await probe.close();
  return {
    name: `Embedded ${version}, ${way}`,
    version: release ?? "unknown",
    servers: embedded.servers,
    transport: way === "in memory" ? embedded.transport : undefined,
    isOurs: true,
    embedded,
  };
}

function wanted(): readonly Version[] {
  const list = (process.env.ZKLOCK_VERSIONS ?? "").split(",")
    .map((name) => name.trim()).filter((name) => name !== "");
  const unknown = list.find((name) => !isVersion(name));
  if (unknown !== undefined) {
    throw new InstallError(
      `Read ZKLOCK_VERSIONS: ${unknown} is none of ${versions.join(", ")}`,
    );
  }
  return list.length > 0 ? list.filter(isVersion) : versions;
}

function start(version: Version): Promise<Target> {
  let target = started.get(version);
  if (target === undefined) {
    target = startServer({ version }).then((server) => ({
      name: `ZooKeeper ${version}`,
      version,
      servers: server.servers,
      isOurs: true,
      server,
    }));
    started.set(version, target);
  }
  return target;
}

async function given(servers: string): Promise<Target> {
  let version = "unknown";
  for (const address of servers.replace(/\/.*$/, "").split(",")) {
    const [, host, port] = /^\[?([^\]]+?)\]?(?::(\d+))?$/.exec(address) ?? [];
    const answer = await askFourLetter(
      host,
      Number(port ?? 2181),
      "srvr",
      2_000,
    )
      .catch(() => "");
    const found = /^Zookeeper version: (\d+\.\d+\.\d+)/.exec(answer)?.[1];
    if (found === undefined) continue;
    version = found;
    break;
  }
  const name = `ZooKeeper ${version} at ${servers}`;
  return { name, version, servers, isOurs: false };
}
