// A ZooKeeper server in this process, for tests: over TCP or in memory, and as unreliable as it is told to be.
// Keeps connections and faults; engine.ts is the server proper.
// For the tests of users, the demo, and our own tests.

import type { Session } from "../protocol/news.ts";
import { type Environment, hostEnvironment } from "../protocol/environment.ts";
import { formatAddress } from "../protocol/servers.ts";
import type { Transport } from "../protocol/transport/mod.ts";
import type { Intake, Line } from "./backend.ts";
import { engineOptions } from "./checks.ts";
import { Engine } from "./engine.ts";
import { Mischief } from "./mischief.ts";
import { Link, type Way } from "./network.ts";
import { Peer } from "./peer.ts";
import { RoughLine } from "./rough_line.ts";
import type {
  Reception,
  RequestFate,
  RequestRule,
  SeenRequest,
  TestServerOptions,
  ZnodeView,
} from "./server_api.ts";
import type { Listener, Wire, WireHandlers } from "./sockets.ts";
import { statOf } from "./tree.ts";

/** A client that does not read is not served while so many bytes are on their way to it. */
const longestBacklog = 16 * 1024 * 1024;

/**
 * A ZooKeeper server in memory that speaks the real protocol: any client in any
 * language can connect. It starts in a millisecond, and it can lose, delay and
 * forget on demand. What it answers was compared with ZooKeeper 3.8.0 and 3.9.3.
 *
 * One server, no ensemble; nothing is written to disk. Sessions are known until
 * it is closed.
 *
 * @example A program's reaction to a lost lock
 * ```ts
 * import { connect, SequentialLock } from "@zklock/zklock";
 * import { TestServer } from "@zklock/zklock/testing";
 *
 * const server = await TestServer.start();
 * const zk = await connect(server.servers);
 * const held = await new SequentialLock(zk, "/lock").acquire();
 * const lost = new Promise((resolve) => held.signal.addEventListener("abort", resolve));
 * server.expire(zk.session);
 * await lost;
 * console.log(held.state); // lost
 * await zk.close();
 * await server.close();
 * ```
 */
export class TestServer implements AsyncDisposable {
  readonly #engine: Engine;
  readonly #environment: Environment;
  readonly #mischief: Mischief;
  readonly #lines = new WeakMap<Peer, RoughLine>();
  readonly #deadLines = new Set<RoughLine>();
  readonly #wires = new Set<Wire>();
  readonly #roughness = { delay: 0, piece: Infinity };
  readonly #waiting: (() => void)[] = [];
  #isFrozen = false;
  #isRefusing = false;
  #listener: Listener | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: TestServerOptions) {
    this.#environment = options.environment ?? hostEnvironment;
    this.#engine = new Engine(engineOptions(options), this.#environment);
    this.#mischief = new Mischief(this.#engine);
  }

  /** Starts a server. Rejects if the port is taken, with a TypeError or RangeError if an option cannot be. */
  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const server = new TestServer(options);
    if (options.listen ?? true) {
      // Loaded when it is needed: edge workers have no such thing.
      const { listen } = await import("./sockets.ts");
      const accept = (wire: Wire) => server.#acceptWire(wire);
      try {
        server.#listener = await listen(options.port ?? 0, accept);
      } catch (error) {
        await server.close();
        throw error;
      }
    }
    return server;
  }

  /** The port it listens on; 0 if it does not listen. */
  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** For connect(): "127.0.0.1:port". If it does not listen, a name that only `transport` understands. */
  get servers(): string {
    if (this.#listener === undefined) return "embedded";
    return formatAddress({ host: "127.0.0.1", port: this.port });
  }

  /** For connect(): reaches this server without a network, whatever the address is. */
  readonly transport: Transport = ({ signal }, handlers) => {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.#isRefusing) return reject(new Error("Connection refused"));
      const way = this.#memory();
      const accept = (line: Line) => this.#accept(line);
      resolve(new Link({ up: way, down: way }, handlers, accept).socket);
    });
  };

  /** Asked for every request. A rule that throws cuts the connection, and close() rejects with what it threw. */
  get rule(): RequestRule | undefined {
    return this.#mischief.rule;
  }

  set rule(rule: RequestRule | undefined) {
    this.#mischief.rule = rule;
  }

  /** How new connections are met. */
  get reception(): Reception {
    return this.#mischief.reception;
  }

  set reception(reception: Reception) {
    this.#mischief.reception = reception;
  }

  // Looking on

  /** A znode as it is now; undefined if there is none. */
  znode(path: string): ZnodeView | undefined {
    const znode = this.#engine.replica.tree.get(path);
    if (znode === undefined) return undefined;
    const { data, acl, children } = znode;
    return { data, acl, stat: statOf(znode), children: [...children].sort() };
  }

  /** All paths, sorted, but for those of ZooKeeper itself. */
  paths(): string[] {
    return this.#engine.replica.tree.paths().sort()
      .filter((path) => path !== "/" && !/^\/zookeeper(\/|$)/.test(path));
  }

  /** Ids of the sessions that have not ended. */
  get sessions(): readonly bigint[] {
    return this.#engine.sessions.list().map(({ id }) => id);
  }

  /** Number of connections that the server knows of: not those that are half open. */
  get connections(): number {
    return this.#engine.peers.size;
  }

  /** Number of watches of these connections: all, or those that fire for one path. */
  watches(path?: string): number {
    const { watches } = this.#engine.replica;
    return path === undefined ? watches.size : watches.sizeAt(path);
  }

  /** The requests that came since the start or the last clear(); of more than 100,000 the newest. */
  get requests(): readonly SeenRequest[] {
    return this.#mischief.requests;
  }

  /** How many requests came since the start or the last clear(): all, or those of one operation. */
  count(op?: string): number {
    return this.#mischief.count(op);
  }

  /** Forgets `requests`, which are kept with all their bytes, and their count. */
  clear(): void {
    this.#mischief.clear();
  }

  // Faults of the server. An operation that does not exist is a TypeError.

  /** Ends a session as if it had been silent for too long: its ephemeral znodes and locks go. Answers whether it was there. */
  expire(session: Session | bigint): boolean {
    const id = typeof session === "bigint" ? session : session.id;
    return this.#engine.expire(id);
  }

  /** The next request of an operation is not done, and its connection ends. Resolves when that has happened. */
  cutBefore(op: string): Promise<SeenRequest> {
    return this.#mischief.next("cut before", op, "cut-before");
  }

  /** The next request of an operation is done, and its connection ends before the answer. Resolves when that has happened. */
  cutAfter(op: string): Promise<SeenRequest> {
    return this.#mischief.next("cut after", op, "cut-after");
  }

  /**
   * The next request of an operation is done and never answered. Resolves when
   * that has happened. The call may stay pending for ever: see "drop-reply" of
   * {@linkcode RequestFate}. To lose a reply as a network does, use cutAfter().
   */
  dropReply(op: string): Promise<SeenRequest> {
    return this.#mischief.next("drop the reply to", op, "drop-reply");
  }

  /** The next request of an operation is answered with an error. Resolves when that has happened. */
  refuse(op: string, error: RequestFate): Promise<SeenRequest> {
    return this.#mischief.next("refuse", op, error);
  }

  /**
   * Nothing is read, answered or expired until thaw(), as if the process was
   * stopped. Connections stand. Call thaw() before you close a client: its
   * close() waits seconds for an answer.
   */
  freeze(): void {
    this.#isFrozen = true;
    this.#engine.freeze();
  }

  /** Goes on. What came meanwhile is served first, then what is overdue expires. */
  thaw(): void {
    this.#isFrozen = false;
    for (const run of this.#waiting.splice(0)) run();
    this.#engine.thaw();
  }

  /** Sets the counter that the next sequential name below a znode is made of, e.g. to 2 ** 31 - 2. */
  setCounter(path: string, next: number): void {
    if (!Number.isInteger(next) || next !== (next | 0)) {
      throw new RangeError(
        `Cannot set the counter of ${path}: it has 32 bits, not ${next}`,
      );
    }
    this.#engine.replica.tree.setCounter(path, next);
  }

  /** Removes emptied containers and old TTL nodes now. Answers their paths. */
  reap(): string[] {
    return this.#engine.reap();
  }

  // Faults of the network

  /** Ends all connections. New ones are welcome. */
  cut(): void {
    for (const peer of [...this.#engine.peers]) {
      this.#lines.get(peer)!.end();
      peer.hungUp();
    }
  }

  /** Takes no new connections. */
  refuseConnections(on: boolean = true): void {
    this.#isRefusing = on;
  }

  /**
   * From now on neither side of the connections that stand hears the other, and
   * the client is not told. The server takes them for ended: `connections` and
   * `watches()` count them no more; their sessions go on until they expire.
   */
  halfOpen(): void {
    for (const peer of [...this.#engine.peers]) {
      const line = this.#lines.get(peer)!;
      line.die();
      this.#deadLines.add(line);
      peer.hungUp();
    }
  }

  /** Holds back whatever comes or goes from now on for so many ms, in order; 0 ends that. */
  delay(ms: number): void {
    if (!(ms >= 0 && ms < Infinity)) {
      throw new RangeError(`Cannot delay by ${ms} ms`);
    }
    this.#roughness.delay = ms;
  }

  /** Sends in pieces of at most so many bytes; Infinity ends that. Over TCP pieces may be joined on their way. */
  crumble(bytes: number): void {
    if (!(bytes >= 1)) {
      throw new RangeError(`Cannot send pieces of ${bytes} bytes`);
    }
    this.#roughness.piece = bytes;
  }

  /** Sends bytes that are no packet on all connections. */
  garble(bytes: Uint8Array): void {
    for (const peer of [...this.#engine.peers]) peer.send(bytes);
  }

  /** Ends all faults, and `rule`; connections that are half open end. */
  heal(): void {
    this.#mischief.heal("was healed first");
    this.#isRefusing = false;
    this.#roughness.delay = 0;
    this.#roughness.piece = Infinity;
    this.#endDeadLines();
    for (const peer of this.#engine.peers) this.#lines.get(peer)!.flush();
    if (this.#isFrozen) this.thaw();
  }

  // The end

  /** Ends all connections and listens no more; resolves when nothing is left. Rejects, after that, if `rule` threw. May be called twice. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /** As close(). */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#isRefusing = true;
    this.#mischief.heal("was closed first");
    this.#engine.stop();
    this.cut();
    this.#endDeadLines();
    for (const wire of this.#wires) wire.reset();
    await this.#listener?.close();
    const { failure } = this.#mischief;
    if (failure) throw failure.cause;
  }

  // Inside

  #accept(line: Line): Intake {
    const rough = new RoughLine(line, this.#roughness, this.#environment);
    const peer = new Peer(rough, this.#engine, this.#mischief);
    this.#engine.peers.add(peer);
    this.#lines.set(peer, rough);
    const later = (run: () => void) =>
      rough.fromClient(() =>
        this.#isFrozen ? void this.#waiting.push(run) : run()
      );
    return {
      take: (bytes) => later(() => peer.take(bytes)),
      drained: () => later(() => peer.drained()),
      hungUp: () => {
        this.#deadLines.delete(rough);
        later(() => peer.hungUp());
      },
    };
  }

  #acceptWire(wire: Wire): WireHandlers {
    if (this.#isRefusing) {
      wire.reset();
      return { data() {}, closed() {} };
    }
    this.#wires.add(wire);
    const isBehind = () => wire.pending > longestBacklog;
    const intake = this.#accept({
      remote: "127.0.0.1",
      isBehind,
      write: (bytes) => {
        wire.write(bytes);
        if (isBehind()) wire.pause();
      },
      finish: () => wire.finish(),
      reset: () => wire.hangUp(),
    });
    return {
      // What is kept while it is frozen must not be changed.
      data: (bytes) => intake.take(bytes.slice()),
      finished: () => {
        intake.hungUp();
        wire.finish();
      },
      drained: () => {
        wire.resume();
        intake.drained?.();
      },
      closed: () => {
        this.#wires.delete(wire);
        intake.hungUp();
      },
    };
  }

  /** In memory, without a virtual clock, things happen as soon as the turn is over. */
  #memory(): Way {
    const environment = this.#environment;
    // Not by itself: in workerd it must not be called as a method.
    if (environment === hostEnvironment) return (run) => queueMicrotask(run);
    return (run) => void environment.after(0, run);
  }

  #endDeadLines(): void {
    for (const line of this.#deadLines) line.end();
    this.#deadLines.clear();
  }
}
