// The registry of watches: who wants to hear of which path, and what to tell a server after a reconnect.
// Knows no sessions, no chroot and no I/O; calls nobody, but says whom to call.
// Kept by session.ts; exchange.ts adds a watch in the same step as it reads the reply.

import type { ServerEventType } from "./codes.ts";

/** At most this many characters of paths in one setWatches, as the Java client does. */
export const setWatchesLimit: number = 128 * 1024;

/** What a watcher is told. */
export interface WatchEvent {
  /**
   * What happened. `watch-removed`: `removeWatches` took the watch away.
   * `session-lost`: the session ended, and the watch with it.
   */
  type: ServerEventType | "watch-removed" | "session-lost";
  /** The path that changed; for a recursive watch it may lie below the one that was asked for. */
  path: string;
  /** The transaction of the change, where the server tells (3.9+). */
  zxid?: bigint;
}

/**
 * Called once for a one-shot watch whose call resolved, also if that is because
 * the session ended; for a watch of `addWatch` on every event until it is
 * removed. An exception it throws becomes a warning of the client.
 */
export type Watcher = (event: WatchEvent) => void;

/**
 * Which table of the server a watch stands in. One that `exists` left on a znode
 * that was not there is told apart: a server that is told the wrong kind after
 * a reconnect reports a deletion that was none, or keeps silent about one.
 */
export type WatchKind =
  | "data"
  | "exist"
  | "child"
  | "persistent"
  | "persistent-recursive";

/** How often each function was given for one path: once a call is once an event. */
type Watchers = Map<Watcher, number>;

/** The lists of a setWatches request. */
export interface WatchLists {
  data: string[];
  exist: string[];
  child: string[];
  persistent: string[];
  "persistent-recursive": string[];
}

const oneShot: Record<ServerEventType, readonly WatchKind[]> = {
  "created": ["data", "exist"],
  "data-changed": ["data", "exist"],
  "deleted": ["data", "exist", "child"],
  "children-changed": ["child"],
};

/** All watches of one session, by the full path of the server. */
export class Watches {
  readonly #tables: Record<WatchKind, Map<string, Watchers>> = {
    "data": new Map(),
    "exist": new Map(),
    "child": new Map(),
    "persistent": new Map(),
    "persistent-recursive": new Map(),
  };

  /** Notes a watch that the server has. */
  add(kind: WatchKind, path: string, watcher: Watcher): void {
    const table = this.#tables[kind];
    let watchers = table.get(path);
    if (watchers === undefined) table.set(path, watchers = new Map());
    watchers.set(watcher, (watchers.get(watcher) ?? 0) + 1);
  }

  /** Takes back one `add`, without telling anybody. The server keeps its watch; its event will find nobody. */
  forget(kinds: readonly WatchKind[], path: string, watcher: Watcher): void {
    for (const kind of kinds) {
      const watchers = this.#tables[kind].get(path);
      const count = watchers?.get(watcher);
      if (watchers === undefined || count === undefined) continue;
      if (count > 1) watchers.set(watcher, count - 1);
      else watchers.delete(watcher);
      if (watchers.size === 0) this.#tables[kind].delete(path);
      return;
    }
  }

  /** Whom an event concerns; one-shot watches are removed by it. */
  fire(type: ServerEventType, path: string): Watcher[] {
    const found: Watcher[] = [];
    for (const kind of oneShot[type]) this.#take(kind, path, found);
    list(this.#tables.persistent.get(path), found);
    if (type !== "children-changed") this.#recursive(path, found);
    return found;
  }

  /** Takes away every watch of these kinds on a path and says whose they were. */
  remove(kinds: readonly WatchKind[], path: string): Watcher[] {
    const found: Watcher[] = [];
    for (const kind of kinds) this.#take(kind, path, found);
    return found;
  }

  /** Takes away everything of these kinds; of all, when the session is over. */
  clear(
    kinds: readonly WatchKind[] = Object.keys(this.#tables) as WatchKind[],
  ): Array<{ path: string; watcher: Watcher }> {
    const all: Array<{ path: string; watcher: Watcher }> = [];
    for (const kind of kinds) {
      const table = this.#tables[kind];
      for (const path of table.keys()) {
        const found: Watcher[] = [];
        list(table.get(path), found);
        for (const watcher of found) all.push({ path, watcher });
      }
      table.clear();
    }
    return all;
  }

  /**
   * What to tell a server of after a reconnect, in lists of at most `limit`
   * characters of paths each: one request above its `jute.maxbuffer` would make it
   * hang up for ever (ZOOKEEPER-706).
   */
  *lists(limit: number): Generator<WatchLists> {
    let lists = emptyLists();
    let size = 0;
    for (const [kind, table] of Object.entries(this.#tables)) {
      for (const path of table.keys()) {
        if (size > 0 && size + path.length > limit) {
          yield lists;
          lists = emptyLists();
          size = 0;
        }
        lists[kind as WatchKind].push(path);
        size += path.length;
      }
    }
    if (size > 0) yield lists;
  }

  #take(kind: WatchKind, path: string, found: Watcher[]): void {
    list(this.#tables[kind].get(path), found);
    this.#tables[kind].delete(path);
  }

  #recursive(path: string, found: Watcher[]): void {
    const table = this.#tables["persistent-recursive"];
    if (table.size === 0) return;
    for (let p = path;; p = p.slice(0, p.lastIndexOf("/")) || "/") {
      list(table.get(p), found);
      if (p === "/") return;
    }
  }
}

function list(watchers: Watchers | undefined, found: Watcher[]): void {
  if (watchers === undefined) return;
  for (const [watcher, count] of watchers) {
    for (let i = 0; i < count; i++) found.push(watcher);
  }
}

function emptyLists(): WatchLists {
  return {
    "data": [],
    "exist": [],
    "child": [],
    "persistent": [],
    "persistent-recursive": [],
  };
}
