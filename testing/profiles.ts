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
  /** A check outside of a multi is answered; 3.9 hangs up. */
  readonly isCheckAnswered: boolean;
  /** Inside a multi, a create2 is answered as a create (3.5 to 3.8). */
  readonly isCreate2Downgraded: boolean;
  /** A handshake with a null password is never answered. */
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
  hasConfig: true,
} as const;

/** By version. */
export const profiles: Readonly<Record<ServerVersion, Profile>> = {
  "3.4": {
    ...common,
    version: "3.4",
    release: "3.4.13",
    isCounterWrapping: true,
    isIpExact: true,
    areEdgesAllowed: true,
    hasConfig: false,
    hasEventZxids: false,
    isExistsGuarded: false,
    areEventsGuarded: false,
    areModesIndependent: false,
    hasPersistentTypes: false,
    isCheckAnswered: true,
    isCreate2Downgraded: true,
    isNullPasswordIgnored: true,
  },
  "3.8": {
    ...common,
    version: "3.8",
    release: "3.8.0",
    hasEventZxids: false,
    isExistsGuarded: false,
    areEventsGuarded: true,
    areModesIndependent: false,
    hasPersistentTypes: false,
    isCheckAnswered: true,
    isCreate2Downgraded: true,
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
  },
};
