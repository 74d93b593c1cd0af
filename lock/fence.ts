// The fence of an exclusive lock, and what it means to hold a lock that has one.
// Knows no turn and nobody who waits.
// Used by seize.ts, and by exclusive_lock.ts to name the holder.
//
// A deleted and recreated znode has version 0 again, so nothing about the znode
// itself tells whose it is. Beside it lies a fence that is never deleted: every
// grant sets its data to the holder's id, in the same transaction that makes the
// znode, so the fence's version is the holder's alone. Release and heartbeat
// check it, and a stale holder can do nothing to its successor's znode.

import {
  type Client,
  internalsOf,
  MultiError,
  type Op,
  type Session,
} from "../protocol/mod.ts";
import type { Tenure } from "./held_lock.ts";
import { untilAnswered } from "./patience.ts";

/** The znode beside a lock that outlives its holders. */
export function fencePath(path: string): string {
  return `${path}-fence`;
}

/** A grant: the znode is ours. */
export interface Grant {
  readonly session: Session;
  /** The transaction that made the znode. */
  readonly token: bigint;
  readonly fenceVersion: number;
}

/** A znode that is held, and its fence. */
export class FencedTenure implements Tenure {
  readonly path: string;
  readonly token: bigint;
  readonly checks: readonly Op[];
  readonly #client: Client;
  readonly #session: Session;

  constructor(client: Client, path: string, grant: Grant) {
    this.path = path;
    this.token = grant.token;
    this.checks = [
      { op: "check", path },
      { op: "check", path: fencePath(path), version: grant.fenceVersion },
    ];
    this.#client = client;
    this.#session = grant.session;
  }

  letGo(): Promise<boolean> {
    const ops: Op[] = [this.checks[1], { op: "delete", path: this.path }];
    return untilAnswered(this.#client, this.#session, async (resend) => {
      try {
        await internalsOf(this.#client).multi(ops, { resend });
        return true;
      } catch (error) {
        const isFence = error instanceof MultiError && error.index === 0;
        if (!isFence || error.code !== "NoNode") throw error;
        return await this.#letGoWithoutFence();
      }
      // With another version it is somebody else's.
    }, ({ code }) => code === "NoNode" || code === "BadVersion");
  }

  /**
   * Somebody deleted the fence. The lock may still be ours: only the transaction
   * that made it tells now.
   */
  #letGoWithoutFence(): Promise<boolean> {
    const { path, token } = this;
    const client = this.#client;
    const message = `Somebody deleted ${fencePath(path)}: ` +
      `it must not be, or a stale holder may harm its successor`;
    internalsOf(client).warn({ kind: "fence-missing", message, path });
    return untilAnswered(client, this.#session, async (resend) => {
      const synced = client.sync(path);
      synced.catch(() => {});
      const { stat } = await client.getData(path);
      await synced;
      if (stat.czxid !== token) return false;
      this.#session.signal.throwIfAborted();
      await internalsOf(client).delete(path, { resend });
      return true;
    }, ({ code }) => code === "NoNode");
  }
}
