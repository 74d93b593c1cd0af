// Where the demo's ZooKeeper comes from: given, or a real one started for it as for the tests.
// Knows no lock.
// Used by show.ts.

import process from "node:process";
import { install, InstallError } from "../../tests/real/install.ts";
import { startServer } from "../../tests/real/server.ts";

/** A server to use. */
export interface Source extends AsyncDisposable {
  /** The connect string. */
  servers: string;
}

const version = "3.8.0";
/** Finding an installed one takes a few ms; whoever waits longer is told why. */
const patience = 500;

/**
 * The servers given by option or by ZOOKEEPER_SERVERS, as for the tests; else
 * starts one, which ends when disposed, or with this process. Rejects with an
 * Error that says what to do, or the reason of the signal.
 */
export async function openSource(
  given: string | undefined,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<Source> {
  const servers = given ?? process.env.ZOOKEEPER_SERVERS;
  if (servers) {
    const by = given ? "" : " (ZOOKEEPER_SERVERS)";
    print(`Connecting to ${servers}${by} …`);
    return { servers, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  print(`Starting a real ZooKeeper ${version} on this machine …`);
  const slow = setTimeout(() => {
    print("Installing it first, once (apt, a minute or two) …");
  }, patience);
  const started = install(version)
    .finally(() => clearTimeout(slow))
    .then(() => startServer({ version }));
  try {
    return await Promise.race([started, rejected(signal)]);
  } catch (error) {
    // Started after all, though nobody waits for it: it ends with this process.
    started.catch(() => {});
    if (!(error instanceof InstallError)) throw error;
    const instead = "deno task demo --servers host:port";
    throw new Error(`${error.message} (${instead})`, { cause: error });
  }
}

function rejected(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
