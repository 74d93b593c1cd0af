// Which servers the suite runs against: what the environment says, or all versions.
// Must not know what the suite does with them.
// Called by the tests of protocol/ and lock/ that run on every server.

import process from "node:process";
import { InstallError, isVersion, type Version, versions } from "./install.ts";
import { askFourLetter, type RealServer, startServer } from "./server.ts";

/** A server to test against. */
export interface Target {
  /** For the names of tests. */
  name: string;
  /** As `srvr` says it, "3.8.0"; "unknown" where it doesn't. */
  version: string;
  /** The connect string. */
  servers: string;
  /** What can be killed, restarted and frozen; absent if we didn't start it. */
  server?: RealServer;
}

const started = new Map<Version, Promise<Target>>();

/**
 * All targets: the one of ZOOKEEPER_SERVERS (`host:port,…`) if set, else the
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

/** One target, for tests that one server is enough for: 3.8.0 if there is a choice. */
export function defaultTarget(): Promise<Target> {
  const { ZOOKEEPER_SERVERS } = process.env;
  if (ZOOKEEPER_SERVERS) return given(ZOOKEEPER_SERVERS);
  const names = wanted();
  return start(names.includes("3.8.0") ? "3.8.0" : names[0]);
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
  return { name: `ZooKeeper ${version} at ${servers}`, version, servers };
}
