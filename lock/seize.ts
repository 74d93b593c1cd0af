// Taking a znode that only one can make: try, watch, try again. Everybody who waits wakes each time.
// Knows the znode, its fence and the turn; no queue.
// Run by exclusive_lock.ts once for each acquire().

import {
  type Acl,
  type Client,
  codeOf,
  type Data,
  internalsOf,
  momentOf,
  MultiError,
  type Op,
  parentPath,
  ProtocolError,
  type Session,
  SessionExpiredError,
  type WatchEvent,
} from "../protocol/mod.ts";
import { believe } from "./belief.ts";
import { warnOfRequeue } from "./contend.ts";
import { LockLostError, SequenceExhaustedError } from "./errors.ts";
import { FencedTenure, fencePath, type Grant } from "./fence.ts";
import { Holding, type Tenure } from "./held_lock.ts";
import { leaseOf } from "./lease.ts";
import { newId } from "./names.ts";
import { passing, patiently, pauseTime, warnOfOrphan } from "./patience.ts";
import { warnFrom } from "./queue.ts";
import type { Turn } from "./turn.ts";

/** What the contenders of one lock have in common. */
export interface SeizeSettings {
  /** The znode. */
  path: string;
  acl?: readonly Acl[];
  onSessionLoss: "requeue" | "reject";
}

/** Tries and waits, and settles the turn. */
export async function seize(
  settings: SeizeSettings,
  turn: Turn,
): Promise<void> {
  const { client } = turn;
  try {
    while (!turn.over) {
      const { session } = client;
      const seizure = new Seizure(settings, turn, session);
      try {
        return await seizure.run();
      } catch (error) {
        const over = error instanceof SessionExpiredError ||
          error instanceof LockLostError ||
          (session.signal.aborted && error === session.signal.reason);
        if (!over || turn.over) throw error;
        if (settings.onSessionLoss === "reject") throw error;
        warnOfRequeue(client, settings.path, error as Error);
      } finally {
        seizure.unwatch();
      }
    }
  } catch (error) {
    turn.fail(error);
  }
}

/** The tries of one turn in one session. */
class Seizure {
  readonly #settings: SeizeSettings;
  readonly #turn: Turn;
  readonly #client: Client;
  readonly #session: Session;
  #watching = false;
  /** Somebody let go; no need to look. */
  #free = false;
  #warned = false;
  readonly #watcher = ({ type }: WatchEvent): void => {
    this.#watching = false;
    this.#free = type === "deleted";
    this.#turn.wake();
  };

  constructor(settings: SeizeSettings, turn: Turn, session: Session) {
    this.#settings = settings;
    this.#turn = turn;
    this.#client = turn.client;
    this.#session = session;
  }

  async run(): Promise<void> {
    const turn = this.#turn;
    let announced = false;
    for (;;) {
      while (!turn.ready(this.#session)) await turn.sleep();
      if (turn.over) return;
      this.#session.signal.throwIfAborted();
      this.#free = false;
      const tried = await this.#try();
      if (tried === "again") continue;
      if (tried !== "taken") return await this.#granted(tried);
      if (turn.over) return;
      if (turn.trying) return turn.grant(null);
      if (!announced) turn.queued(1);
      announced = true;
      while (!turn.over && !this.#free && await this.#taken()) {
        await turn.sleep();
      }
    }
  }

  unwatch(): void {
    if (!this.#watching) return;
    const { path } = this.#settings;
    internalsOf(this.#client).forget("data", path, this.#watcher);
    this.#watching = false;
  }

  /** Makes the znode and sets the fence, as one. */
  async #try(): Promise<Grant | "taken" | "again"> {
    const { environment } = this.#client;
    const id = newId((bytes) => environment.random(bytes));
    const since = momentOf(environment);
    try {
      const { results } = await this.#client.multi(this.#claim(id));
      leaseOf(this.#client).committed(this.#session, since);
      const set = results[1] as { stat: { mzxid: bigint; version: number } };
      return {
        session: this.#session,
        token: set.stat.mzxid,
        fenceVersion: set.stat.version,
      };
    } catch (error) {
      return await this.#refused(error, id);
    }
  }

  #claim(id: string): Op[] {
    const { path, acl } = this.#settings;
    const data: Data | undefined = this.#turn.options.data;
    return [
      { op: "create", path, data, mode: "ephemeral", acl },
      { op: "setData", path: fencePath(path), data: id },
    ];
  }

  async #refused(
    error: unknown,
    id: string,
  ): Promise<Grant | "taken" | "again"> {
    const code = codeOf(error);
    if (code === "ConnectionLoss" || error instanceof ProtocolError) {
      return await this.#search(id) ?? "again";
    }
    if (passing(error)) {
      await this.#turn.rest(pauseTime(this.#session));
      return "again";
    }
    if (!(error instanceof MultiError)) throw error;
    if (error.index === 0 && code === "NodeExists") return "taken";
    if (code !== "NoNode") throw error;
    const { index } = error;
    await patiently(this.#client, this.#session, async () => {
      if (this.#turn.over) return;
      if (index === 0) await this.#makeParent();
      else await this.#makeFence();
    });
    return "again";
  }

  /** Finds what may have been granted, also if the server puts it off; a warning if it refuses to tell. */
  async #search(id: string): Promise<Grant | undefined> {
    try {
      return await patiently(
        this.#client,
        this.#session,
        () => this.#find(id),
      );
    } catch (error) {
      warnOfOrphan(this.#client, this.#settings.path, error);
      throw error;
    }
  }

  /**
   * Whether a claim whose reply was lost was granted. Ours if the znode is of
   * this session and was made by the transaction that wrote our id to the fence:
   * two holds may share a session. First sync: the server may lag behind.
   */
  async #find(id: string): Promise<Grant | undefined> {
    const { path } = this.#settings;
    const synced = this.#client.sync(path);
    const lock = this.#client.getData(path);
    const fence = this.#client.getData(fencePath(path));
    for (const promise of [synced, lock, fence]) promise.catch(() => {});
    try {
      const { stat } = await lock;
      const { data, stat: fenceStat } = await fence;
      await synced;
      this.#session.signal.throwIfAborted();
      const ours = stat.ephemeralOwner === this.#session.id &&
        fenceStat.mzxid === stat.czxid &&
        new TextDecoder().decode(data ?? undefined) === id;
      if (!ours) return undefined;
      const fenceVersion = fenceStat.version;
      return { session: this.#session, token: stat.czxid, fenceVersion };
    } catch (error) {
      if (codeOf(error) === "NoNode") return undefined;
      throw error;
    }
  }

  /** Watches the znode. False if it is gone; then there is no watch either. */
  async #taken(): Promise<boolean> {
    if (this.#turn.over) return false;
    this.#session.signal.throwIfAborted();
    const { path } = this.#settings;
    const watch = this.#watching ? undefined : this.#watcher;
    try {
      this.#watching = true;
      const { stat } = await patiently(
        this.#client,
        this.#session,
        () => this.#client.getData(path, { watch }),
      );
      if (stat.ephemeralOwner === 0n) this.#warnOfPlain();
      return watch !== undefined || this.#watching;
    } catch (error) {
      if (watch) this.#watching = false;
      if (codeOf(error) === "NoNode") return false;
      throw error;
    }
  }

  /** Nobody who holds the lock made it, so nobody may ever release it. */
  #warnOfPlain(): void {
    if (this.#warned) return;
    this.#warned = true;
    const { path } = this.#settings;
    const message = `Waiting for ${path}, which is no lock: ` +
      `it is not ephemeral`;
    const kind = "foreign-contender";
    internalsOf(this.#client).warn({ kind, message, path });
  }

  async #granted(grant: Grant): Promise<void> {
    const turn = this.#turn;
    const { path } = this.#settings;
    const tenure = new FencedTenure(this.#client, path, grant);
    turn.entered(() => this.#giveBack(tenure));
    try {
      await believe(turn, this.#session, tenure);
      if (grant.fenceVersion >= warnFrom) {
        throw new SequenceExhaustedError(path, grant.fenceVersion);
      }
    } catch (error) {
      turn.leave();
      throw error;
    }
    if (turn.over) return turn.leave();
    turn.left();
    const { onState } = turn.options;
    turn.grant(new Holding(this.#client, this.#session, tenure, onState));
  }

  #giveBack(tenure: Tenure): void {
    tenure.letGo().catch((cause) =>
      warnOfOrphan(this.#client, tenure.path, cause)
    );
  }

  async #makeParent(): Promise<void> {
    const { path, acl } = this.#settings;
    await this.#client.ensurePath(parentPath(path), { acl });
  }

  async #makeFence(): Promise<void> {
    const { path, acl } = this.#settings;
    try {
      await this.#client.create(fencePath(path), "", { acl });
    } catch (error) {
      const code = codeOf(error);
      if (code !== "NodeExists" && code !== "ConnectionLoss") throw error;
    }
  }
}
