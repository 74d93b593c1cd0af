// What tests of clients and locks share: a world of their own each, an ear for events, waiting with a deadline.
// Knows no single operation's meaning.
// Used by the suites, and by tests of real servers.

import { assertEquals, AssertionError, assertRejects } from "@std/assert";
import { it } from "@std/testing/bdd";
import {
  type Auth,
  type Client,
  type ConnectOptions,
  type ErrorCode,
  joinPath,
  type Packet,
  permissions,
  ServerError,
  type SessionState,
  type Transport,
  type WatchEvent,
} from "../../protocol/mod.ts";
import { FaultProxy } from "../../testing/mod.ts";
import { packetsOf } from "../../protocol/trace.ts";
import { pickTransport } from "../../protocol/transport/mod.ts";
import { connectTo, type Target } from "../targets.ts";

/** What a test has: a client, and a znode that nobody else knows. */
export interface World {
  zk: Client;
  root: string;
  /** One more client, closed at the end. With `servers` it goes there, over TCP. */
  open(options?: ConnectOptions, servers?: string): Promise<Client>;
}

/** Longer than a busy machine takes for anything, in ms; no test waits for its end. */
const patience = 60_000;
/** Longer than any pause of a server's JVM on a busy machine; no test waits for its end. */
const usualTimeout = 10_000;

/** Runs a test in a world of its own, which is gone afterwards. */
export async function inWorld(
  target: Target,
  use: (world: World) => Promise<void>,
  options: ConnectOptions = {},
): Promise<void> {
  const clients: Client[] = [];
  const open = async (more: ConnectOptions = {}, servers?: string) => {
    const to = servers ? { ...target, servers, transport: undefined } : target;
    const all = { sessionTimeout: usualTimeout, ...more };
    const client = await connectTo(to, all);
    clients.push(client);
    return client;
  };
  const root = `/zklock-${crypto.randomUUID()}`;
  try {
    const zk = await open(options);
    await zk.create(root);
    await use({ zk, root, open });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    // A server of ours dies with everything in it.
    if (!target.isOurs) await clear(target, root);
  }
}

/** A credential for tests; what is closed to others is open to it, so that it can be removed. */
export const anna: Auth = { scheme: "digest", auth: "anna:secret" };

async function clear(target: Target, root: string): Promise<void> {
  const zk = await connectTo(target, { auth: [anna] });
  try {
    await remove(zk, root);
  } finally {
    await zk.close();
  }
}

/** Deletes a znode and everything below it, as far as it may. */
export async function remove(zk: Client, path: string): Promise<void> {
  const acl = [{ perms: permissions.all, scheme: "world", id: "anyone" }];
  await zk.setAcl(path, acl).catch(() => {});
  const names = await zk.getChildren(path).catch(() => []);
  await Promise.all(names.map((name) => remove(zk, joinPath(path, name))));
  await zk.delete(path).catch(() => {});
}

/**
 * The first server alone: where a test has two clients, one is to see at once
 * what the other has done, and other servers may lag behind (measured: 20 of 300).
 */
export function firstOf(target: Target): Target {
  const [servers] = target.servers.split(",");
  return { ...target, servers };
}

/** `it()`, with a world. */
export function tester(target: Target): (
  name: string,
  use: (world: World) => Promise<void>,
  options?: ConnectOptions,
) => void {
  return (name, use, options) => it(name, () => inWorld(target, use, options));
}

/** A client that reaches the server through a proxy alone. */
export interface Proxied {
  zk: Client;
  proxy: FaultProxy;
  root: string;
}

/** Gives a test a client behind a proxy. Whatever happens, the proxy is healed before they are closed. */
export async function throughProxy(
  target: Target,
  { root, open }: World,
  use: (proxied: Proxied) => Promise<void>,
  options: ConnectOptions = {},
): Promise<void> {
  const proxy = await FaultProxy.start(target.servers);
  try {
    const zk = await open(options, proxy.servers);
    try {
      await use({ zk, proxy, root });
    } finally {
      proxy.heal();
      await zk.close();
    }
  } finally {
    await proxy.close();
  }
}

/** The states a client's sessions come to from now on, in order. */
export function statesOf(zk: Client): SessionState[] {
  const states: SessionState[] = [];
  zk.on("state", ({ state }) => states.push(state));
  return states;
}

/** What a call brings that is made as soon as the connection is lost. */
export function onceDisconnected<T>(
  zk: Client,
  call: () => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = zk.on("state", ({ state }) => {
      if (state !== "disconnected") return;
      off();
      call().then(resolve, reject);
    });
  });
}

/** Whether the target's version is at least this one; a version it doesn't tell counts as new. */
export function isSince({ version }: Target, since: string): boolean {
  if (version === "unknown") return true;
  const numbers = version.split(".").map(Number);
  for (const [i, wanted] of since.split(".").map(Number).entries()) {
    if ((numbers[i] ?? 0) !== wanted) return (numbers[i] ?? 0) > wanted;
  }
  return true;
}

/** Waits until a condition holds; fails, with the name of it, when that takes too long. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  ms: number = patience,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) {
      throw new AssertionError(`not within ${ms} ms: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Settles like the promise; fails when that takes too long. */
export async function within<T>(
  what: string,
  promise: Promise<T>,
  ms: number = patience,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new AssertionError(`not within ${ms} ms: ${what}`);
    timer = setTimeout(() => reject(error), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A watcher that remembers what it was told, with paths below `root` for short. */
export class Ear {
  readonly events: WatchEvent[] = [];
  readonly #root: string;

  constructor(root = "") {
    this.#root = root;
  }

  readonly watch = (event: WatchEvent): void => void this.events.push(event);

  /** "type path" of each event. */
  get heard(): string[] {
    return this.events.map(({ type, path }) => {
      const isInside = path === this.#root || path.startsWith(this.#root + "/");
      return `${type} ${
        isInside ? path.slice(this.#root.length) || "." : path
      }`;
    });
  }

  /** Waits for so many events, and answers all there are. */
  async hears(count: number): Promise<string[]> {
    const wanted = () => this.events.length >= count;
    await until(`${count} events, heard ${this.heard}`, wanted);
    return this.heard;
  }
}

/** Remembers packets. */
export class Wiretap {
  readonly packets: Packet[] = [];
  readonly onPacket = (packet: Packet): void => void this.packets.push(packet);

  /** Operations sent, in order; pings left out, since they come when they like. */
  get sent(): string[] {
    return this.packets
      .filter(({ direction, op }) => direction === "sent" && op !== "ping")
      .map(({ op, bytes }) =>
        op ?? `${new DataView(bytes.buffer, bytes.byteOffset).getInt32(4)}`
      );
  }

  /** Forgets what was sent so far. */
  clear(): void {
    this.packets.length = 0;
  }
}

/** A transport that notes what the client writes: the operations of each write, in order. */
export class Flights {
  readonly writes: string[][] = [];
  /** Called when something was written, before anything can be answered. */
  wrote: () => void = () => {};
  /** For connect(). */
  readonly transport: Transport;

  /** In front of the target's own. */
  constructor({ transport }: Target) {
    const inner = transport ?? pickTransport;
    this.transport = async (address, handlers) => {
      const socket = await inner(address, handlers);
      return {
        close: () => socket.close(),
        write: (bytes) => {
          const packets = packetsOf("sent", bytes);
          this.writes.push(packets.map(({ op }) => op ?? "?"));
          socket.write(bytes);
          this.wrote();
        },
      };
    };
  }
}

/**
 * A transport that can hold back what the server sends and deliver it in one
 * piece, as a busy network may.
 */
export class Gathering {
  readonly #inner: Transport;
  #held: Uint8Array[] | undefined;
  #deliver = (_: Uint8Array) => {};

  /** For connect(). */
  readonly transport: Transport = (address, handlers) => {
    this.#deliver = (bytes) => handlers.data(bytes);
    const data = (bytes: Uint8Array) => {
      if (this.#held) this.#held.push(bytes.slice());
      else handlers.data(bytes);
    };
    return this.#inner(address, { ...handlers, data });
  };

  /** In front of the target's own. */
  constructor({ transport }: Target) {
    this.#inner = transport ?? pickTransport;
  }

  /** Holds back from now on. */
  hold(): void {
    this.#held = [];
  }

  /** Waits for so many packets and delivers them as one chunk. */
  async deliver(count: number): Promise<void> {
    await until(`${count} packets`, () => packetsIn(this.#held!) >= count);
    const chunk = joined(this.#held!);
    this.#held = undefined;
    this.#deliver(chunk);
  }
}

function packetsIn(chunks: readonly Uint8Array[]): number {
  const bytes = joined(chunks);
  const view = new DataView(bytes.buffer);
  let count = 0;
  for (let at = 0; at + 4 <= bytes.length; count++) {
    at += 4 + view.getInt32(at);
    if (at > bytes.length) break;
  }
  return count;
}

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Fails unless the call rejects with what the server says by this code. */
export async function assertRefused(
  call: () => Promise<unknown>,
  code: ErrorCode,
): Promise<ServerError> {
  const error = await assertRejects(call, ServerError);
  assertEquals(error.code, code);
  return error;
}

/** The text in a znode's data. */
export function textOf(data: Uint8Array | null): string | null {
  return data && new TextDecoder().decode(data);
}
