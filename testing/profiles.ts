// What differs between the versions of ZooKeeper that the embedded server can play.
// Names and switches only; whoever acts on one asks for it by name.
// Read by everybody in the embedded server. Source: measurements of 3.4.13, 3.8.0 (Debian) and 3.9.3.

import type { TreeRules } from "./tree.ts";

/** A release line of ZooKeeper. */
export type ServerVersion = "3.4" | "3.8" | "3.9";

/** How a version behaves. */
export interface Profile extends TreeRules {
  readonly version: ServerVersion;
  /** What `srvr` says. */
  readonly release: string;
  /** Events carry the transaction that caused them (3.9); before, -1. */
  readonly hasEventZxids: boolean;
  /** exists() needs READ (ZOOKEEPER-2590). */
  readonly isExistsGuarded: boolean;
  /** Who may not read a znode is not told of it (CVE-2024-23944). */
  readonly areEventsGuarded: boolean;
  /** Watches of different modes on a path live side by side; before 3.9 the last one replaced the others (ZOOKEEPER-4466). */
  readonly areModesIndependent: boolean;
  /** removeWatches and checkWatches know the types 4 and 5. */
  readonly hasPersistentTypes: boolean;
  /** A check outside of a multi is answered if it does not hold; 3.9 hangs up. */
  readonly isCheckAnswered: boolean;
  /** Inside a multi, create2 and createContainer are taken for create, unless the flags are a container's (3.5 to 3.8). */
  readonly isCreate2Downgraded: boolean;
  /** Inside a multi, flags that mean nothing make it unreadable, and a null ACL too, which takes no zxid (3.9); before, the part is refused when it is its turn. */
  readonly areFlagsReadEarly: boolean;
  /** A multi with a null path takes a zxid that the next write shows first, and its -5 has an empty list of results (3.8); 3.9 does it as with any other that cannot be read. */
  readonly isMultiWithNullLost: boolean;
  /** A write that cannot be read takes a zxid; from 3.9 on a multi only. A reconfig never does. */
  readonly isUnreadableCounted: boolean;
  /** checkWatches finds the watches of all connections, and cannot deal with a path without a slash; from 3.9 on it asks for one's own (ZOOKEEPER-4466). */
  readonly isWatchCheckShared: boolean;
  /** Writes are checked in another order. */
  readonly isOfOldOrder: boolean;
  /** The last flags that a create may have. */
  readonly lastFlags: number;
  /** An ACL that is null makes a request unreadable. */
  readonly isNullAclUnreadable: boolean;
  /** A handshake for a new session with a null password is never answered. */
  readonly isNullPasswordIgnored: boolean;
  /** An ip in an ACL is one address, without `/bits`. */
  readonly isIpExact: boolean;
  /** Paths may have the first and the last character of each range that is forbidden since 3.5. */
  readonly areEdgesAllowed: boolean;
}

const common = {
  isNullPasswordIgnored: false,
  isCounterWrapping: false,
  isIpExact: false,
  areEdgesAllowed: false,
  isOfOldOrder: false,
  lastFlags: 6,
  isNullAclUnreadable: false,
  hasConfig: true,
} as const;

/** What 3.9 does otherwise than all before. */
const before39 = {
  ...common,
  hasEventZxids: false,
  isExistsGuarded: false,
  areModesIndependent: false,
  hasPersistentTypes: false,
  isCheckAnswered: true,
  isCreate2Downgraded: true,
  areFlagsReadEarly: false,
  isMultiWithNullLost: true,
  isUnreadableCounted: true,
  isWatchCheckShared: true,
} as const;

/** By version. */
export const profiles: Readonly<Record<ServerVersion, Profile>> = {
  "3.4": {
    ...before39,
    version: "3.4",
    release: "3.4.13",
    areEventsGuarded: false,
    isCounterWrapping: true,
    isIpExact: true,
    areEdgesAllowed: true,
    isOfOldOrder: true,
    lastFlags: 3,
    isNullAclUnreadable: true,
    isNullPasswordIgnored: true,
    hasConfig: false,
  },
  "3.8": {
    ...before39,
    version: "3.8",
    release: "3.8.0",
    areEventsGuarded: true,
  },
  "3.9": {
    ...common,
    version: "3.9",
    release: "3.9.3",
    hasEventZxids: true,
    isExistsGuarded: true,
    areEventsGuarded: true,
    areModesIndependent: true,
    hasPersistentTypes: true,
    isCheckAnswered: false,
    isCreate2Downgraded: false,
    areFlagsReadEarly: true,
    isMultiWithNullLost: false,
    isUnreadableCounted: false,
    isWatchCheckShared: false,
  },
};
