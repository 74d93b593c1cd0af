// A real ZooKeeper in the foreground, until interrupted: `deno task zookeeper`; --help tells the options.
// Must not know the client under test.
// For people who want to try things by hand.

import process from "node:process";
import { parseArgs } from "node:util";
import { InstallError, isVersion, versions } from "./install.ts";
import { launcherGone } from "./launchers.ts";
import { freePorts, isFree } from "./ports.ts";
import { type RealServer, StartError, startServer } from "./server.ts";

const usual = 2181;
const helpText = `\
Runs a real ZooKeeper on this machine until you press Ctrl-C. What it knows is
lost then.

Usage: deno task zookeeper [version] [options]

  version      ${versions.join(", ")}; default ${versions[0]}
  --port N     where it listens, 1 to 65535; default ${usual}, or any if that is taken
  --help       print this

Exit code: 0, 1 if it cannot be had or started, 2 for bad options.`;

/** What cannot be asked for; the message says it. */
class UsageError extends Error {}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        port: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError((error as Error).message.split(/[.\n]/)[0]);
  }
}

/** Resolves with a running server; null: only help was wanted. */
async function start(args: string[]): Promise<RealServer | null> {
  const { values, positionals } = parse(
    args[0] === "--" ? args.slice(1) : args,
  );
  if (values.help) {
    console.log(helpText);
    return null;
  }
  const [version = versions[0], ...more] = positionals;
  if (more.length > 0) throw new UsageError(`Too many: ${more.join(" ")}`);
  if (!isVersion(version)) {
    throw new UsageError(`${version} is none of ${versions.join(", ")}`);
  }
  const wanted = values.port;
  const port = Number(wanted ?? usual);
  if (
    wanted !== undefined && !(/^\d+$/.test(wanted) && port > 0 && port < 65_536)
  ) {
    throw new UsageError(`--port is not a number from 1 to 65535: "${wanted}"`);
  }
  const free = await isFree(port);
  if (!free && wanted !== undefined) {
    throw new InstallError(`Port ${port} is taken`);
  }
  const server = await startServer({
    version,
    port: free ? port : (await freePorts(1))[0],
  });
  const why = free ? "" : ` (${usual} is taken)`;
  console.log(
    `ZooKeeper ${version} at ${server.servers}${why}; Ctrl-C ends it`,
  );
  return server;
}

/** Resolves when somebody wants it to end. */
function ended(): Promise<unknown> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"].map((name) =>
    new Promise((resolve) => process.on(name, resolve))
  );
  return Promise.race([...signals, launcherGone()]);
}

async function main(): Promise<number> {
  // From the beginning: it takes a while to start, or to be fetched.
  const end = ended();
  try {
    const starting = start(process.argv.slice(2));
    const server = await Promise.race([starting, end.then(() => null)]);
    if (server === null) return 0;
    await end;
    await server[Symbol.asyncDispose]();
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`zookeeper: ${error.message}; --help tells the options`);
      return 2;
    }
    const known = error instanceof InstallError || error instanceof StartError;
    if (!known) throw error;
    console.error(`zookeeper: ${error.message}`);
    return 1;
  }
}

process.exit(await main());
