// One znode of ours in a queue: what it is, how it goes, what it means to hold it.
// Knows no queue and no turn.
// Made by enter.ts, waited with by contend.ts.

import {
  baseName,
  type Client,
  internalsOf,
  type Op,
  type Session,
} from "../protocol/mod.ts";
import { resetDirectory } from "./directory.ts";
import type { Tenure } from "./held_lock.ts";
import { untilAnswered, warnOfOrphan } from "./patience.ts";
import { parseName } from "./names.ts";

/** Our znode. */
export interface Place {
  /** The session it lives in. */
  readonly session: Session;
  readonly path: string;
  readonly name: string;
  /** The transaction that made it. */
  readonly token: bigint;
}

/** What makes a place from what a create or a search brought. */
export function placeAt(session: Session, path: string, token: bigint): Place {
  return { session, path, name: baseName(path), token };
}

/** True as long as the place is ours. */
export function checksOf(place: Place): readonly Op[] {
  return [{ op: "check", path: place.path }];
}

/** Ids of our own contenders, by client: to tell which of a listing are ours. */
const ownIds = new WeakMap<Client, Set<string>>();

/** Notes an id as one of ours, from before its znode is made. */
export function own(client: Client, id: string): void {
  const ids = ownIds.get(client) ?? new Set();
  ownIds.set(client, ids.add(id));
}

/** True for the id of a contender of this client. */
export function isOwn(client: Client, id: string | null): boolean {
  return id !== null && ownIds.get(client)?.has(id) === true;
}

/** Forgets an id: its znode is gone or going. */
export function disown(client: Client, id: string | null | undefined): void {
  if (id) ownIds.get(client)?.delete(id);
}

/**
 * Deletes our znode, again after each reconnect until the server has answered.
 * Its name is never used twice, so doing it twice is as good as once. False if
 * the server says that it was gone already.
 */
export function letGo(client: Client, place: Place): Promise<boolean> {
  return untilAnswered(client, place.session, async (resend) => {
    await internalsOf(client).delete(place.path, { resend });
    return true;
  }, (error) => error.code === "NoNode");
}

/** Deletes a znode that nobody waits for any more; a warning is all that can come of it. */
export function leave(client: Client, place: Place): void {
  letGo(client, place).catch((cause) =>
    warnOfOrphan(client, place.path, cause)
  );
}

/** A place that is held. */
export class PlaceTenure implements Tenure {
  readonly path: string;
  readonly token: bigint;
  readonly checks: readonly Op[];
  readonly #client: Client;
  readonly #place: Place;
  readonly #directory: string;

  constructor(client: Client, place: Place, directory: string) {
    this.path = place.path;
    this.token = place.token;
    this.checks = checksOf(place);
    this.#client = client;
    this.#place = place;
    this.#directory = directory;
  }

  async letGo(): Promise<boolean> {
    const parsed = parseName(this.#place.name);
    disown(this.#client, parsed?.id);
    const was = await letGo(this.#client, this.#place);
    // Halfway through the numbers: let them start again if nobody waits.
    if (parsed && parsed.sequence > 2 ** 30) {
      void resetDirectory(this.#client, this.#directory);
    }
    return was;
  }
}
