// The servers of an ensemble: what a connect string says, whom to try next, how long to wait before.
// Pure: randomness comes in as an argument, names are resolved by the transport at each connect.
// Used by options.ts to parse and by connection.ts to choose.

import { normalizeChroot } from "./path.ts";

/** Where a server listens. */
export interface Address {
  /** Name or address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

const defaultPort = 2181;

/** Of Mesos and its kin, and of other connect strings that are URLs. */
const schemes = /^\s*(?:zk|zookeeper):\/\//;

/** Roughly: eight groups of hex digits, or fewer around a "::"; perhaps a zone. */
const ipv6 = /^(?=.*::|(?:[^:]*:){7}[^:]*$)[0-9a-f:.]+(?:%[\w.-]+)?$/i;

/**
 * Reads `host[:port],…[/chroot]`, with `zk://` or `zookeeper://` before it if you
 * like, or a list of `host[:port]`. IPv6 is `[::1]:2181`, or bare without a port.
 * Throws a TypeError, which shows nothing that stands before an `@`.
 */
export function parseServers(
  servers: string | readonly string[],
): { addresses: Address[]; chroot: string } {
  if (typeof servers !== "string" && !Array.isArray(servers)) {
    throw new TypeError(
      `Cannot read the servers: neither text nor a list: ${servers}`,
    );
  }
  const text = typeof servers === "string" ? servers : servers.join(",");
  const all = typeof servers === "string" ? text.replace(schemes, "") : text;
  if (all.includes("@")) {
    throw bad(all, "give a user and a password as `auth`, not in here");
  }
  if (typeof servers !== "string") {
    const odd = servers.find((s) => typeof s !== "string" || /[/,]/.test(s));
    if (odd !== undefined) throw bad(all, `"${odd}" is not one host:port`);
  }
  const slash = all.indexOf("/");
  if (slash >= 0 && /,[^/]*:\d/.test(all.slice(slash))) {
    throw bad(all, "the chroot comes once, behind the last server");
  }
  const hosts = slash < 0 ? all : all.slice(0, slash);
  if (hosts.endsWith(":") && all.startsWith("//", slash)) {
    throw bad(all, "the scheme is none of zk:// and zookeeper://");
  }
  return {
    addresses: hosts.split(",").map((text) => parseAddress(text.trim(), all)),
    chroot: slash < 0 ? "" : normalizeChroot(all.slice(slash).trim()),
  };
}

function parseAddress(text: string, all: string): Address {
  if (text === "") throw bad(all, "a server has no name");
  const bracketed = /^\[([^\]]+)\](?::(\d*))?$/.exec(text);
  if (bracketed) return address(bracketed[1], bracketed[2], all);
  const [host, port, ...more] = text.split(":");
  if (more.length === 0) return address(host, port, all);
  if (!ipv6.test(text)) throw bad(all, `"${text}" is not one host:port`);
  return address(text, "", all);
}

function address(host: string, port: string | undefined, all: string): Address {
  if (!/^[\p{L}\p{N}._:%-]+$/u.test(host)) {
    throw bad(all, `"${host}" is not the name of a host`);
  }
  if (!port) return { host, port: defaultPort };
  const number = Number(port);
  if (!/^\d+$/.test(port) || number < 1 || number > 65535) {
    throw bad(all, `"${port}" is not a port`);
  }
  return { host, port: number };
}

function bad(all: string, why: string): TypeError {
  const shown = JSON.stringify(all.replace(/^[^]*@/, "…@"));
  return new TypeError(`Cannot read the servers ${shown}: ${why}`);
}

/** Whether two addresses are written the same. */
export function isSameAddress(a: Address, b: Address): boolean {
  return a.host === b.host && a.port === b.port;
}

/** How an address is written. */
export function formatAddress({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Fills bytes with random values, as in Environment. */
export type Random = (bytes: Uint8Array) => void;

/** A number from 0 to 1, 1 excluded. */
export function fraction(random: Random): number {
  const bytes = new Uint8Array(4);
  random(bytes);
  return new DataView(bytes.buffer).getUint32(0) / 2 ** 32;
}

/** A connection that lasted this long, in ms, proves that the server is well. */
const healthy = 1000;
/** Pauses before tries, in ms: none in the first circle, then growing by half with each. */
const firstPause = { from: 10, to: 50 };
const longestPause = 1000;

/**
 * The servers in a random order, tried one after the other for ever. A whole
 * circle is tried without a pause, since the others may be well; after that the
 * pauses are short and grow, and are never the same (CURATOR's clients wait up to
 * a second here, which is most of their fail-over time).
 */
export class ServerRing {
  #addresses: readonly Address[];
  readonly #random: Random;
  #next = 0;
  /** Tries since a connection last proved healthy. */
  #tries = 0;

  constructor(addresses: readonly Address[], random: Random) {
    this.#addresses = shuffled(addresses, random);
    this.#random = random;
  }

  /** How many times all servers were tried in vain. */
  get circles(): number {
    return Math.floor(this.#tries / this.size);
  }

  /** How many servers there are. */
  get size(): number {
    return this.#addresses.length;
  }

  /** All servers, in the order in which they are tried. */
  get addresses(): readonly Address[] {
    return this.#addresses;
  }

  /** Other servers, from now on; none of them has been tried. */
  replace(addresses: readonly Address[]): void {
    this.#addresses = shuffled(addresses, this.#random);
    this.#next = 0;
    this.#tries = 0;
  }

  /** Whom to try now, and how many ms to wait before. */
  next(): { address: Address; pause: number } {
    const pause = this.#pause();
    this.#tries++;
    const address = this.#addresses[this.#next];
    this.#next = (this.#next + 1) % this.#addresses.length;
    return { address, pause };
  }

  /** A connection ended that had been ready for so long, in ms. */
  ended(after: number): void {
    if (after >= healthy) this.#tries = 0;
  }

  #pause(): number {
    if (this.circles === 0) return 0;
    const { from, to } = firstPause;
    const growth = 1.5 ** Math.min(this.circles - 1, 32);
    const longest = Math.min(longestPause, to * growth);
    const shortest = Math.min(longestPause / 2, from * growth);
    return shortest + (longest - shortest) * fraction(this.#random);
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const list = [...items];
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(fraction(random) * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}
