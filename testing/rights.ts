// Who somebody is, and what an ACL lets them do.
// Pure: knows ACLs and identities, no znodes and no sessions.
// Used by plan.ts for writes, by answers.ts for reads, by watch_tables.ts for events.

import { permissions } from "../protocol/codes.ts";
import type { Acl } from "../protocol/znode.ts";
import { sha1 } from "../protocol/sha1.ts";

/** One identity of a connection, as the server proved it. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/** Whether somebody with these identities has one of these permissions. */
export function allows(
  acl: readonly Acl[],
  perms: number,
  who: readonly Identity[],
): boolean {
  return acl.some((entry) =>
    (entry.perms & perms) !== 0 && who.some((each) => matches(entry, each))
  ) || acl.some(({ perms: has, scheme, id }) =>
    (has & perms) !== 0 && scheme === "world" && id === "anyone"
  );
}

/**
 * An ACL as it is kept: without doubles, and with the identities of whoever
 * sent it in place of the scheme `auth`. Null if it is not one that a server
 * takes.
 *
 * @param isIpExact Whether an ip is one address only, and no network.
 * @param hasSasl Whether there are identities of the scheme `sasl`.
 */
export function fixAcl(
  acl: readonly Acl[],
  who: readonly Identity[],
  isIpExact = false,
  hasSasl = false,
): readonly Acl[] | null {
  const fixed: Acl[] = [];
  const add = (entry: Acl) => {
    if (!fixed.some((other) => isSame(entry, other))) fixed.push(entry);
  };
  for (const { perms, scheme, id } of acl) {
    if (scheme === "auth") {
      const proved = who.filter((each) => each.scheme !== "ip");
      if (proved.length === 0) return null;
      for (const each of proved) add({ perms, ...each });
    } else if (hasSasl && scheme === "sasl") add({ perms, scheme, id });
    else if (isKnown(scheme, id, isIpExact)) add({ perms, scheme, id });
    else return null;
  }
  return fixed.length > 0 ? fixed : null;
}

/** An ACL as somebody sees it: without ADMIN the hashes of passwords are not shown. */
export function shown(
  acl: readonly Acl[],
  who: readonly Identity[],
): readonly Acl[] {
  if (allows(acl, permissions.admin, who)) return acl;
  return acl.map((entry) => {
    if (entry.scheme !== "digest") return entry;
    return { ...entry, id: `${userOf(entry.id)}:x` };
  });
}

/** The identity that the credential `user:password` proves. */
export function digestIdentity(credential: string): Identity {
  const hash = sha1(new TextEncoder().encode(credential));
  const text = btoa(String.fromCharCode(...hash));
  return { scheme: "digest", id: `${userOf(credential)}:${text}` };
}

/** The part of an identity that is no secret. */
export function userOf(id: string): string {
  const colon = id.indexOf(":");
  return colon < 0 ? id : id.slice(0, colon);
}

function isSame(a: Acl, b: Acl): boolean {
  return a.perms === b.perms && a.scheme === b.scheme && a.id === b.id;
}

function isKnown(scheme: string, id: string, isIpExact: boolean): boolean {
  if (scheme === "world") return id === "anyone";
  if (scheme === "digest") return id.split(":").length === 2;
  if (isIpExact && id.includes("/")) return false;
  return scheme === "ip" && network(id) !== null;
}

function matches({ scheme, id }: Acl, who: Identity): boolean {
  if (scheme !== who.scheme) return false;
  return scheme === "ip" ? isInside(who.id, id) : id === who.id;
}

/** Whether an address lies in `address/bits`. */
function isInside(address: string, block: string): boolean {
  const outer = network(block), inner = network(address);
  if (outer === null || inner === null) return false;
  const shift = 32 - outer.bits;
  // A shift by 32 does nothing.
  return shift === 32 || outer.number >>> shift === inner.number >>> shift;
}

/** An IPv4 address with the number of bits that count. */
function network(text: string): { number: number; bits: number } | null {
  const [address, bits = "32", ...rest] = text.split("/");
  const bytes = address.split(".");
  const fits = (part: string, most: number) =>
    /^\d{1,3}$/.test(part) && Number(part) <= most;
  const isFine = rest.length === 0 && bytes.length === 4 && fits(bits, 32) &&
    bytes.every((byte) => fits(byte, 255));
  if (!isFine) return null;
  const number = bytes.reduce((sum, byte) => sum * 256 + Number(byte), 0);
  return { number, bits: Number(bits) };
}
