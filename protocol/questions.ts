// What each method of a client asks, and how its answer is read.
// Pure: makes questions, asks none; knows no sessions.
// Used by client.ts.

import type {
  CallOptions,
  CreateOptions,
  Data,
  VersionOptions,
  WatchOptions,
} from "./api.ts";
import {
  aclOf,
  bytesOf,
  checkWatcher,
  fullPath,
  type Scope,
  versionOf,
} from "./arguments.ts";
import {
  type AddWatchMode,
  addWatchModes,
  createFlags,
  errorNumbers,
  numberOf,
  type WatcherType,
  watcherTypes,
} from "./codes.ts";
import { ServerError } from "./errors.ts";
import type { Marks } from "./internals.ts";
import { createPart } from "./multi.ts";
import * as ops from "./operations.ts";
import { addChroot, stripChroot, validatePath } from "./path.ts";
import type { Acl, ClientInfo, Stat } from "./znode.ts";
import { type Ask, ask, type Request } from "./requests.ts";
import type { Watcher, WatchKind } from "./watches.ts";

const { NoNode, NoWatcher } = errorNumbers;

/** Data and Stat of a znode. */
export interface DataAndStat {
  data: Uint8Array | null;
  stat: Stat;
}

/** What a create makes. */
export interface Created {
  path: string;
  zxid: bigint;
}

export function create(
  scope: Scope,
  path: string,
  data: Data | undefined,
  options: CreateOptions,
): Ask<Created> {
  return creating(scope, path, data, options, ops.create, (made) => made);
}

/** All but the plain create answer the Stat in any case. */
export function create2(
  scope: Scope,
  path: string,
  data: Data | undefined,
  options: CreateOptions,
): Ask<Created & { stat: Stat }> {
  const withStat = (made: Created, stat: Stat) => ({ ...made, stat });
  return creating(scope, path, data, options, ops.create2, withStat);
}

function creating<T>(
  scope: Scope,
  path: string,
  data: Data | undefined,
  { signal, mode, acl, ttl }: CreateOptions,
  plain: ops.Operation,
  made: (created: Created, stat: Stat) => T,
): Ask<T> {
  const part = createPart(scope, { path, data, mode, acl, ttl }, plain);
  return ask({
    op: part.operation,
    body: part.request,
    path,
    signal,
    map(reply, zxid) {
      const { path, stat } = reply as { path: string; stat: Stat };
      return made({ path: stripChroot(scope.chroot, path), zxid }, stat);
    },
  });
}

/** A plain persistent znode at a full path, for ensurePath(), which goes above the chroot. */
export function createFull(
  scope: Scope,
  full: string,
  acl: readonly Acl[],
  signal?: AbortSignal,
): Ask<void> {
  return ask({
    op: ops.create,
    body: {
      path: full,
      data: bytesOf(""),
      acl: aclOf(acl),
      flags: createFlags.persistent,
    },
    path: stripChroot(scope.chroot, full),
    signal,
    map: () => {},
  });
}

/** Whether there is a znode at a full path. */
export function present(full: string, signal?: AbortSignal): Ask<boolean> {
  return ask({
    op: ops.exists,
    body: { path: full, watch: false },
    path: full,
    signal,
    map: () => true,
    recover: orElse(NoNode, false),
  });
}

export function remove(
  scope: Scope,
  path: string,
  { version, signal, ...marks }: VersionOptions & Marks,
): Ask<void> {
  return ask({
    op: ops.remove,
    body: { path: fullPath(scope, path), version: versionOf(version) },
    path,
    signal,
    ...marks,
    map: () => {},
  });
}

export function exists(
  scope: Scope,
  path: string,
  options: WatchOptions,
): Ask<Stat | null> {
  const kind = (err: number) =>
    err === 0 ? "data" : err === NoNode ? "exist" : undefined;
  return ask({
    op: ops.exists,
    ...watching(fullPath(scope, path), path, options, kind),
    map: ({ stat }): Stat | null => stat,
    recover: orElse(NoNode, null),
  });
}

export function getData(
  scope: Scope,
  path: string,
  options: WatchOptions,
): Ask<DataAndStat> {
  return dataAt(fullPath(scope, path), path, options);
}

/** The dynamic configuration, which lies outside every chroot. */
export function getConfig(options: WatchOptions): Ask<DataAndStat> {
  return dataAt("/zookeeper/config", "/zookeeper/config", options);
}

function dataAt(
  full: string,
  path: string,
  options: WatchOptions,
): Ask<DataAndStat> {
  return ask({
    op: ops.getData,
    ...watching(full, path, options, (err) => err === 0 ? "data" : undefined),
    map: (reply): DataAndStat => reply,
  });
}

export function setData(
  scope: Scope,
  path: string,
  data: Data,
  { version, signal }: VersionOptions,
): Ask<Stat> {
  const body = {
    path: fullPath(scope, path),
    data: bytesOf(data),
    version: versionOf(version),
  };
  return ask({ op: ops.setData, body, path, signal, map: ({ stat }) => stat });
}

export function getChildren(
  scope: Scope,
  path: string,
  options: WatchOptions,
): Ask<string[]> {
  return ask({
    op: ops.getChildren,
    ...watching(fullPath(scope, path), path, options, child),
    map: ({ children }) => children as string[],
  });
}

export function getChildren2(
  scope: Scope,
  path: string,
  options: WatchOptions,
): Ask<{ children: string[]; stat: Stat }> {
  return ask({
    op: ops.getChildren2,
    ...watching(fullPath(scope, path), path, options, child),
    map: (reply) => reply as { children: string[]; stat: Stat },
  });
}

export function getAcl(
  scope: Scope,
  path: string,
  { signal }: CallOptions,
): Ask<{ acl: Acl[]; stat: Stat }> {
  const body = { path: fullPath(scope, path) };
  const map = (reply: unknown) => reply as { acl: Acl[]; stat: Stat };
  return ask({ op: ops.getAcl, body, path, signal, map });
}

export function setAcl(
  scope: Scope,
  path: string,
  acl: readonly Acl[],
  { version, signal }: VersionOptions,
): Ask<Stat> {
  const body = {
    path: fullPath(scope, path),
    acl: aclOf(acl),
    version: versionOf(version),
  };
  return ask({ op: ops.setAcl, body, path, signal, map: ({ stat }) => stat });
}

export function addWatch(
  scope: Scope,
  path: string,
  watcher: Watcher,
  { mode = "persistent", signal }: CallOptions & { mode?: AddWatchMode },
): Ask<void> {
  checkWatcher(watcher);
  const full = fullPath(scope, path);
  const kind = (err: number) => err === 0 ? mode : undefined;
  return ask({
    op: ops.addWatch,
    body: { path: full, mode: numberOf(addWatchModes, mode, "mode") },
    path,
    signal,
    watch: { watcher, path: full, kind },
    map: () => {},
  });
}

/** The tables in which the server looks for each type of watch. */
const kindsOf: Record<WatcherType, readonly WatchKind[]> = {
  children: ["child"],
  data: ["data", "exist"],
  any: ["child", "data", "exist", "persistent", "persistent-recursive"],
};

/** @param drop Takes the watches out of the registry, in the same step as the reply. */
export function removeWatches(
  scope: Scope,
  path: string,
  { type = "any", signal }: CallOptions & { type?: WatcherType },
  drop: (kinds: readonly WatchKind[], full: string) => void,
): Ask<void> {
  const full = fullPath(scope, path);
  return ask({
    op: ops.removeWatches,
    body: { path: full, type: numberOf(watcherTypes, type, "type") },
    path,
    signal,
    // What the server has removed must not be armed again after a reconnect.
    certain: true,
    map: () => drop(kindsOf[type], full),
  });
}

export function checkWatches(
  scope: Scope,
  path: string,
  { type = "any", signal }: CallOptions & { type?: WatcherType },
): Ask<boolean> {
  return ask({
    op: ops.checkWatches,
    body: {
      path: fullPath(scope, path),
      type: numberOf(watcherTypes, type, "type"),
    },
    path,
    signal,
    map: () => true,
    recover: orElse(NoWatcher, false),
  });
}

export function getEphemerals(
  { chroot }: Scope,
  prefix: string,
  { signal }: CallOptions,
): Ask<string[]> {
  if (typeof prefix !== "string" || !prefix.startsWith("/")) {
    validatePath(prefix); // Throws. A prefix need not be a path otherwise.
  }
  const inside = (path: string) =>
    chroot === "" || path === chroot || path.startsWith(chroot + "/");
  return ask({
    op: ops.getEphemerals,
    body: { prefixPath: addChroot(chroot, prefix) },
    path: prefix,
    signal,
    map: ({ ephemerals }) =>
      ephemerals.filter(inside).map((path) => stripChroot(chroot, path)),
  });
}

export function getAllChildrenNumber(
  scope: Scope,
  path: string,
  { signal }: CallOptions,
): Ask<number> {
  return ask({
    op: ops.getAllChildrenNumber,
    body: { path: fullPath(scope, path) },
    path,
    signal,
    map: ({ totalNumber }) => totalNumber,
  });
}

export function whoAmI({ signal }: CallOptions): Ask<ClientInfo[]> {
  return ask({
    op: ops.whoAmI,
    body: null,
    signal,
    map: ({ clientInfo }) => clientInfo as ClientInfo[],
  });
}

export function reconfig(
  change: {
    joining?: string;
    leaving?: string;
    members?: string;
    version?: bigint;
  },
  { signal }: CallOptions,
): Ask<DataAndStat> {
  const body = {
    joiningServers: change.joining ?? null,
    leavingServers: change.leaving ?? null,
    newMembers: change.members ?? null,
    curConfigId: change.version ?? -1n,
  };
  return ask({ op: ops.reconfig, body, signal, map: (reply) => reply });
}

export function sync(
  scope: Scope,
  path: string,
  { signal }: CallOptions,
): Ask<void> {
  const body = { path: fullPath(scope, path) };
  return ask({ op: ops.sync, body, path, signal, map: () => {} });
}

export function ping({ signal }: CallOptions): Ask<void> {
  return ask({ op: ops.ping, body: null, signal, map: () => {} });
}

const child = (err: number): WatchKind | undefined =>
  err === 0 ? "child" : undefined;

/** The part that all requests with a watch have in common. */
function watching(
  full: string,
  path: string,
  { watch: watcher, signal }: WatchOptions,
  kind: (err: number) => WatchKind | undefined,
): {
  body: { path: string; watch: boolean };
  path: string;
  signal?: AbortSignal;
  watch: Request["watch"];
} {
  if (watcher !== undefined) checkWatcher(watcher);
  return {
    body: { path: full, watch: watcher !== undefined },
    path,
    signal,
    watch: watcher && { watcher, path: full, kind },
  };
}

/** Reads one error as an answer. */
function orElse<T>(number: number, value: T): (error: Error) => T {
  return (error) => {
    if (error instanceof ServerError && error.number === number) return value;
    throw error;
  };
}
