// Enter, wait, hold: one contender in a queue of ephemeral sequential znodes.
// Knows no kind of lock: whom to wait for is a rule.
// Run by sequential_lock.ts once for each acquire().

import {
  type Acl,
  type Client,
  codeOf,
  internalsOf,
  joinPath,
  SessionExpiredError,
  type Warning,
  type WatchEvent,
} from "../protocol/mod.ts";
import { strengthen } from "./belief.ts";
import { lineSoon } from "./directory.ts";
import { enter } from "./enter.ts";
import { LockLostError, SequenceExhaustedError } from "./errors.ts";
import { Holding } from "./held_lock.ts";
import { type Lease, leaseOf } from "./lease.ts";
import { type ContenderName, newId } from "./names.ts";
import { passing, patiently, pauseTime } from "./patience.ts";
import {
  checksOf,
  disown,
  leave,
  own,
  type Place,
  PlaceTenure,
} from "./place.ts";
import {
  isExhausted,
  type Line,
  type Rule,
  type Standing,
  warnFrom,
} from "./queue.ts";
import type { Turn } from "./turn.ts";

/** What the contenders of one lock have in common. */
export interface QueueSettings {
  /** The directory. */
  path: string;
  rule: Rule;
  acl?: readonly Acl[];
  /** Whether a waiter that loses its place enters again. */
  onSessionLoss: "requeue" | "reject";
}

/** Takes a place, waits, and settles the turn. */
export async function contend(
  settings: QueueSettings,
  turn: Turn,
): Promise<void> {
  try {
    while (!turn.over) {
      const lost = await new Attempt(settings, turn).run();
      if (lost === undefined || turn.over) return;
      if (settings.onSessionLoss === "reject") throw lost;
      warnOfRequeue(turn.client, settings.path, lost);
    }
  } catch (error) {
    turn.fail(error);
  }
}

/** Says that a waiter lost its place and enters again at the end. */
export function warnOfRequeue(
  client: Client,
  path: string,
  cause: Error,
): void {
  const message = `Entered the queue of ${path} again: ${cause.message}`;
  internalsOf(client).warn({ kind: "requeued", message, path, cause });
}

/** How an attempt ends: an error says that the place was lost, while the session may live on. */
type End = "granted" | "left" | LockLostError;

/** One attempt: one id at a time, at most one znode, one session. */
class Attempt {
  readonly #settings: QueueSettings;
  readonly #turn: Turn;
  readonly #client: Client;
  readonly #lease: Lease;
  /** The znode we watch, until the watch fires. */
  #watched: { kind: "data" | "child"; path: string } | undefined;
  readonly #watcher = (_: WatchEvent): void => {
    this.#watched = undefined;
    this.#turn.wake();
  };
  readonly #warned = new Set<string>();
  #id: string | undefined;

  constructor(settings: QueueSettings, turn: Turn) {
    this.#settings = settings;
    this.#turn = turn;
    this.#client = turn.client;
    this.#lease = leaseOf(turn.client);
  }

  /** Why the place was lost, if it was; undefined if the turn is over, one way or the other. */
  async run(): Promise<Error | undefined> {
    const { session } = this.#client;
    let end: End | Error = "left";
    try {
      end = await this.#enter();
    } catch (error) {
      const over = error instanceof SessionExpiredError ||
        (session.signal.aborted && error === session.signal.reason);
      if (!over) throw error;
      end = error as Error;
    } finally {
      if (end !== "granted") disown(this.#client, this.#id);
    }
    return end instanceof Error ? end : undefined;
  }

  #newId(): string {
    disown(this.#client, this.#id);
    const { environment } = this.#client;
    this.#id = newId((bytes) => environment.random(bytes));
    own(this.#client, this.#id);
    return this.#id;
  }

  async #enter(): Promise<End> {
    const turn = this.#turn;
    const { session } = this.#client;
    const { path, acl } = this.#settings;
    const entry = { path, newId: () => this.#newId(), acl };
    const entered = await enter(turn, session, entry);
    if (entered === null) return "left";
    const { place, line } = entered;
    let end: End = "left";
    turn.entered(() => leave(this.#client, place));
    try {
      end = await this.#wait(place, line);
    } finally {
      if (end === "left") turn.leave();
      else turn.left();
      this.#unwatch();
    }
    return end;
  }

  /** Waits until nobody is ahead, looking again at every event, reconnect and doubt. */
  async #wait(place: Place, listing: Promise<Line>): Promise<End> {
    const turn = this.#turn;
    let announced = false;
    let line: Line | undefined = await this.#listed(place, listing);
    for (;; line = await this.#listed(place)) {
      if (turn.over) return "left";
      place.session.signal.throwIfAborted();
      // Also what a read-only server shows is no ground to decide anything on.
      if (place.session.state !== "connected") continue;
      const standing = line?.standingOf(place.name);
      if (standing === undefined) return vanished(place);
      this.#checkNumbers(standing);
      const { order, ahead } = standing;
      const blockers = this.#settings.rule(order, ahead);
      if (blockers.length === 0) {
        const end = await this.#grant(place);
        if (end !== "again") return end;
        continue;
      }
      if (turn.trying) {
        turn.leave();
        turn.grant(null);
        return "left";
      }
      if (!announced) turn.queued(ahead);
      announced = true;
      if (turn.over) return "left";
      const blocker = blockers[blockers.length - 1];
      this.#warnOf(blocker);
      const watched = await patiently(
        this.#client,
        place.session,
        () => this.#watch(blocker.name),
      );
      if (watched) await turn.sleep();
      if (turn.over) return "left";
    }
  }

  /** Undefined if the directory is gone, and our znode with it, or if nobody waits any more. */
  async #listed(
    place: Place,
    listing?: Promise<Line>,
  ): Promise<Line | undefined> {
    for (;;) {
      try {
        return await (listing ?? this.#list(place));
      } catch (error) {
        if (codeOf(error) === "NoNode") return undefined;
        if (!passing(error)) throw error;
      }
      listing = undefined;
      await this.#turn.rest(pauseTime(place.session));
    }
  }

  async #list(place: Place): Promise<Line | undefined> {
    const turn = this.#turn;
    while (!turn.ready(place.session)) await turn.sleep();
    if (turn.over) return undefined;
    place.session.signal.throwIfAborted();
    const line = lineSoon(this.#client, this.#settings.path);
    // In the same write, so that what the list may grant can be believed.
    this.#lease.freshen(checksOf(place));
    return await line;
  }

  /** Watches the one ahead. False if it is gone. */
  async #watch(name: string): Promise<boolean> {
    const directory = this.#settings.path;
    const path = joinPath(directory, name);
    if (this.#watched?.kind === "child" || this.#watched?.path === path) {
      return true;
    }
    this.#unwatch();
    const watch = this.#watcher;
    try {
      this.#watched = { kind: "data", path };
      // Not exists: on a znode that is gone it would leave a watch behind (measured).
      await this.#client.getData(path, { watch });
      return true;
    } catch (error) {
      this.#watched = undefined;
      const code = codeOf(error);
      if (code === "NoNode") return false;
      if (code !== "NoAuth") throw error;
    }
    // A stranger that we may not read: whoever is behind it watches the directory.
    this.#watched = { kind: "child", path: directory };
    const names = await this.#client.getChildren(directory, { watch });
    return names.includes(name);
  }

  #unwatch(): void {
    if (this.#watched === undefined) return;
    const { kind, path } = this.#watched;
    internalsOf(this.#client).forget(kind, path, this.#watcher);
    this.#watched = undefined;
  }

  /** Nobody is ahead: it is ours, if the session certainly lives for a while yet (etcd#11456). */
  async #grant(place: Place): Promise<End | "again"> {
    const turn = this.#turn;
    if (!this.#lease.lasting) {
      try {
        await strengthen(turn, place.session, checksOf(place));
      } catch (error) {
        if (codeOf(error) === "NoNode") return vanished(place);
        throw error;
      }
      return "again";
    }
    turn.left();
    const tenure = new PlaceTenure(this.#client, place, this.#settings.path);
    const { onState } = turn.options;
    turn.grant(new Holding(this.#client, place.session, tenure, onState));
    return "granted";
  }

  /** Refuses to lock by numbers that tell no order. */
  #checkNumbers({ own: { sequence }, tied }: Standing): void {
    const { path } = this.#settings;
    if (isExhausted(sequence) || tied) {
      throw new SequenceExhaustedError(path, sequence);
    }
    if (sequence < warnFrom) return;
    const message = `The lock ${path} has ${0x7fffffff - sequence} numbers ` +
      `left: let its znode be deleted while nobody uses it`;
    this.#warnOnce({ kind: "sequence-health", message, path });
  }

  /** Whoever made it may not know that it is in a queue, and may never go. */
  #warnOf({ kind, name }: ContenderName): void {
    if (kind !== "other") return;
    const path = joinPath(this.#settings.path, name);
    const message = `Waiting behind ${path}, which no known client made: ` +
      `it counts as a contender because of the number in its name`;
    this.#warnOnce({ kind: "foreign-contender", message, path });
  }

  #warnOnce(warning: Warning): void {
    const what = `${warning.kind} ${warning.path}`;
    if (this.#warned.has(what)) return;
    this.#warned.add(what);
    internalsOf(this.#client).warn(warning);
  }
}

function vanished({ path, token }: Place): LockLostError {
  const cause = new Error("somebody deleted it while it was waiting");
  return new LockLostError(path, token, { cause });
}
