// Curator's InterProcessMutex, as Debian ships it, on a server that is already there.
// Must not know which server it is.
// Called by columns.ts; CuratorMutex.java does the work.

import { fileURLToPath } from "node:url";
import { run } from "../real/debian.ts";
import { start } from "./child.ts";
import { installPackages } from "./packages.ts";

/** How one contest went. */
export interface CuratorContest {
  /** Each thread has a client of its own, or all share one. */
  clients: "own" | "shared";
  /** How often the mutex was acquired. */
  acquired: number;
  /** The same, counted in a way that misses some where two are inside at a time. */
  counted: number;
  /** How often somebody came in who was not alone. */
  overlaps: number;
  /** Contenders' znodes that were still there afterwards. */
  left: number;
  /** Whether the znodes above them could be deleted. */
  isGone: boolean;
  ms: number;
  /** What went wrong; empty if nothing did. */
  error: string;
}

/** How many threads, and how often each acquires. */
export const contest = { threads: 9, rounds: 20 };

const jars = [
  "curator-recipes",
  "curator-framework",
  "curator-client",
  // Its manifest names what it needs itself, and Curator needs no more.
  "zookeeper",
  "guava",
  "slf4j-simple",
].map((name) => `/usr/share/java/${name}.jar`);

/** Installs what it needs; resolves with its version. */
export async function installCurator(): Promise<string> {
  const packages = ["libcurator-recipes-java", ...await compiler()];
  const versions = await installPackages(packages);
  return `Curator ${versions["libcurator-recipes-java"]}`;
}

/** The package of a Java compiler, unless the java on PATH has one. */
async function compiler(): Promise<string[]> {
  const modules = await run("java", ["--list-modules"]).catch(() => "");
  return modules.includes("jdk.compiler") ? [] : ["default-jdk-headless"];
}

/** Runs both contests on the server at `address` ("host:port"). */
export async function runCurator(address: string): Promise<CuratorContest[]> {
  await installCurator();
  const source = new URL("CuratorMutex.java", import.meta.url);
  const { threads, rounds } = contest;
  const command = [
    "java",
    "-Xmx128m",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
    "-cp",
    jars.join(":"),
    fileURLToPath(source),
    address,
    `${threads}`,
    `${rounds}`,
  ];
  const { code, stdout, stderr, late } = await start(command, 120_000).ended;
  if (code !== 0 || !stdout.startsWith("[")) {
    const how = late ? "took too long" : `ended with ${code}`;
    throw new Error(
      `Run Curator on ${address}: ${how}:\n${(stdout + stderr).slice(-2_000)}`,
    );
  }
  return JSON.parse(stdout);
}
