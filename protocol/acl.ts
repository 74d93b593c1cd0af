// ACLs that are written again and again, and the identities that stand in them.
// Pure: whether an ACL makes sense to a server is for the server to say.
// For users; options.ts takes its default from here.

import { permissions } from "./codes.ts";
import { sha1 } from "./sha1.ts";
import type { Acl } from "./znode.ts";

/** The ACLs that ZooKeeper calls OPEN_ACL_UNSAFE, READ_ACL_UNSAFE and CREATOR_ALL_ACL. */
export interface UsualAcls {
  /** Everybody may do everything: the default of connect(). */
  readonly open: readonly Acl[];
  /** Everybody may read; nobody may ever change that, but for a super user. */
  readonly readOnly: readonly Acl[];
  /**
   * Whoever creates the znode may do everything, others nothing. The server puts
   * the proved identities of that connection in its place, and answers
   * InvalidAcl if there are none.
   */
  readonly creatorAll: readonly Acl[];
}

/**
 * ACLs for `acl` of connect(), create() and setAcl().
 *
 * @example
 * ```ts
 * import { acl, connect, digestId, permissions } from "@zklock/zklock";
 *
 * const zk = await connect("zk1:2181", {
 *   auth: [{ scheme: "digest", auth: "anna:secret" }],
 *   acl: acl.creatorAll,
 * });
 * await zk.create("/private");
 * await zk.create("/shared", "", {
 *   acl: [
 *     ...acl.creatorAll,
 *     { perms: permissions.read, scheme: "digest", id: digestId("ben", "other") },
 *   ],
 * });
 * ```
 */
export const acl: UsualAcls = Object.freeze({
  open: entry(permissions.all, "world", "anyone"),
  readOnly: entry(permissions.read, "world", "anyone"),
  creatorAll: entry(permissions.all, "auth", ""),
});

/** Shared by everybody who uses them, so nobody may change them. */
function entry(perms: number, scheme: string, id: string): readonly Acl[] {
  return Object.freeze([Object.freeze({ perms, scheme, id })]);
}

/**
 * The identity of the scheme `digest`, as it stands in an ACL: `user:` and a
 * SHA-1 hash of user and password, as DigestAuthenticationProvider makes it.
 * The password can be found from it by trying: it is as secret as the ACL.
 * Throws a TypeError for a user that cannot be: an empty one, or one with a colon.
 */
export function digestId(user: string, password: string): string {
  if (typeof user !== "string" || user === "" || user.includes(":")) {
    throw new TypeError(
      "Cannot make a digest: the user is empty, has a colon, or is no text",
    );
  }
  if (typeof password !== "string") {
    throw new TypeError(
      `Cannot make a digest for ${user}: the password is no text`,
    );
  }
  const hash = sha1(new TextEncoder().encode(`${user}:${password}`));
  return `${user}:${btoa(String.fromCharCode(...hash))}`;
}
