// What random requests are made of: few paths, so that they meet, and every odd value a server has an opinion on.
// Knows no operation and no server.
// Used by generate.ts.

import { createHash } from "node:crypto";
import { seeded } from "../protocol/wire.ts";

/** Choices that are always the same for a seed. */
export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seeded(seed);
    // Small seeds are alike in their first number.
    this.#next();
  }

  /** From 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  chance(percent: number): boolean {
    return this.#next() * 100 < percent;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }

  /** One of the names, as often as its number says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let at = this.#next() * entries.reduce((sum, [, n]) => sum + n, 0);
    for (const [name, weight] of entries) {
      at -= weight;
      if (at < 0) return name;
    }
    return entries[0][0];
  }

  some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}

const goodPaths = [
  "/@/a",
  "/@/a",
  "/@/b",
  "/@/b",
  "/@/c",
  "/@/a/x",
  "/@/a/y",
  "/@/b/x",
  "/@/b/y",
  "/@/a/x/p",
  "/@/a/x/q",
  "/@/b/y/p",
  "/@/s-0000000003",
  "/@/a/s-0000000001",
];

const highPaths = ["/@", "/@", "/@", "/", "/zookeeper"];

/** Not to be written to: what is there would be in the way of other traces. */
const systemPaths = ["/zookeeper", "/zookeeper/quota", "/zookeeper/config"];

const badPaths: readonly (string | null)[] = [
  "",
  null,
  "abc",
  "a/b",
  "/@/",
  "/@/a/",
  "/@//x",
  "/@/a//x",
  "//",
  "/@/.",
  "/@/..",
  "/@/a/./x",
  "/@/a/../b",
  "/@/..x",
  "/@/ok.",
  "/@/...",
  "/@/a\u0000b",
  "/@/\u0000",
  "/@/a\u0001",
  "/@/a\u001f",
  "/@/a\u007f",
  "/@/a\u009f",
  "/@/a\u00a0",
  "/@/\ud7ff",
  "/@/\ue000",
  "/@/\uf8ff",
  "/@/\uf900",
  "/@/\ufff0",
  "/@/\uffff",
  "/@/\u{1f512}",
  "/@/ü-日",
  "/@/a b",
  "/@/missing/x",
  "/@/missing/x/y",
  `/@/${"long".repeat(300)}`,
];

/** A path, most often a good one. */
export function anyPath(dice: Dice, learned: readonly string[]): string {
  const kind = dice.weighted({
    good: 100,
    high: 14,
    learned: learned.length > 0 ? 14 : 0,
    bad: 9,
    system: 2,
  });
  if (kind === "learned") return dice.pick(learned);
  const list = {
    good: goodPaths,
    high: highPaths,
    bad: badPaths,
    system: systemPaths,
  }[kind];
  return dice.pick(list) as string;
}

/** One below which a child may be made. */
export function sequentialPath(dice: Dice): string {
  return dice.pick(["/@/s-", "/@/a/s-", "/@/a/", "/@/b/x/n", "/@/c/", "/@/."]);
}

export function anyData(dice: Dice): Uint8Array | null {
  const size = dice.weighted({
    none: 1,
    0: 2,
    1: 3,
    10: 3,
    300: 1,
    70000: 0.1,
  });
  if (size === "none") return null;
  return Uint8Array.from({ length: Number(size) }, () => dice.below(256));
}

export function anyVersion(dice: Dice): number {
  return dice.pick([-1, -1, -1, -1, 0, 0, 1, 1, 2, 3, 5, -2, 2147483647]);
}

/** User and password of those who authenticate. */
export const users = ["ann:secret", "bob:word", "eve"];

function digest(user: string): string {
  const [name] = user.split(":");
  return `${name}:${createHash("sha1").update(user).digest("base64")}`;
}

interface Acl {
  perms: number;
  scheme: string;
  id: string;
}

const world = { scheme: "world", id: "anyone" };
const here = { scheme: "ip", id: "127.0.0.1" };
const ann = { scheme: "digest", id: digest("ann:secret") };
const bob = { scheme: "digest", id: digest("bob:word") };
const eve = { scheme: "digest", id: digest("eve") };

/** Leave what is made with them in the reach of most sessions. */
const kindAcls: readonly Acl[][] = [
  [{ perms: 31, ...world }],
  [{ perms: 31, ...world }, { perms: 31, ...world }],
  [{ perms: 31, ...ann }, { perms: 31, ...world }],
  [{ perms: 31, ...here }],
  [{ perms: 31, scheme: "ip", id: "127.0.0.0/8" }],
  [{ perms: 63, ...world }],
  [{ perms: -1, ...world }],
];

const strictAcls: readonly (Acl[] | null)[] = [
  [{ perms: 1, ...world }],
  [{ perms: 0, ...world }],
  [{ perms: 2, ...world }],
  [{ perms: 4, ...world }],
  [{ perms: 8, ...world }],
  [{ perms: 16, ...world }],
  [{ perms: 30, ...world }],
  [{ perms: 31, ...ann }],
  [{ perms: 31, ...bob }],
  [{ perms: 31, ...eve }],
  [{ perms: 1, ...world }, { perms: 31, ...ann }],
  [{ perms: 1, ...bob }, { perms: 16, ...world }],
  [{ perms: 1, ...here }, { perms: 2, ...world }],
  [{ perms: 31, scheme: "auth", id: "" }],
  [{ perms: 15, scheme: "auth", id: "any" }],
  [{ perms: 31, scheme: "ip", id: "10.0.0.1" }],
  [{ perms: 31, scheme: "ip", id: "10.0.0.0/8" }],
  [{ perms: 31, scheme: "ip", id: "127.0.0.1/0" }],
  [{ perms: 31, scheme: "ip", id: "128.0.0.1/0" }],
];

const badAcls: readonly (Acl[] | null)[] = [
  [],
  null,
  [{ perms: 31, scheme: "world", id: "someone" }],
  [{ perms: 31, scheme: "digest", id: "nocolon" }],
  [{ perms: 31, scheme: "digest", id: "two:colons:here" }],
  [{ perms: 31, scheme: "digest", id: "" }],
  [{ perms: 31, scheme: "ip", id: "not an address" }],
  [{ perms: 31, scheme: "ip", id: "127.0.0.1/33" }],
  [{ perms: 31, scheme: "ip", id: "127.0.0.1/x" }],
  [{ perms: 31, scheme: "ip", id: "127.0.0/8" }],
  [{ perms: 31, scheme: "ip", id: "::1" }],
  [{ perms: 31, scheme: "nosuch", id: "x" }],
  [{ perms: 31, scheme: "", id: "" }],
  [{ perms: 31, scheme: "sasl", id: "x" }],
  [{ perms: 31, scheme: "super", id: "x" }],
  [{ perms: 31, ...world }, { perms: 31, scheme: "nosuch", id: "x" }],
];

/** Only of the kind sort where the trace must be able to go on. */
export function anyAcl(dice: Dice, path: string | null): Acl[] | null {
  const isShallow = path === null || path.split("/").length <= 2 ||
    path.startsWith("/zookeeper");
  const kind = dice.weighted({ plain: 80, kind: 8, strict: 7, bad: 5 });
  if (kind === "plain" || kind === "strict" && isShallow) return kindAcls[0];
  if (kind === "kind") return dice.pick(kindAcls.slice(0, isShallow ? 3 : 7));
  return dice.pick(kind === "strict" ? strictAcls : badAcls);
}

/** A path to write to: not where other traces would see it. */
export function ownPath(path: string): string {
  return path?.startsWith("/zookeeper") ? "/@/a" : path;
}
