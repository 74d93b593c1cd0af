// What readers see of the records that are part of the public surface.
// Types only; records.ts has the tables, which must satisfy them.
// Used by everything that hands out a Stat or an ACL.

/** What a server keeps about a znode besides its data. Zxids are transaction ids; times are the server's clock. */
export interface Stat {
  /** Transaction that created the znode: unique, and growing over the life of the ensemble. */
  czxid: bigint;
  /** Transaction that last set the data. */
  mzxid: bigint;
  /** When it was created, in ms since 1970. */
  ctime: bigint;
  /** When its data was last set, in ms since 1970. */
  mtime: bigint;
  /** How often the data was set. */
  version: number;
  /** Creates plus deletes of children, in 32 bits: not the counter of sequential znodes. */
  cversion: number;
  /** How often the ACL was set. */
  aversion: number;
  /** Session an ephemeral znode belongs to; 0n for all others. */
  ephemeralOwner: bigint;
  /** Size of the data in bytes; 0 for null. */
  dataLength: number;
  /** Number of direct children. */
  numChildren: number;
  /** Transaction that last created or deleted a child. */
  pzxid: bigint;
}

/** Grants `perms` to whoever `scheme` and `id` name. */
export interface Acl {
  /** A sum of {@linkcode permissions}. */
  perms: number;
  /** How the identity was proved: `world`, `auth`, `digest`, `ip`, `x509`, `sasl`. */
  scheme: string;
  /** Who: `anyone` for world, empty for auth, `user:base64(sha1(user:password))` for digest. */
  id: string;
}

/** One identity the server knows a connection by. */
export interface ClientInfo {
  /** How it was proved, e.g. `ip` or `digest`. */
  authScheme: string;
  /** Who it is, without any secret. */
  user: string | null;
}
