// Finds the real ZooKeeper servers that the tests run, or fetches them.
// Must not start a server. Knows no registry: apt's own configuration does.
// Called by server.ts and ensemble.ts; by hand: deno run -A tests/real/install.ts

import { accessSync, constants, existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchJars, hasJars, run } from "./debian.ts";

/** A server version the tests know. */
export type Version = "3.8.0" | "3.9.3" | "3.4.13";

/** A server version on this machine, and what is needed to run it. */
export interface Distribution {
  version: Version;
  /** The java program. */
  java: string;
  /** Where the jars are. */
  folder: string;
  classpath: string;
  /** For the java program, before the name of the class. */
  flags: readonly string[];
  /** The class of a server on its own. */
  standalone: string;
  /** The class of a server in an ensemble. */
  member: string;
}

/** A version can't be had on this machine; the message says what to do instead. */
export class InstallError extends Error {
  override name = "InstallError";
}

interface Release {
  suite: string;
  packages: readonly string[];
  /** In class path order. */
  jars: readonly string[];
}

// zookeeper-jute.jar comes first: the manifest of zookeeper.jar names the one
// under /usr/share/java, of whatever version that is, and a server with another
// version's records dies on every handshake.
// The last two jars are needed in an ensemble only.
const modern = {
  packages: [
    "libzookeeper-java",
    "libslf4j-java",
    "libsnappy-java",
    "libdropwizard-metrics-java",
  ],
  jars: [
    "zookeeper-jute.jar",
    "zookeeper.jar",
    "slf4j-api.jar",
    "slf4j-simple.jar",
    "snappy-java.jar",
    "metrics-core.jar",
  ],
};

const releases: Record<Version, Release> = {
  "3.8.0": { suite: "bookworm", ...modern },
  "3.9.3": { suite: "trixie", ...modern },
  "3.4.13": {
    suite: "bullseye",
    packages: ["libzookeeper-java", "libslf4j-java"],
    jars: ["zookeeper.jar", "slf4j-api.jar", "slf4j-simple.jar"],
  },
};

/** All versions, the default one first. */
export const versions: readonly Version[] = ["3.8.0", "3.9.3", "3.4.13"];

const flags = [
  "-Xmx256m",
  // Start-up with/without these two (medians of 15): 0.49/0.53 s, 0.53/0.67 s of
  // processor time, 26/32 threads. Flags given to startServer() come later and win.
  "-XX:TieredStopAtLevel=1",
  "-XX:+UseSerialGC",
  // To stderr, so that a server that won't start can say why.
  "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
  // 3.4.13 would need the jar of log4j for nothing but this.
  "-Dzookeeper.jmx.log4j.disable=true",
];

const system = "/usr/share/java";
const instead =
  "the tests also take a running server: ZOOKEEPER_SERVERS=host:port";
const underWay = new Map<Version, Promise<Distribution>>();

/** Narrows a string, as found in an environment variable, to a known version. */
export function isVersion(text: string): text is Version {
  return Object.hasOwn(releases, text);
}

/**
 * Finds `version` on this machine, or fetches it (once: it is kept in a cache
 * folder). Rejects with an {@link InstallError} where it can't be had.
 */
export function install(version: Version): Promise<Distribution> {
  let pending = underWay.get(version);
  if (pending === undefined) {
    pending = find(version);
    underWay.set(version, pending);
    pending.catch(() => underWay.delete(version));
  }
  return pending;
}

async function find(version: Version): Promise<Distribution> {
  const { jars } = releases[version];
  const java = findJava() ?? await installJava();
  const known = [
    ...(existsSync(`${system}/zookeeper-${version}.jar`) ? [system] : []),
    ...caches().map((cache) => join(cache, `zookeeper-${version}`)),
  ];
  const folder = known.find((folder) => hasJars(folder, jars)) ??
    await fetch(version);
  return {
    version,
    java,
    folder,
    classpath: jars.map((jar) => join(folder, jar)).join(delimiter),
    flags,
    standalone: "org.apache.zookeeper.server.ZooKeeperServerMain",
    member: "org.apache.zookeeper.server.quorum.QuorumPeerMain",
  };
}

async function fetch(version: Version): Promise<string> {
  const release = releases[version];
  const wanted = `${release.suite}'s libzookeeper-java`;
  if (findProgram("apt-get") === null) {
    throw new InstallError(
      `Get ZooKeeper ${version}: not Debian (no apt-get), so put the jars of ` +
        `${wanted} into ${caches()[0]}/zookeeper-${version}; ${instead}`,
    );
  }
  try {
    const folder = join(await writableCache(), `zookeeper-${version}`);
    await fetchJars(release, folder);
    return folder;
  } catch (cause) {
    throw new InstallError(
      `Get ZooKeeper ${version}: ${
        (cause as Error).message
      }. Give apt access ` +
        `to ${wanted}; ${instead}`,
      { cause },
    );
  }
}

/** Folders a version may be kept in, the preferred one first. */
function caches(): string[] {
  const { ZKLOCK_CACHE, XDG_CACHE_HOME, HOME } = process.env;
  if (ZKLOCK_CACHE) return [ZKLOCK_CACHE];
  return [
    ...(XDG_CACHE_HOME ? [join(XDG_CACHE_HOME, "zklock")] : []),
    ...(HOME ? [join(HOME, ".cache", "zklock")] : []),
    // With the user's id: nobody else's folder is in the way.
    join(tmpdir(), `zklock-cache-${process.getuid?.() ?? "any"}`),
  ];
}

/** The first of them that can be written to, made if need be. */
export async function writableCache(): Promise<string> {
  let failure: unknown;
  for (const cache of caches()) {
    try {
      await mkdir(cache, { recursive: true });
      accessSync(cache, constants.W_OK);
      return cache;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function findProgram(name: string): string | null {
  const folders = (process.env.PATH ?? "").split(delimiter);
  for (const folder of folders) {
    const file = join(folder, name);
    if (folder !== "" && existsSync(file)) return file;
  }
  return null;
}

function findJava(): string | null {
  const own = join(process.env.JAVA_HOME || "/nonexistent", "bin", "java");
  return existsSync(own) ? own : findProgram("java");
}

// One process at a time, the next one finds it done: two apt-get at once fail in
// more ways than with a message about a lock (measured: a cache file renamed away).
const javaScript = `
command -v java || {
  apt-get update &&
  apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 \\
    default-jre-headless
}`;

async function installJava(): Promise<string> {
  const advice = `install a Java runtime (8 or newer); ${instead}`;
  const hasApt = findProgram("apt-get") !== null;
  if (!hasApt || process.getuid?.() !== 0) {
    const root = hasApt ? "root gets it installed by apt-get, or " : "";
    throw new InstallError(`Find java: not on PATH; ${root}${advice}`);
  }
  const deadline = performance.now() + 300_000;
  let java: string | null = null;
  while (java === null) {
    try {
      await run(
        "flock",
        ["/var/cache/apt", "sh", "-c", javaScript],
        "/",
        "apt-get",
      );
      java = findJava();
      if (java === null) throw new Error("still not on PATH");
    } catch (cause) {
      const { message } = cause as Error;
      // Somebody else's apt is at work: `update` doesn't wait for it.
      const busy = /could not get lock|unable to lock/i.test(message);
      if (!busy || performance.now() > deadline) {
        throw new InstallError(`Install java: ${message}; ${advice}`, {
          cause,
        });
      }
      await sleep(1_000);
    }
  }
  return java;
}

async function main(names: string[]): Promise<void> {
  for (const name of names.length > 0 ? names : versions) {
    try {
      if (!isVersion(name)) {
        throw new InstallError(
          `Get ZooKeeper ${name}: known are ${versions.join(", ")}`,
        );
      }
      const { folder, java } = await install(name);
      console.log(`ZooKeeper ${name}: ${folder} (${java})`);
    } catch (error) {
      if (!(error instanceof InstallError)) throw error;
      console.error(error.message);
      process.exitCode = 1;
    }
  }
}

if (import.meta.main) await main(process.argv.slice(2));
