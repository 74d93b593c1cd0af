// Transactions: what every write becomes, numbered in the order in which they happen; and the copy of the tree they are played on.
// Knows no connections and no clock but the times it is given.
// Used by engine.ts, where ledger and replica share a tree, and by ensembles, where they don't.

import type { Stat } from "../protocol/znode.ts";
import { errorNumbers } from "../protocol/codes.ts";
import {
  Planner,
  Refusal,
  type Write,
  type Writer,
  type WriteRules,
} from "./plan.ts";
import type { Profile } from "./profiles.ts";
import { type Change, parentOf, statOf, Tree } from "./tree.ts";
import { WatchTables } from "./watch_tables.ts";

/** One step of a server's history. */
export interface Transaction {
  readonly zxid: bigint;
  /** The server's clock, in ms since 1970. */
  readonly time: number;
  /** In order; null for a check. Empty if it was refused. */
  readonly changes: readonly (Change | null)[];
  /** Which of its writes could not be, or that none had a chance, and the number of the error. */
  readonly refused?: { index: number; number: number; isWhole?: boolean };
  /** The session it opens. */
  readonly opens?: bigint;
  /** The session it ends, whose ephemeral znodes are its changes. */
  readonly closes?: bigint;
}

/** What became of one change. */
export interface Result {
  path: string;
  /** As it is behind the change; undefined for a delete or a check. */
  stat?: Stat;
}

/** Turns writes into transactions. It looks at the tree, and leaves it as it is. */
export class Ledger {
  readonly #tree: Tree;
  readonly #planner: Planner;
  #zxid = 0n;

  constructor(tree: Tree, rules: WriteRules) {
    this.#tree = tree;
    this.#planner = new Planner(tree, rules);
  }

  /** Number of the last transaction. */
  get zxid(): bigint {
    return this.#zxid;
  }

  /** The next transaction will have a number above this one. */
  skipTo(zxid: bigint): void {
    this.#zxid = zxid;
  }

  /** Writes of a client. Refused ones are transactions too. */
  write(writes: readonly Write[], who: Writer, time: number): Transaction {
    const planned = this.#planner.all(writes, who);
    const base = { zxid: ++this.#zxid, time };
    if (Array.isArray(planned)) return { ...base, changes: planned };
    const { index, refusal } = planned;
    const { number, isWhole } = refusal;
    const refused = { index, number, isWhole };
    return { ...base, changes: [], refused };
  }

  /** A write that cannot be, whatever the tree is like. */
  refuse({ number, isWhole }: Refusal, time: number): Transaction {
    const refused = { index: 0, number, isWhole };
    return { zxid: ++this.#zxid, time, changes: [], refused };
  }

  open(session: bigint, time: number): Transaction {
    return { zxid: ++this.#zxid, time, changes: [], opens: session };
  }

  close(session: bigint, time: number): Transaction {
    const changes = this.#tree.ephemeralsOf(session)
      .map((path): Change => ({ type: "delete", path }));
    return { zxid: ++this.#zxid, time, changes, closes: session };
  }

  /** Removes a znode that has outlived its purpose. */
  reap(path: string, time: number): Transaction {
    return this.enact([{ type: "delete", path }], time);
  }

  /** Changes that are known to be possible. */
  enact(changes: readonly Change[], time: number): Transaction {
    return { zxid: ++this.#zxid, time, changes };
  }

  /** Containers that had children and have none, and TTL nodes that nobody wrote for too long. */
  reapable(time: number): string[] {
    const paths: string[] = [];
    for (
      const { path, kind, children, creates, mtime, ttl } of this.#tree.znodes()
    ) {
      if (children.size > 0) continue;
      const isEmptied = kind === "container" && creates > 0;
      const isOld = kind === "ttl" && time - mtime > ttl;
      if (isEmptied || isOld) paths.push(path);
    }
    return paths;
  }
}

/** A copy of the tree with its watches, and how far it has come. */
export class Replica {
  readonly tree: Tree;
  readonly watches: WatchTables;
  /** Number of the last transaction applied. */
  zxid = 0n;

  constructor(profile: Profile) {
    this.tree = new Tree(profile);
    this.watches = new WatchTables(profile);
  }

  /** Does what the transaction says, and tells who watches. */
  apply(transaction: Transaction): Result[] {
    this.zxid = transaction.zxid;
    return transaction.changes.map((change) => {
      if (change === null) return { path: "" };
      return this.#change(change, transaction);
    });
  }

  #change(change: Change, stamp: Transaction): Result {
    const { path } = change;
    const before = this.tree.get(path);
    this.tree.apply(change, stamp);
    const after = this.tree.get(path);
    const parent = this.tree.get(parentOf(path));
    this.watches.fire(change, (after ?? before)!, parent, stamp.zxid);
    return { path, stat: after && statOf(after) };
  }
}

/** A session that a server does not know may not write. */
export const unknownSession: Refusal = new Refusal(errorNumbers.SessionExpired);
