// The znode under which the contenders of a lock stand: listing it, making it, letting its numbers start again.
// Knows no contender of ours and no lease.
// Used by enter.ts, contend.ts, place.ts and sequential_lock.ts.

import {
  type Acl,
  type Client,
  codeOf,
  internalsOf,
  joinPath,
  parentPath,
} from "../protocol/mod.ts";
import { Line } from "./queue.ts";

/** What the locks of one client share about one directory. */
interface Shared {
  /** The listing that is asked for at the end of this turn. */
  listing?: Promise<Line>;
  /** Somebody is making the directory. */
  making?: Promise<void>;
  /** Children reported as strangers. */
  reported?: Set<string>;
}

const clients = new WeakMap<Client, Map<string, Shared>>();
/** The directories a client made last: those may go when they are empty. */
const made = new WeakMap<Client, Set<string>>();
/** What is remembered for ever is remembered of so many only. */
const atMost = { reported: 100, made: 10_000 };

function sharedOf(client: Client, path: string): Shared {
  let paths = clients.get(client);
  if (paths === undefined) clients.set(client, paths = new Map());
  let shared = paths.get(path);
  if (shared === undefined) paths.set(path, shared = {});
  return shared;
}

/** Keeps the map small: most locks are used once in a while. */
function tidy(client: Client, path: string): void {
  const shared = clients.get(client)?.get(path);
  if (shared && Object.values(shared).every((value) => !value)) {
    clients.get(client)!.delete(path);
  }
}

/**
 * The line of contenders, as of the end of this turn of the event loop: all who
 * ask in one turn share one listing, written behind whatever they ask besides
 * (10,000 waiters would else fetch 10,000 times 10,000 names). To have it in the
 * same write as a create, call this first.
 */
export function lineSoon(client: Client, path: string): Promise<Line> {
  const shared = sharedOf(client, path);
  return shared.listing ??= new Promise((resolve, reject) => {
    queueMicrotask(() => {
      shared.listing = undefined;
      tidy(client, path);
      client.getChildren(path).then(
        (names) => resolve(lineOf(client, path, names)),
        reject,
      );
    });
  });
}

/** Lines children up, and reports those that are no contenders, each once. */
export function lineOf(client: Client, path: string, names: string[]): Line {
  const line = new Line(names);
  if (line.strangers.length === 0) return line;
  const { reported } = sharedOf(client, path);
  const known = reported ?? new Set();
  sharedOf(client, path).reported = known;
  for (const name of line.strangers) {
    if (known.has(name) || known.size >= atMost.reported) continue;
    known.add(name);
    internalsOf(client).warn({
      kind: "foreign-child",
      message: `A child of ${path} is no contender: ${JSON.stringify(name)}`,
      path: joinPath(path, name),
    });
  }
  return line;
}

/**
 * Makes the directory: as a container where the server has them, so that it goes
 * with its last child; what is missing above it as plain znodes.
 */
export function makeDirectory(
  client: Client,
  path: string,
  acl: readonly Acl[] | undefined,
): Promise<void> {
  const shared = sharedOf(client, path);
  return shared.making ??= make(client, path, acl)
    .finally(() => {
      shared.making = undefined;
      tidy(client, path);
    });
}

async function make(
  client: Client,
  path: string,
  acl: readonly Acl[] | undefined,
): Promise<void> {
  let mode: "container" | "persistent" = "container";
  for (;;) {
    try {
      await client.create(path, "", { mode, acl });
      return remember(client, path);
    } catch (error) {
      const code = codeOf(error);
      if (code === "NodeExists") return;
      if (code === "NoNode") await client.ensurePath(parentPath(path), { acl });
      // Before 3.5. The client remembers this for each server.
      else if (code === "Unimplemented") mode = "persistent";
      else if (code !== "ConnectionLoss") throw error;
    }
  }
}

function remember(client: Client, path: string): void {
  const paths = made.get(client) ?? new Set();
  made.set(client, paths.add(path));
  if (paths.size <= atMost.made) return;
  const [oldest] = paths;
  paths.delete(oldest);
}

/** Deletes a directory we made, if it is empty and has no data: its numbers start again. */
export async function resetDirectory(
  client: Client,
  path: string,
): Promise<void> {
  if (!made.get(client)?.delete(path)) return;
  try {
    const { stat } = await client.getData(path);
    if (stat.dataLength > 0) return;
    await client.delete(path, { version: stat.version });
  } catch {
    // Not empty, or gone already, or for another time.
  }
}
