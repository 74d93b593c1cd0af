// What a server answers to requests that change nothing, and how it answers those that do.
// Looks at one copy of the tree; knows no sockets, no sessions' ends and no transactions to come.
// Used by peer.ts.

import { errorNumbers as errors, permissions } from "../protocol/codes.ts";
import * as ops from "../protocol/operations.ts";
import type { ClientInfo } from "../protocol/znode.ts";
import type { Replica, Result } from "./ledger.ts";
import { Refusal, unreadable } from "./plan.ts";
import type { Profile } from "./profiles.ts";
import { allows, shown, userOf } from "./rights.ts";
import { statOf, type Znode } from "./tree.ts";
import { modes, type Watcher, watcherTypes } from "./watch_tables.ts";

/** Who asks. */
export interface Reader extends Watcher {
  readonly session: bigint;
}

// deno-lint-ignore no-explicit-any
type Request = any;

/** Reads for one server. */
export class Answers {
  readonly #replica: Replica;
  readonly #profile: Profile;
  /** Puts the names of children into an order that nobody can rely on. */
  readonly #shuffle: (names: string[]) => string[];

  constructor(
    replica: Replica,
    profile: Profile,
    shuffle: (names: string[]) => string[],
  ) {
    this.#replica = replica;
    this.#profile = profile;
    this.#shuffle = shuffle;
  }

  /** The body of the reply; throws a Refusal. Undefined if the operation is not a read. */
  read(code: number, request: Request, reader: Reader): unknown {
    const run = this.#reads[code];
    return run && run(request, reader);
  }

  /** Results of a multiRead: a part that fails leaves the others alone, one that trips the server up ends it. None leaves a watch. */
  readAll(
    parts: readonly ops.Part[],
    reader: Reader,
  ): { err: number; body: ops.PartResult[] } {
    const body: ops.PartResult[] = [];
    for (const { operation: { code }, request } of parts) {
      if (!this.#reads[code]) return { err: unreadable.number, body };
      try {
        const reply = this.read(code, { ...request!, watch: false }, reader);
        body.push({ type: code, err: 0, reply });
      } catch (refusal) {
        if (!(refusal instanceof Refusal)) throw refusal;
        if (refusal.isWhole) return { err: refusal.number, body };
        body.push({ type: -1, err: refusal.number, reply: null });
      }
    }
    return { err: 0, body };
  }

  /** Results of a multi whose writes were done. */
  wroteAll(
    parts: readonly ops.Part[],
    results: readonly Result[],
  ): ops.PartResult[] {
    return parts.map(({ operation: { code } }, i) => {
      const type = this.#resultType(code);
      return { type, err: 0, reply: results[i] };
    });
  }

  /** Results of a multi of which one write could not be, so that none was done. */
  wroteNone(
    parts: readonly ops.Part[],
    refused: { index: number; number: number },
  ): ops.PartResult[] {
    return parts.map((_, i) => {
      const err = i < refused.index
        ? 0
        : i === refused.index
        ? refused.number
        : errors.RuntimeInconsistency;
      return { type: -1, err, reply: null };
    });
  }

  /** Containers and TTL nodes answer as create2 does. */
  #resultType(code: number): number {
    const is2 = code === ops.createContainer.code ||
      code === ops.createTtl.code;
    return is2 ? ops.create2.code : code;
  }

  readonly #reads: Record<
    number,
    (request: Request, reader: Reader) => unknown
  > = {
    [ops.exists.code]: ({ path, watch }, reader) => {
      if (path === null) throw unreadable;
      if (path.includes("\0")) throw new Refusal(errors.BadArguments);
      const znode = this.#replica.tree.get(path);
      if (znode && this.#profile.isExistsGuarded) {
        this.#demandRead(znode, reader);
      }
      if (watch) this.#replica.watches.data.add(path, reader, modes.standard);
      if (!znode) throw new Refusal(errors.NoNode);
      return { stat: statOf(znode) };
    },
    [ops.getData.code]: ({ path, watch }, reader) => {
      const znode = this.#readable(path, reader);
      if (watch) this.#replica.watches.data.add(path, reader, modes.standard);
      return { data: znode.data, stat: statOf(znode) };
    },
    [ops.getChildren.code]: (request, reader) =>
      this.#children(request, reader),
    [ops.getChildren2.code]: (request, reader) =>
      this.#children(request, reader),
    [ops.getAcl.code]: ({ path }, reader) => {
      const znode = this.#find(path);
      const either = permissions.read | permissions.admin;
      if (!allows(znode.acl, either, reader.identities)) {
        throw new Refusal(errors.NoAuth);
      }
      return { acl: shown(znode.acl, reader.identities), stat: statOf(znode) };
    },
    [ops.getAllChildrenNumber.code]: ({ path }, reader) => {
      this.#readable(path, reader);
      return { totalNumber: this.#countBelow(path) };
    },
    [ops.getEphemerals.code]: ({ prefixPath }, reader) => {
      const all = this.#replica.tree.ephemeralsOf(reader.session);
      const isAll = ["", "/"].includes((prefixPath ?? "").trim());
      const prefix = isAll ? "" : prefixPath;
      return { ephemerals: all.filter((path) => path.startsWith(prefix)) };
    },
    [ops.whoAmI.code]: (_, reader) => {
      const clientInfo = reader.identities.map(({ scheme, id }): ClientInfo => {
        const user = scheme === "digest" ? userOf(id) : id;
        return { authScheme: scheme, user };
      });
      return { clientInfo };
    },
    [ops.addWatch.code]: ({ path, mode }, reader) => {
      if (mode !== 0 && mode !== 1) throw unreadable;
      this.#replica.watches.addPersistent(path, reader, mode === 1);
      return { err: 0 };
    },
    [ops.checkWatches.code]: ({ path, type }, reader) => {
      const isThere = this.#replica.watches.has(path, reader, this.#type(type));
      if (isThere === undefined) throw unreadable;
      if (!isThere) throw new Refusal(errors.NoWatcher);
      return null;
    },
    [ops.removeWatches.code]: ({ path, type }, reader) => {
      const was = this.#replica.watches.remove(path, reader, this.#type(type));
      if (!was) throw new Refusal(errors.NoWatcher);
      return null;
    },
    [ops.setWatches.code]: (list, reader) => this.#restore(list, reader),
    [ops.setWatches2.code]: (list, reader) =>
      this.#restore({
        ...list,
        persistentWatches: listed(list.persistentWatches),
        persistentRecursiveWatches: listed(list.persistentRecursiveWatches),
      }, reader),
  };

  #restore(list: Request, reader: Reader): null {
    const all = {
      ...list,
      dataWatches: named(list.dataWatches),
      existWatches: named(list.existWatches),
      childWatches: named(list.childWatches),
    };
    this.#replica.watches.restore(all, reader, this.#replica.tree);
    return null;
  }

  #children({ path, watch }: Request, reader: Reader): unknown {
    const znode = this.#readable(path, reader);
    if (watch) this.#replica.watches.child.add(path, reader, modes.standard);
    const children = this.#shuffle([...znode.children]);
    return { children, stat: statOf(znode) };
  }

  #countBelow(path: string): number {
    const { tree } = this.#replica;
    if (path === "/") return tree.size - 1;
    return tree.paths().filter((each) => each.startsWith(`${path}/`)).length;
  }

  #type(number: number): string {
    const known = this.#profile.hasPersistentTypes ? 5 : 3;
    if (number >= 1 && number <= known) return watcherTypes[number];
    throw unreadable;
  }

  #find(path: string | null): Znode {
    if (path === null) throw unreadable;
    const znode = this.#replica.tree.get(path);
    if (znode === undefined) throw new Refusal(errors.NoNode);
    return znode;
  }

  #readable(path: string | null, reader: Reader): Znode {
    const znode = this.#find(path);
    this.#demandRead(znode, reader);
    return znode;
  }

  #demandRead({ acl }: Znode, { identities }: Reader): void {
    if (!allows(acl, permissions.read, identities)) {
      throw new Refusal(errors.NoAuth);
    }
  }
}

/** Paths of a list that may be missing. Real servers notice that when they come to it, not before. */
function* listed(paths: readonly string[] | null): Iterable<string> {
  if (paths === null) throw unreadable;
  yield* paths;
}

/** The same, where each has to be there too. */
function* named(paths: readonly (string | null)[] | null): Iterable<string> {
  if (paths === null) throw unreadable;
  for (const path of paths) {
    if (path === null) throw unreadable;
    yield path;
  }
}
