// Who is told of which change: the server's side of watches.
// Knows paths, modes and who may read; no connections and no wire.
// Filled by requests of peer.ts, fired by transactions of replica.ts. Source: DataTree, WatchManager.

import { permissions, type ServerEventType } from "../protocol/codes.ts";
import type { Acl } from "../protocol/znode.ts";
import type { Profile } from "./profiles.ts";
import { allows, type Identity } from "./rights.ts";
import { type Change, parentOf, type Tree, type Znode } from "./tree.ts";

/** A connection that watches. */
export interface Watcher {
  readonly identities: readonly Identity[];
  /** Something happened. `zxid` is that of the transaction, -1n for a change noticed late. */
  event(type: ServerEventType, path: string, zxid: bigint): void;
}

/** How long a watch lasts and what it covers; a bit each. */
export const modes = { standard: 1, persistent: 2, recursive: 4 } as const;

/** Types of watch that a client may ask about or remove, by their number. */
export const watcherTypes: readonly string[] = [
  "none",
  "children",
  "data",
  "any",
  "persistent",
  "recursive",
];

/** Watches of one table: on data and existence, or on children. */
class Table {
  readonly #byPath = new Map<string, Map<Watcher, number>>();
  readonly #byWatcher = new Map<Watcher, Set<string>>();
  readonly #areModesIndependent: boolean;
  #recursive = 0;

  constructor(areModesIndependent: boolean) {
    this.#areModesIndependent = areModesIndependent;
  }

  add(path: string, watcher: Watcher, mode: number): void {
    const watchers = entry(
      this.#byPath,
      path,
      () => new Map<Watcher, number>(),
    );
    const had = watchers.get(watcher) ?? 0;
    const now = this.#areModesIndependent ? had | mode : mode;
    this.#count(had, now);
    watchers.set(watcher, now);
    entry(this.#byWatcher, watcher, () => new Set<string>()).add(path);
  }

  /** Modes of a watcher's watch; 0 for none. */
  modes(path: string, watcher: Watcher): number {
    return this.#byPath.get(path)?.get(watcher) ?? 0;
  }

  /**
   * Whether somebody watches in one of these modes. Undefined if 3.8 gets lost:
   * it goes up from the path, slash by slash. Source: PathParentIterator.
   */
  hasAny(path: string | null, wanted: number): boolean | undefined {
    if (wanted === 0 || path === "") return false;
    if (!path?.includes("/")) return undefined;
    for (const mode of this.#byPath.get(path)?.values() ?? []) {
      if ((mode & wanted) !== 0) return true;
    }
    return path.startsWith("/") || this.#recursive === 0 ? false : undefined;
  }

  /** Removes some of the modes; answers whether one of them was there. */
  remove(path: string, watcher: Watcher, mode: number): boolean {
    const watchers = this.#byPath.get(path);
    const had = watchers?.get(watcher) ?? 0;
    if ((had & mode) === 0) return false;
    this.#keep(path, watchers!, watcher, had, had & ~mode);
    return true;
  }

  removeAll(watcher: Watcher): void {
    for (const path of this.#byWatcher.get(watcher) ?? []) {
      const watchers = this.#byPath.get(path)!;
      this.#keep(path, watchers, watcher, watchers.get(watcher)!, 0);
    }
  }

  /** Who is to be told of an event. Watches that last for one event are gone. */
  fire(path: string, type: ServerEventType): Set<Watcher> {
    const told = new Set<Watcher>();
    const watchers = this.#byPath.get(path);
    for (const [watcher, had] of watchers ?? []) {
      const isDeaf = had === modes.recursive && type === "children-changed";
      if (!isDeaf) told.add(watcher);
      this.#keep(path, watchers!, watcher, had, had & ~modes.standard);
    }
    if (this.#recursive === 0 || type === "children-changed") return told;
    for (let above = path; above !== "/";) {
      above = parentOf(above) || "/";
      for (const [watcher, had] of this.#byPath.get(above) ?? []) {
        if (had & modes.recursive) told.add(watcher);
      }
    }
    return told;
  }

  paths(): string[] {
    return [...this.#byPath.keys()];
  }

  watchers(): Watcher[] {
    return [...this.#byWatcher.keys()];
  }

  pathsOf(watcher: Watcher): string[] {
    return [...this.#byWatcher.get(watcher) ?? []];
  }

  /** Number of pairs of a path and a watcher. */
  get size(): number {
    let size = 0;
    for (const watchers of this.#byPath.values()) size += watchers.size;
    return size;
  }

  sizeAt(path: string): number {
    return this.#byPath.get(path)?.size ?? 0;
  }

  #keep(
    path: string,
    watchers: Map<Watcher, number>,
    watcher: Watcher,
    had: number,
    now: number,
  ): void {
    if (had === now) return;
    this.#count(had, now);
    if (now !== 0) return void watchers.set(watcher, now);
    watchers.delete(watcher);
    if (watchers.size === 0) this.#byPath.delete(path);
    const paths = this.#byWatcher.get(watcher)!;
    paths.delete(path);
    if (paths.size === 0) this.#byWatcher.delete(watcher);
  }

  #count(had: number, now: number): void {
    const { recursive } = modes;
    this.#recursive += ((now & recursive) - (had & recursive)) / recursive;
  }
}

/** Paths to watch again, as a client lists them after it came back. */
export interface WatchList {
  relativeZxid: bigint;
  dataWatches: Iterable<string>;
  existWatches: Iterable<string>;
  childWatches: Iterable<string>;
  persistentWatches?: Iterable<string>;
  persistentRecursiveWatches?: Iterable<string>;
}

/** All watches of a server. */
export class WatchTables {
  readonly data: Table;
  readonly child: Table;
  readonly #profile: Profile;

  constructor(profile: Profile) {
    this.#profile = profile;
    this.data = new Table(profile.areModesIndependent);
    this.child = new Table(profile.areModesIndependent);
  }

  /** Number of watches. */
  get size(): number {
    return this.data.size + this.child.size;
  }

  /** Number of watches set on one path. */
  sizeAt(path: string): number {
    return this.data.sizeAt(path) + this.child.sizeAt(path);
  }

  /** A watch of addWatch: until it is removed or its connection ends. */
  addPersistent(path: string, watcher: Watcher, isRecursive: boolean): void {
    const mode = isRecursive ? modes.recursive : modes.persistent;
    this.data.add(path, watcher, mode);
    const { areModesIndependent } = this.#profile;
    if (!isRecursive || !areModesIndependent) {
      this.child.add(path, watcher, mode);
    }
  }

  /** Whether there is a watch of this type; undefined if a server cannot say. */
  has(path: string, watcher: Watcher, type: string): boolean | undefined {
    const [data, child] = this.#wanted(type);
    if (this.#profile.isWatchCheckShared) {
      const [inData, inChild] = [
        this.data.hasAny(path, data),
        this.child.hasAny(path, child),
      ];
      if (inData === undefined || inChild === undefined) return undefined;
      return inData || inChild;
    }
    return (this.data.modes(path, watcher) & data) !== 0 ||
      (this.child.modes(path, watcher) & child) !== 0;
  }

  /** Removes watches of this type; answers whether there were any. */
  remove(path: string, watcher: Watcher, type: string): boolean {
    const [data, child] = this.#wanted(type);
    const inData = this.data.remove(path, watcher, data);
    const inChild = this.child.remove(path, watcher, child);
    return inData || inChild;
  }

  /** A connection ended. */
  removeAll(watcher: Watcher): void {
    this.data.removeAll(watcher);
    this.child.removeAll(watcher);
  }

  /** Arms what a client lists after it came back; tells it at once of what it missed. */
  restore(list: WatchList, watcher: Watcher, tree: Tree): void {
    const { relativeZxid: since } = list;
    const late = (type: ServerEventType, path: string) =>
      watcher.event(type, path, -1n);
    for (const path of list.dataWatches) {
      const znode = tree.get(path);
      if (!znode) late("deleted", path);
      else if (znode.mzxid > since) late("data-changed", path);
      else this.data.add(path, watcher, modes.standard);
    }
    for (const path of list.existWatches) {
      if (tree.get(path)) late("created", path);
      else this.data.add(path, watcher, modes.standard);
    }
    for (const path of list.childWatches) {
      const znode = tree.get(path);
      if (!znode) late("deleted", path);
      else if (znode.pzxid > since) late("children-changed", path);
      else this.child.add(path, watcher, modes.standard);
    }
    for (const path of list.persistentWatches ?? []) {
      this.addPersistent(path, watcher, false);
    }
    for (const path of list.persistentRecursiveWatches ?? []) {
      this.addPersistent(path, watcher, true);
    }
  }

  /**
   * Tells of a change, made or about to be made: `znode` is what it happens to,
   * as it is while it is there.
   */
  fire(
    change: Change,
    znode: Znode,
    parent: Znode | undefined,
    zxid: bigint,
  ): void {
    const { path } = change;
    const tell = (
      told: Iterable<Watcher>,
      [type, about, acl]: [ServerEventType, string, readonly Acl[]],
    ) => {
      for (const watcher of told) {
        if (this.#mayKnow(watcher, acl)) watcher.event(type, about, zxid);
      }
    };
    if (change.type === "set-acl") return;
    if (change.type === "set-data") {
      const told = this.data.fire(path, "data-changed");
      return tell(told, ["data-changed", path, znode.acl]);
    }
    const type = change.type === "create" ? "created" : "deleted";
    const told = this.data.fire(path, type);
    tell(told, [type, path, znode.acl]);
    if (change.type === "delete") {
      const others = this.child.fire(path, type);
      for (const watcher of told) others.delete(watcher);
      tell(others, [type, path, znode.acl]);
    }
    const above = parentOf(path) || "/";
    tell(
      this.child.fire(above, "children-changed"),
      ["children-changed", above, parent!.acl],
    );
  }

  #mayKnow({ identities }: Watcher, acl: readonly Acl[]): boolean {
    return !this.#profile.areEventsGuarded ||
      allows(acl, permissions.read, identities);
  }

  /** Modes that a type means, in either table. */
  #wanted(type: string): [data: number, child: number] {
    const any = modes.standard | modes.persistent | modes.recursive;
    const plain = this.#profile.hasPersistentTypes ? modes.standard : any;
    switch (type) {
      case "children":
        return [0, plain];
      case "data":
        return [plain, 0];
      case "persistent":
        return [modes.persistent, modes.persistent];
      case "recursive":
        return [modes.recursive, modes.recursive];
      default:
        return [any, any];
    }
  }
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, value = make());
  return value;
}
