// Entering a queue: makes a znode and lists its neighbours, whatever happens on the way.
// Knows no rule: whether somebody is ahead is for others to see.
// Used by contend.ts.

import {
  type Acl,
  type Client,
  codeOf,
  joinPath,
  momentOf,
  ProtocolError,
  type Session,
} from "../protocol/mod.ts";
import { lineSoon, makeDirectory } from "./directory.ts";
import { leaseOf } from "./lease.ts";
import { contenderPrefix } from "./names.ts";
import { passing, patiently, pauseTime, warnOfOrphan } from "./patience.ts";
import { leave, type Place, placeAt } from "./place.ts";
import type { Line } from "./queue.ts";
import type { Turn } from "./turn.ts";

/** What is needed to enter. */
export interface Entry {
  /** The directory. */
  path: string;
  /** An id that was never used before, in place of the one before. */
  newId: () => string;
  acl?: readonly Acl[];
}

/**
 * Makes the znode and lists the queue, in one round trip: the requests of a
 * session are served in order, so the list is never older than the znode. Null
 * if the turn was over before there was anything to delete; what was made
 * meanwhile is found in any case. Rejects with a SessionExpiredError if the
 * session ends before, or a ServerError.
 */
export async function enter(
  turn: Turn,
  session: Session,
  { path, newId, acl }: Entry,
): Promise<{ place: Place; line: Promise<Line> } | null> {
  const { client, options: { data } } = turn;
  let id = newId();
  let missing = 0;
  for (;;) {
    while (!turn.ready(session)) await turn.sleep();
    if (turn.over) return null;
    session.signal.throwIfAborted();
    const line = lineSoon(client, path);
    line.catch(() => {}); // Looked at later, or not at all.
    const since = momentOf(client.environment);
    const isEager = session.id === 0n;
    try {
      const prefix = joinPath(path, contenderPrefix(id));
      const mode = "ephemeral-sequential";
      const made = await client.create(prefix, data, { mode, acl });
      leaseOf(client).committed(session, since);
      return { place: placeAt(session, made.path, made.zxid), line };
    } catch (error) {
      const code = codeOf(error);
      if (code === "ConnectionLoss" || error instanceof ProtocolError) {
        const place = await search(client, session, path, id);
        if (place) return { place, line: lineSoon(client, path) };
        // A session that we never heard of may have it, for a while yet: where
        // numbers have stuck, the same id would meet it (found by simulation).
        if (isEager) id = newId();
      } else if (code === "NoNode") {
        // Reaped again at once? Once is bad luck.
        if (missing++ > 2) await turn.rest(pauseTime(session));
        await patiently(client, session, async () => {
          if (!turn.over) await makeDirectory(client, path, acl);
        });
      } else if (passing(error)) await turn.rest(pauseTime(session));
      else throw error;
    }
  }
}

/** Finds what may have been made, also if the server puts it off; a warning if it refuses to tell. */
async function search(
  client: Client,
  session: Session,
  path: string,
  id: string,
): Promise<Place | undefined> {
  try {
    return await patiently(
      client,
      session,
      () => find(client, session, path, id),
    );
  } catch (error) {
    warnOfOrphan(client, joinPath(path, contenderPrefix(id)), error);
    throw error;
  }
}

/**
 * Looks for a znode that may have been made before the connection was lost.
 * First sync: the server we have now may lag behind the one that made it. Only
 * one of this session counts: that of an earlier one is on its way out
 * (CURATOR-604).
 */
async function find(
  client: Client,
  session: Session,
  path: string,
  id: string,
): Promise<Place | undefined> {
  const names = await listSynced(client, path);
  const prefix = contenderPrefix(id);
  let found: Place | undefined;
  for (const name of names.filter((n) => n.startsWith(prefix)).sort()) {
    session.signal.throwIfAborted();
    const stat = await client.exists(joinPath(path, name));
    if (stat?.ephemeralOwner !== session.id) continue;
    const place = placeAt(session, joinPath(path, name), stat.czxid);
    if (found) leave(client, place);
    else found = place;
  }
  return found;
}

async function listSynced(client: Client, path: string): Promise<string[]> {
  const synced = client.sync(path);
  synced.catch(() => {}); // Awaited below, unless the listing fails first.
  try {
    const names = await client.getChildren(path);
    await synced;
    return names;
  } catch (error) {
    if (codeOf(error) === "NoNode") return [];
    throw error;
  }
}
