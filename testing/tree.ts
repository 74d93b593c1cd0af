// Znodes in memory, with every number that a real server keeps for them.
// Does what it is told: knows no rights, no sessions, no watches and no wire.
// Read by everybody in the embedded server; changed only by what plan.ts has found to be possible.

import type { Acl, Stat } from "../protocol/znode.ts";

/** How a znode lives. */
export type Kind = "persistent" | "ephemeral" | "container" | "ttl";

/** A znode. */
export interface Znode {
  readonly path: string;
  readonly kind: Kind;
  data: Uint8Array | null;
  acl: readonly Acl[];
  /** Session of an ephemeral znode, else 0n. */
  readonly owner: bigint;
  /** Of a TTL node, in ms. */
  readonly ttl: number;
  readonly czxid: bigint;
  mzxid: bigint;
  pzxid: bigint;
  readonly ctime: number;
  mtime: number;
  version: number;
  aversion: number;
  /** Children created so far: what the next sequential name is made of. */
  creates: number;
  /** Changed by the tree alone; those who have none share one set. */
  children: Set<string>;
}

/** One change of the tree. A transaction has none, one or, in a multi, several. */
export type Change =
  | {
    type: "create";
    path: string;
    data: Uint8Array | null;
    acl: readonly Acl[];
    kind: Kind;
    owner: bigint;
    ttl: number;
    /** What the parent's counter of creates is to become. */
    creates: number;
  }
  | { type: "delete"; path: string }
  | { type: "set-data"; path: string; data: Uint8Array | null }
  | { type: "set-acl"; path: string; acl: readonly Acl[] };

/** When a transaction happened: its number, and ms since 1970. */
export interface Stamp {
  zxid: bigint;
  time: number;
}

const everybody: readonly Acl[] = [{
  perms: 31,
  scheme: "world",
  id: "anyone",
}];
const readers: readonly Acl[] = [{ perms: 1, scheme: "world", id: "anyone" }];
const nothing = new Uint8Array(0);
/** A set of its own for each znode is most of what a crowd of them costs. */
const childless: Set<string> = new Set();

/** What differs between the versions of ZooKeeper. */
export interface TreeRules {
  /** The counter of creates goes on at -2^31 (3.4); otherwise it stays at 2^31-1 for ever (ZOOKEEPER-3249). */
  readonly isCounterWrapping: boolean;
  /** There is a znode /zookeeper/config (3.5+). */
  readonly hasConfig: boolean;
}

/** All znodes of a server. */
export class Tree {
  readonly #znodes = new Map<string, Znode>();
  readonly #ephemerals = new Map<bigint, Set<string>>();
  readonly #rules: TreeRules;
  /** Set during attempt(): what takes back the changes so far. */
  #undo: (() => void)[] | undefined;

  constructor(rules: TreeRules) {
    this.#rules = rules;
    // A fresh server has these without any transaction, so no counter moved.
    this.#plant("/", everybody);
    this.#plant("/zookeeper", everybody);
    this.#plant("/zookeeper/quota", everybody);
    if (rules.hasConfig) {
      this.#plant("/zookeeper/config", readers).aversion = -1;
    }
  }

  /** Number of znodes, the root included. */
  get size(): number {
    return this.#znodes.size;
  }

  /** Number of ephemeral znodes of all sessions. */
  get ephemeralCount(): number {
    let count = 0;
    for (const paths of this.#ephemerals.values()) count += paths.size;
    return count;
  }

  /** The znode at a path. The root can also be reached by the empty path, as on a real server. */
  get(path: string): Znode | undefined {
    return this.#znodes.get(path === "" ? "/" : path);
  }

  /** All paths, parents before children. */
  paths(): string[] {
    return [...this.#znodes.keys()];
  }

  /** All znodes. */
  znodes(): Iterable<Znode> {
    return this.#znodes.values();
  }

  /** Paths of the ephemeral znodes of a session. */
  ephemeralsOf(session: bigint): string[] {
    return [...this.#ephemerals.get(session) ?? []];
  }

  /** Sessions that own ephemeral znodes. */
  owners(): bigint[] {
    return [...this.#ephemerals.keys()];
  }

  /** Sets the counter that the next sequential name below a znode is made of. */
  setCounter(path: string, creates: number): void {
    this.#must(path).creates = creates;
  }

  /** Makes a change that is known to be possible. */
  apply(change: Change, stamp: Stamp): void {
    if (change.type === "create") return this.#create(change, stamp);
    if (change.type === "delete") return this.#delete(change.path, stamp);
    const znode = this.#must(change.path);
    const before = { ...znode };
    if (change.type === "set-data") {
      znode.data = change.data;
      znode.version = (znode.version + 1) | 0;
      znode.mzxid = stamp.zxid;
      znode.mtime = stamp.time;
    } else {
      znode.acl = change.acl;
      znode.aversion = (znode.aversion + 1) | 0;
    }
    this.#undo?.push(() => Object.assign(znode, before));
  }

  /** Runs something that may apply changes, and takes them all back. */
  attempt<T>(run: () => T): T {
    const undo: (() => void)[] = this.#undo = [];
    try {
      return run();
    } finally {
      this.#undo = undefined;
      for (const step of undo.reverse()) step();
    }
  }

  #create(change: Change & { type: "create" }, { zxid, time }: Stamp): void {
    const { path, data, acl, kind, owner, ttl } = change;
    const parent = this.#must(parentOf(path));
    const { creates, pzxid } = parent;
    const znode = {
      ...{ path, kind, data, acl, owner, ttl, version: 0, aversion: 0 },
      ...{ czxid: zxid, mzxid: zxid, pzxid: zxid, ctime: time, mtime: time },
      ...{ creates: 0, children: childless },
    };
    this.#add(znode, parent);
    // A counter that would go down is left alone, and the rest with it.
    if (this.#rules.isCounterWrapping || change.creates > creates) {
      parent.creates = change.creates;
      parent.pzxid = zxid;
    }
    this.#undo?.push(() => {
      this.#remove(znode, parent);
      Object.assign(parent, { creates, pzxid });
    });
  }

  #delete(path: string, { zxid }: Stamp): void {
    const znode = this.#must(path);
    const parent = this.#must(parentOf(path));
    const { pzxid } = parent;
    this.#remove(znode, parent);
    parent.pzxid = zxid;
    this.#undo?.push(() => {
      this.#add(znode, parent);
      parent.pzxid = pzxid;
    });
  }

  #add(znode: Znode, parent: Znode): void {
    this.#znodes.set(znode.path, znode);
    if (parent.children === childless) parent.children = new Set();
    parent.children.add(nameOf(znode.path));
    if (znode.kind !== "ephemeral") return;
    const owned = this.#ephemerals.get(znode.owner);
    if (owned === undefined) {
      this.#ephemerals.set(znode.owner, new Set([znode.path]));
    } else owned.add(znode.path);
  }

  #remove({ path, owner }: Znode, parent: Znode): void {
    this.#znodes.delete(path);
    parent.children.delete(nameOf(path));
    const owned = this.#ephemerals.get(owner);
    owned?.delete(path);
    if (owned?.size === 0) this.#ephemerals.delete(owner);
  }

  #plant(path: string, acl: readonly Acl[]): Znode {
    const znode: Znode = {
      ...{ path, kind: "persistent", data: nothing, acl, owner: 0n, ttl: 0 },
      ...{ czxid: 0n, mzxid: 0n, pzxid: 0n, ctime: 0, mtime: 0 },
      ...{ version: 0, aversion: 0, creates: 0, children: childless },
    };
    if (path === "/") this.#znodes.set(path, znode);
    else this.#add(znode, this.#must(parentOf(path)));
    return znode;
  }

  #must(path: string): Znode {
    const znode = this.get(path);
    if (znode === undefined) {
      throw new Error(`Cannot change ${path}: it is not there`);
    }
    return znode;
  }
}

/** The Stat of a znode as it goes over the wire. */
export function statOf(znode: Znode): Stat {
  const { children, data } = znode;
  return {
    czxid: znode.czxid,
    mzxid: znode.mzxid,
    ctime: BigInt(znode.ctime),
    mtime: BigInt(znode.mtime),
    version: znode.version,
    // Creates plus deletes, in 32 bits.
    cversion: (Math.imul(2, znode.creates) - children.size) | 0,
    aversion: znode.aversion,
    ephemeralOwner: znode.owner,
    dataLength: data?.length ?? 0,
    numChildren: children.size,
    pzxid: znode.pzxid,
  };
}

/** What stands before the last slash; empty for the children of the root. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
