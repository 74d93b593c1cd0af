// A TCP proxy in front of one server that can lose, delay and cut, packet by packet.
// Knows which operation a packet belongs to, but nothing of locks or of what a client makes of its faults.
// For the tests of users and for tests/real; relay.ts carries the bytes.

import {
  type Address,
  formatAddress,
  parseServers,
} from "../protocol/servers.ts";
import { PacketLog } from "./log.ts";
import type { Direction, SeenPacket } from "./packets.ts";
import { Rulebook } from "./rulebook.ts";
import { Relay, type RelayHost, type Toward, type Verdict } from "./relay.ts";
import {
  listen,
  type Listener,
  type Wire,
  type WireHandlers,
} from "./sockets.ts";

/** Decides about each packet; undefined is "pass". */
export type Rule = (packet: SeenPacket) => Verdict | undefined;

/** Which way a fault works: "to-server" is what clients send, "to-client" what they are answered. */
export type Way = "both" | "to-server" | "to-client";

/** Options of {@linkcode FaultProxy.start}. */
export interface FaultProxyOptions {
  /** Port to listen on; default 0, any free one. */
  port?: number;
}

/**
 * A TCP proxy in front of one ZooKeeper server, to see what a program does when
 * the network fails: connect the program to {@linkcode FaultProxy.servers} in
 * place of the server.
 *
 * It cuts both directions into packets and knows the operation of each, so that
 * faults hit the same packet in every run. Without faults it passes everything,
 * four-letter words too. What it does not see: how packets were joined into
 * writes (`chunks` is near to it), and TLS.
 *
 * All faults end with {@linkcode FaultProxy.heal}. If two fit a packet, the
 * black hole comes first, then `rule`, then replies to be dropped, then
 * cutAfter(). Nothing is thrown at a program: it sees lost connections and
 * silence, as from a network.
 *
 * @example Is a znode made although its reply was lost?
 * ```ts
 * import { connect } from "@zklock/zklock";
 * import { FaultProxy } from "@zklock/zklock/testing";
 *
 * const proxy = await FaultProxy.start("127.0.0.1:2181");
 * const zk = await connect(proxy.servers);
 * const lost = proxy.dropReply("create", { thenCut: true });
 * try {
 *   await zk.create("/hello", "world", { mode: "ephemeral" });
 * } catch (error) {
 *   console.log(error); // ConnectionLossError: it may have happened
 *   console.log("Server answered", (await lost).err, await zk.exists("/hello"));
 * } finally {
 *   await zk.close();
 *   await proxy.close();
 * }
 * ```
 */
export class FaultProxy implements AsyncDisposable {
  /**
   * Asked for every packet, in both directions, once it is in `packets`. A rule
   * that throws cuts the connection, and close() rejects with what it threw.
   */
  rule: Rule | undefined;

  readonly #relays = new Set<Relay>();
  readonly #host: RelayHost;
  #listener: Listener | undefined;
  #closing: Promise<void> | undefined;
  #accepted = 0;
  #failure: { cause: unknown } | undefined;

  readonly #log = new PacketLog();
  readonly #drops = new Rulebook<SeenPacket, Verdict>("proxy");
  readonly #cuts = new Rulebook<SeenPacket, Verdict>("proxy");
  readonly #swallowing = { server: false, client: false };
  readonly #delays = { server: 0, client: 0 };
  #isRefusing = false;

  private constructor(target: Address) {
    this.#host = {
      target,
      isSwallowing: (toward) => this.#swallowing[toward],
      delay: (toward) => this.#delays[toward],
      chunk: () => void this.#log.chunks++,
      see: (packet) => this.#log.see(packet),
      judge: (packet) => this.#judge(packet),
      passed: (packet) => this.#log.passed(packet),
    };
  }

  /**
   * Starts a proxy. Rejects if the port is taken. Whether anybody listens at the
   * target shows when a client connects: if not, its connection is reset.
   *
   * @param target The server: `host:port`.
   */
  static async start(
    target: string,
    options: FaultProxyOptions = {},
  ): Promise<FaultProxy> {
    const { addresses, chroot } = parseServers(target);
    if (addresses.length !== 1 || chroot !== "") {
      throw new TypeError(
        `Cannot start a proxy: it needs one host:port, not ${target}`,
      );
    }
    const proxy = new FaultProxy(addresses[0]);
    const accept = (wire: Wire) => proxy.#accept(wire);
    proxy.#listener = await listen(options.port ?? 0, accept);
    return proxy;
  }

  /** The port it listens on. */
  get port(): number {
    return this.#listener!.port;
  }

  /** Where it listens, for connect(): "127.0.0.1:port". */
  get servers(): string {
    return formatAddress({ host: "127.0.0.1", port: this.port });
  }

  /** Number of connections that stand now, those in a black hole too. */
  get connections(): number {
    return this.#relays.size;
  }

  // Looking on

  /** Every packet that came since the start or the last clear(), also those that did not pass. */
  get packets(): readonly SeenPacket[] {
    return this.#log.packets;
  }

  /**
   * Number of chunks in which the bytes of clients came, since the start or the
   * last clear(). Near to the number of their writes: TCP may join and split.
   */
  get chunks(): number {
    return this.#log.chunks;
  }

  /** How many packets came since the start or the last clear(): all, those of one direction, or also of one operation. */
  count(direction?: Direction, op?: string): number {
    return this.#log.count(direction, op);
  }

  /** Forgets `packets` and `chunks`, which otherwise grow as long as the proxy lives. */
  clear(): void {
    this.#log.clear();
  }

  /**
   * Waits for the next packet that fits and is handed on. Rejects if the
   * predicate throws or the proxy is closed first.
   */
  packet(predicate: (packet: SeenPacket) => boolean): Promise<SeenPacket> {
    return this.#log.next(predicate);
  }

  // Faults

  /** Resets all connections, at once, on both sides. New ones are welcome. */
  cut(): void {
    for (const relay of [...this.#relays]) relay.reset();
  }

  /**
   * Drops the next reply to an operation, once, and with `thenCut` ends its
   * connection as well, as if the reply was lost with it. Resolves with the
   * reply when that has happened; rejects if heal() or close() comes first.
   */
  dropReply(
    op: string,
    { thenCut = false }: { thenCut?: boolean } = {},
  ): Promise<SeenPacket> {
    const verdict = thenCut ? "cut" : "drop";
    return this.#drops.once(
      `drop a reply to ${op}`,
      (packet) => isReply(packet, op) ? verdict : undefined,
    );
  }

  /** Drops every reply to an operation until heal(). */
  dropReplies(op: string): void {
    this.#drops.always((packet) => isReply(packet, op) ? "drop" : undefined);
  }

  /**
   * Hands on `count` more packets, of both directions and all connections
   * together, and ends the connection behind the last. Resolves with that one
   * when it has happened; rejects if heal() or close() comes first.
   */
  cutAfter(count: number): Promise<SeenPacket> {
    if (!Number.isSafeInteger(count) || count < 1) {
      throw new RangeError(`Cannot cut after ${count} packets`);
    }
    let left = count;
    return this.#cuts.once(
      `cut after ${count} packets`,
      () => --left === 0 ? "pass-then-cut" : undefined,
    );
  }

  /**
   * Swallows everything that goes this way, also that a side hung up, until
   * heal(): connections stay open and silent. New ones are accepted, which a
   * broken network would not do, but nothing comes of them.
   */
  blackHole(way: Way = "both"): void {
    for (const toward of towards(way)) this.#swallowing[toward] = true;
  }

  /** Holds back whatever comes from now on for so many ms, in order; 0 ends that. */
  delay(ms: number, way: Way = "both"): void {
    if (!(ms >= 0 && ms < Infinity)) {
      throw new RangeError(`Cannot delay by ${ms} ms`);
    }
    for (const toward of towards(way)) this.#delays[toward] = ms;
  }

  /** Resets each new connection as soon as it is accepted; those that stand are left alone. */
  refuse(on: boolean = true): void {
    this.#isRefusing = on;
  }

  /**
   * Ends all faults, and the `rule`. What was held back goes out. Connections of
   * which something was swallowed are reset: both sides would misunderstand.
   */
  heal(): void {
    this.rule = undefined;
    this.#isRefusing = false;
    for (const toward of towards("both")) {
      this.#swallowing[toward] = false;
      this.#delays[toward] = 0;
    }
    this.#giveUp("it was healed first");
    for (const relay of [...this.#relays]) relay.heal();
  }

  // The end

  /**
   * Resets all connections and listens no more; resolves when nothing is left.
   * Rejects, after that, if `rule` threw. May be called twice.
   */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /** As close(). */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // Inside

  async #close(): Promise<void> {
    this.#isRefusing = true;
    this.#giveUp("it was closed first");
    this.#log.end(new Error("Cannot wait for a packet: the proxy was closed"));
    this.cut();
    await this.#listener!.close();
    await Promise.all([...this.#relays].map((relay) => relay.gone));
    if (this.#failure) throw this.#failure.cause;
  }

  #accept(wire: Wire): WireHandlers {
    if (this.#isRefusing) {
      wire.reset();
      return { data() {}, closed() {} };
    }
    const relay = new Relay(this.#accepted++, wire, this.#host);
    this.#relays.add(relay);
    void relay.gone.then(() => this.#relays.delete(relay));
    return relay.client();
  }

  /** The first who wants something else than "pass" decides. */
  #judge(packet: SeenPacket): Verdict {
    try {
      const verdict = this.rule?.(packet) ?? "pass";
      if (!verdicts.includes(verdict)) {
        throw new TypeError(`Cannot use a rule: it answered ${verdict}`);
      }
      if (verdict !== "pass") return verdict;
    } catch (cause) {
      this.#failure ??= { cause };
      return "cut";
    }
    return this.#drops.judge(packet) ?? this.#cuts.judge(packet) ?? "pass";
  }

  #giveUp(why: string): void {
    this.#drops.giveUp(why);
    this.#cuts.giveUp(why);
  }
}

const verdicts: readonly Verdict[] = ["pass", "drop", "cut", "pass-then-cut"];

function towards(way: Way): Toward[] {
  if (way === "to-server") return ["server"];
  if (way === "to-client") return ["client"];
  return ["server", "client"];
}

function isReply({ direction, op }: SeenPacket, wanted: string): boolean {
  return direction === "reply" && op === wanted;
}
