// The simple lock: one znode that only one can make; everybody who waits watches it.
// The algorithm is in seize.ts.
// Used by users.

import { codeOf, type Session } from "../protocol/mod.ts";
import { FencedTenure, fencePath } from "./fence.ts";
import type { Tenure } from "./held_lock.ts";
import { type Contender, Lock } from "./lock.ts";
import type { Claim } from "./resume.ts";
import { seize } from "./seize.ts";
import type { Turn } from "./turn.ts";

/**
 * The lock of the textbooks: whoever makes the ephemeral znode `path` has it.
 *
 * Not fair, and a release wakes everybody who waits (the herd effect): choose
 * {@linkcode SequentialLock} unless the znode must have exactly this path. Beside
 * it lies `<path>-fence`, made on first use: do not delete it.
 *
 * @example
 * ```ts
 * import { connect, ExclusiveLock } from "@zklock/zklock";
 *
 * const zk = await connect("zk1:2181");
 * const leader = new ExclusiveLock(zk, "/app/leader");
 * const held = await leader.tryAcquire({ data: "host-17" });
 * console.log(held ? `leading, token ${held.token}` : "somebody else leads");
 * await held?.release();
 * await zk.close();
 * ```
 */
export class ExclusiveLock extends Lock {
  /** The holder, or nobody: who waits for this kind of lock leaves no trace on the server. */
  async contenders(): Promise<Contender[]> {
    const { client, path } = this;
    const reading = client.getData(fencePath(path)).catch(() => null);
    try {
      const { stat } = await client.getData(path);
      const fence = await reading;
      const id = fence?.stat.mzxid === stat.czxid
        ? new TextDecoder().decode(fence.data ?? undefined)
        : null;
      const mine = stat.ephemeralOwner === client.session.id;
      return [{ path, sequence: null, id, kind: "lock", mine, holder: true }];
    } catch (error) {
      if (codeOf(error) === "NoNode") return [];
      throw error;
    }
  }

  /** @ignore For the library only. */
  protected checkClaim(path: string): void {
    if (path === this.path) return;
    throw new TypeError(`Cannot resume ${path}: it is not ${this.path}`);
  }

  /** @ignore Ours, and made by the transaction that set the fence. For the library only. */
  protected async find(
    session: Session,
    { path, token }: Claim,
  ): Promise<Tenure | null> {
    const { client } = this;
    const synced = client.sync(path);
    synced.catch(() => {}); // Awaited below, unless a read fails first.
    const [lock, fence] = await Promise.all([
      client.getData(path),
      client.getData(fencePath(path)),
    ]);
    await synced;
    session.signal.throwIfAborted();
    const isHeld = lock.stat.ephemeralOwner === session.id &&
      lock.stat.czxid === token && fence.stat.mzxid === token;
    if (!isHeld) return null;
    const fenceVersion = fence.stat.version;
    return new FencedTenure(client, path, { session, token, fenceVersion });
  }

  /** @ignore For the library only. */
  protected take(turn: Turn): Promise<void> {
    const { path, options: { acl, onSessionLoss } } = this;
    return seize({ path, acl, onSessionLoss: onSessionLoss! }, turn);
  }
}
