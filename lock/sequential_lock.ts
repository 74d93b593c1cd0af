// The fair lock: a queue of ephemeral sequential znodes, each waiter watching only the one ahead.
// The algorithm is contend.ts with the rule "one at a time".
// Used by users.

import {
  baseName,
  codeOf,
  joinPath,
  parentPath,
  type Session,
  validatePath,
} from "../protocol/mod.ts";
import { contend } from "./contend.ts";
import { lineOf } from "./directory.ts";
import { type Contender, Lock } from "./lock.ts";
import type { Tenure } from "./held_lock.ts";
import { parseName } from "./names.ts";
import { isOwn, own, placeAt, PlaceTenure } from "./place.ts";
import { exclusive } from "./queue.ts";
import type { Claim } from "./resume.ts";
import type { Turn } from "./turn.ts";

/**
 * A fair lock, the default choice: first come, first served, and a release wakes
 * exactly one waiter.
 *
 * Each contender makes an ephemeral sequential child of `path` and watches the
 * one before it. The names are Curator's, so Curator's `InterProcessMutex` and
 * go-zk can wait in the same queue.
 *
 * @example
 * ```ts
 * import { connect, SequentialLock } from "@zklock/zklock";
 *
 * const zk = await connect("zk1:2181,zk2:2181,zk3:2181");
 * const nightly = new SequentialLock(zk, "/locks/nightly");
 * await nightly.run(async (held) => {
 *   await fetch("https://example.com/rebuild", { signal: held.signal });
 * }, { timeout: 5_000 });
 * await zk.close();
 * ```
 */
export class SequentialLock extends Lock {
  /** Everybody who wants the lock, in order, the holder first. */
  async contenders(): Promise<Contender[]> {
    const names = await this.client.getChildren(this.path).catch((error) => {
      if (codeOf(error) === "NoNode") return [];
      throw error;
    });
    const line = lineOf(this.client, this.path, names);
    return line.contenders.map(({ name, sequence, id, kind }, i) => ({
      path: joinPath(this.path, name),
      sequence,
      id,
      kind,
      mine: isOwn(this.client, id),
      holder: i === 0,
    }));
  }

  /** @ignore For the library only. */
  protected checkClaim(path: string): void {
    validatePath(path);
    const isOurs = parentPath(path) === this.path &&
      parseName(baseName(path)) !== null;
    if (isOurs) return;
    throw new TypeError(
      `Cannot resume ${path}: it is no contender of ${this.path}`,
    );
  }

  /** @ignore Ours, made by the transaction that is the token, and nobody is ahead. For the library only. */
  protected async find(
    session: Session,
    { path, token }: Claim,
  ): Promise<Tenure | null> {
    const { client } = this;
    const synced = client.sync(path);
    synced.catch(() => {}); // Awaited below, unless a read fails first.
    const [names, stat] = await Promise.all([
      client.getChildren(this.path),
      client.exists(path),
    ]);
    await synced;
    session.signal.throwIfAborted();
    const standing = lineOf(client, this.path, names)
      .standingOf(baseName(path));
    const isHeld = standing?.ahead === 0 && !standing.tied &&
      stat?.ephemeralOwner === session.id && stat.czxid === token;
    if (!isHeld) return null;
    if (standing.own.id) own(client, standing.own.id);
    return new PlaceTenure(client, placeAt(session, path, token), this.path);
  }

  /** @ignore For the library only. */
  protected take(turn: Turn): Promise<void> {
    const { path, options: { acl, onSessionLoss } } = this;
    return contend(
      { path, rule: exclusive, acl, onSessionLoss: onSessionLoss! },
      turn,
    );
  }
}
