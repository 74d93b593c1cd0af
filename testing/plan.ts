// What a write would change, or why it cannot: the checks of a real server, in its order.
// Leaves the tree as it is; knows no sessions, no watches and no wire but its records.
// Used by the server for each write, in the order in which they are to happen. Source: PrepRequestProcessor.

import { errorNumbers as errors, permissions } from "../protocol/codes.ts";
import * as ops from "../protocol/operations.ts";
import { validatePath } from "../protocol/path.ts";
import type { Acl } from "../protocol/znode.ts";
import { allows, fixAcl, type Identity } from "./rights.ts";
import {
  type Change,
  type Kind,
  parentOf,
  type Tree,
  type Znode,
} from "./tree.ts";

/** Who writes. */
export interface Writer {
  readonly session: bigint;
  readonly identities: readonly Identity[];
}

/** What a server decides by, apart from the tree. */
export interface WriteRules {
  /** createTTL is enabled. */
  readonly hasTtls: boolean;
  /** reconfig is enabled, and a server without others says that it cannot. */
  readonly hasReconfig: boolean;
  /** ACLs may have identities of the scheme `sasl`; default false. */
  readonly hasSasl?: boolean;
  /** An ip in an ACL is one address, without `/bits` (3.4). */
  readonly isIpExact?: boolean;
  /** First and last character of each forbidden range are allowed (3.4, whose PathUtils has < for <=). */
  readonly areEdgesAllowed?: boolean;
  /** The flags of a create are looked at when the parent has been found, and what is deleted is found before the rights are looked at (3.4). */
  readonly isOfOldOrder?: boolean;
  /** There is a znode /zookeeper/config, which cannot be deleted; default true. */
  readonly hasConfig?: boolean;
  /** The last flags that a create may have; default 6. */
  readonly lastFlags?: number;
  /** An ACL that is null makes a request unreadable; otherwise it is a wrong one. */
  readonly isNullAclUnreadable?: boolean;
}

/** Why a write cannot be. */
export class Refusal {
  readonly number: number;
  /** In a multi: that there are no results at all, and the error is that of the whole. */
  readonly isWhole: boolean;

  constructor(number: number, isWhole = false) {
    this.number = number;
    this.isWhole = isWhole;
  }
}

/** A write as the planner sees it: an operation of the table and its request. */
export interface Write {
  readonly code: number;
  // deno-lint-ignore no-explicit-any
  readonly request: any;
}

/** Operations that have a place in the history, alone or in a multi. */
export const writeCodes: ReadonlySet<number> = new Set([
  ops.create,
  ops.create2,
  ops.createContainer,
  ops.createTtl,
  ops.remove,
  ops.setData,
  ops.setAcl,
  ops.check,
  ops.reconfig,
].map(({ code }) => code));

const ttlLimit = 0xff_ffff_ffffn;
// deno-lint-ignore no-control-regex
const edges = /[\u001f\u007f\u009f\ud800\uf8ff\ufff0\uffff]/g;
const special = ["/", "/zookeeper", "/zookeeper/quota"];
const config = "/zookeeper/config";

/** Decides about writes on one tree. */
export class Planner {
  readonly #tree: Tree;
  readonly #rules: WriteRules;

  constructor(tree: Tree, rules: WriteRules) {
    this.#tree = tree;
    this.#rules = rules;
  }

  /** The change that a single write makes; null for a check. Throws a Refusal. */
  one({ code, request }: Write, who: Writer): Change | null {
    switch (code) {
      case ops.create.code:
      case ops.create2.code:
      case ops.createContainer.code:
      case ops.createTtl.code:
        return this.#create(code, request, who);
      case ops.remove.code:
        return this.#delete(request, who);
      case ops.setData.code:
        return this.#setData(request, who);
      case ops.setAcl.code:
        return this.#setAcl(request, who);
      case ops.check.code:
        return this.#check(request, who);
      default:
        throw this.#rules.hasReconfig
          ? new Refusal(errors.Unimplemented)
          : new Refusal(errors.ReconfigDisabled);
    }
  }

  /** The changes of several writes, of which each sees those before it; or which one cannot be, and why. */
  all(
    writes: readonly Write[],
    who: Writer,
  ): (Change | null)[] | { index: number; refusal: Refusal } {
    const stamp = { zxid: 0n, time: 0 };
    // Nobody comes behind a single one, so nothing need be tried.
    const isAlone = writes.length === 1;
    const attempt = (run: () => ReturnType<Planner["all"]>) =>
      isAlone ? run() : this.#tree.attempt(run);
    return attempt(() => {
      const changes: (Change | null)[] = [];
      for (const [index, write] of writes.entries()) {
        try {
          const change = this.one(write, who);
          if (change !== null && !isAlone) this.#tree.apply(change, stamp);
          changes.push(change);
        } catch (refusal) {
          if (!(refusal instanceof Refusal)) throw refusal;
          return { index, refusal };
        }
      }
      return changes;
    });
  }

  #create(
    code: number,
    { path, data, acl, flags, ttl }: CreateRequest,
    who: Writer,
  ): Change {
    // Flags of a TTL node in a multi, with an operation that has no ttl.
    if (code === ops.createTtl.code && ttl === undefined) throw unreadable;
    const { isOfOldOrder } = this.#rules;
    const early = isOfOldOrder ? undefined : this.#mode(flags, ttl);
    if (path === null) throw unreadable;
    if (isUnusable(path)) throw new Refusal(errors.BadArguments);
    const kept = this.#fixed(acl, who);
    const parent = this.#find(parentOf(path));
    this.#demand(parent, permissions.create, who);
    const mode = early ?? this.#mode(flags, ttl);
    const name = mode.isSequential ? path + suffix(parent.creates) : path;
    this.#demandValid(name);
    if (this.#tree.get(name)) throw new Refusal(errors.NodeExists);
    if (parent.kind === "ephemeral") {
      throw new Refusal(errors.NoChildrenForEphemerals);
    }
    const kind = kindOf(code, mode.isEphemeral);
    return {
      ...{ type: "create", path: name, data, acl: kept, kind },
      owner: kind === "ephemeral" ? who.session : 0n,
      ttl: kind === "ttl" ? Number(ttl) : 0,
      creates: (parent.creates + 1) | 0,
    };
  }

  #delete({ path, version }: PathVersion, who: Writer): Change {
    if (path === null) throw unreadable;
    const { hasConfig = true, isOfOldOrder } = this.#rules;
    const isSpecial = special.includes(path) || hasConfig && path === config;
    if (isUnusable(path) || isSpecial) throw new Refusal(errors.BadArguments);
    const parent = this.#find(parentOf(path));
    if (isOfOldOrder) this.#find(path);
    this.#demand(parent, permissions.delete, who);
    const znode = this.#find(path);
    demandVersion(znode.version, version);
    if (znode.children.size > 0) throw new Refusal(errors.NotEmpty);
    return { type: "delete", path };
  }

  #setData(
    { path, data, version }: PathVersion & { data: Uint8Array | null },
    who: Writer,
  ): Change {
    demandPath(path);
    this.#demandValid(path);
    const znode = this.#find(path);
    this.#demand(znode, permissions.write, who);
    demandVersion(znode.version, version);
    return { type: "set-data", path, data };
  }

  #setAcl(
    { path, acl, version }: PathVersion & { acl: readonly Acl[] | null },
    who: Writer,
  ): Change {
    demandPath(path);
    this.#demandValid(path);
    const kept = this.#fixed(acl, who);
    const znode = this.#find(path);
    this.#demand(znode, permissions.admin, who);
    demandVersion(znode.aversion, version);
    return { type: "set-acl", path, acl: kept };
  }

  #check({ path, version }: PathVersion, who: Writer): null {
    demandPath(path);
    this.#demandValid(path);
    const znode = this.#find(path);
    this.#demand(znode, permissions.read, who);
    demandVersion(znode.version, version);
    return null;
  }

  #fixed(acl: readonly Acl[] | null, { identities }: Writer): readonly Acl[] {
    const { isIpExact, hasSasl, isNullAclUnreadable } = this.#rules;
    if (acl === null && isNullAclUnreadable) throw unreadable;
    const kept = fixAcl(acl ?? [], identities, isIpExact, hasSasl);
    if (kept === null) throw new Refusal(errors.InvalidAcl);
    return kept;
  }

  #mode(flags: number, ttl = -1n): Mode {
    const { lastFlags = 6, hasTtls } = this.#rules;
    const mode = flags <= lastFlags ? modes[flags] : undefined;
    if (mode === undefined) throw new Refusal(errors.BadArguments);
    if (mode.isTtl && !hasTtls) throw new Refusal(errors.Unimplemented);
    const isTtlFine = mode.isTtl ? ttl > 0n && ttl <= ttlLimit : ttl < 0n;
    if (!isTtlFine) throw new Refusal(errors.BadArguments);
    return mode;
  }

  #demandValid(path: string): void {
    const { areEdgesAllowed } = this.#rules;
    try {
      validatePath(areEdgesAllowed ? path.replace(edges, "x") : path);
    } catch {
      throw new Refusal(errors.BadArguments);
    }
  }

  #find(path: string): Znode {
    const znode = this.#tree.get(path);
    if (znode === undefined) throw new Refusal(errors.NoNode);
    return znode;
  }

  #demand({ acl }: Znode, perms: number, { identities }: Writer): void {
    if (!allows(acl, perms, identities)) throw new Refusal(errors.NoAuth);
  }
}

interface CreateRequest {
  path: string | null;
  data: Uint8Array | null;
  acl: readonly Acl[] | null;
  flags: number;
  ttl?: bigint;
}

interface PathVersion {
  path: string | null;
  version: number;
}

interface Mode {
  isEphemeral: boolean;
  isSequential: boolean;
  isTtl: boolean;
}

const modes = [0, 1, 2, 3, 4, 5, 6].map((flags): Mode => ({
  isEphemeral: flags === 1 || flags === 3,
  isSequential: flags === 2 || flags === 3 || flags === 6,
  isTtl: flags === 5 || flags === 6,
}));

/** It is the operation, not the flags, that makes a container or gives a time to live. */
function kindOf(code: number, isEphemeral: boolean): Kind {
  if (code === ops.createContainer.code) return "container";
  if (code === ops.createTtl.code) return "ttl";
  return isEphemeral ? "ephemeral" : "persistent";
}

/** The number at the end of a sequential name, as Java's %010d: the sign takes one of the ten places. */
export function suffix(creates: number): string {
  if (creates >= 0) return String(creates).padStart(10, "0");
  return `-${String(-creates).padStart(9, "0")}`;
}

/** What a request that cannot be read, or trips a server up, is answered. */
export const unreadable: Refusal = new Refusal(errors.MarshallingError, true);

function demandPath(path: string | null): asserts path is string {
  if (path === null) throw new Refusal(errors.BadArguments);
}

/** A path whose parent cannot even be looked for. */
function isUnusable(path: string): boolean {
  return !path.includes("/") || path.includes("\0");
}

function demandVersion(actual: number, expected: number): void {
  if (expected !== -1 && expected !== actual) {
    throw new Refusal(errors.BadVersion);
  }
}
