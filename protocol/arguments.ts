// What users pass to the methods of a client, checked and made ready for the wire.
// Pure: knows no operations and no sessions.
// Used by questions.ts, multi.ts and options.ts.

import type { Data } from "./api.ts";
import type { CreateMode } from "./codes.ts";
import { addChroot, validatePath } from "./path.ts";
import type { Acl } from "./znode.ts";

/** What the requests of one client have in common. */
export interface Scope {
  /** In front of every path; "" for none. */
  readonly chroot: string;
  /** For znodes that are given none. */
  readonly acl: readonly Acl[];
}

const encoder = new TextEncoder();

/** Data as bytes. The bytes of the caller are not copied. */
export function bytesOf(data: Data | undefined): Uint8Array | null {
  if (data === undefined) return new Uint8Array(0);
  if (data === null || data instanceof Uint8Array) return data;
  if (typeof data === "string") return encoder.encode(data);
  throw new TypeError(
    `Cannot use data: neither text nor Uint8Array nor null: ${typeof data}`,
  );
}

/** A version to compare with; -1 for any. */
export function versionOf(version = -1): number {
  if (Number.isInteger(version) && (version | 0) === version) return version;
  throw new RangeError(`Cannot use version: not a 32-bit integer: ${version}`);
}

/** Checks a path and puts the chroot in front. Throws a TypeError. */
export function fullPath(
  { chroot }: Scope,
  path: string,
  sequential = false,
): string {
  validatePath(path, sequential);
  // Before a number "/" is the beginning of a name, not the root.
  return sequential ? chroot + path : addChroot(chroot, path);
}

/** Checks an ACL. Throws a TypeError for what has not its form; what it means is for the server to say. */
export function aclOf(acl: readonly Acl[]): readonly Acl[] {
  const fits = Array.isArray(acl) &&
    acl.every((entry) =>
      Number.isInteger(entry?.perms) && typeof entry.scheme === "string" &&
      typeof entry.id === "string"
    );
  if (fits) return acl;
  throw new TypeError(
    "Cannot use acl: not a list of { perms, scheme, id }",
  );
}

/** True for modes in which the server appends a number to the name. */
export function isSequential(mode: CreateMode): boolean {
  return mode.includes("sequential");
}

/** The lifetime of a znode that has one. */
export function ttlOf(ttl: number | undefined): bigint {
  if (ttl !== undefined && Number.isInteger(ttl) && ttl > 0 && ttl < 2 ** 40) {
    return BigInt(ttl);
  }
  throw new RangeError(
    `Cannot create: the ttl is not a number of ms from 1 to 2^40-1: ${ttl}`,
  );
}

/** Throws a TypeError for what cannot be called. */
export function checkWatcher(watcher: unknown): void {
  if (typeof watcher === "function") return;
  throw new TypeError(`Cannot watch: not a function: ${watcher}`);
}
