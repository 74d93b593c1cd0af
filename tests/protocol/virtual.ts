// A world without a network and without waiting: a virtual clock, and servers in memory that speak the wire.
// Nothing in here knows what a test wants; a server's answers can be replaced one by one.
// Used by the tests of connect() and of the client.

import type { Environment } from "../../protocol/environment.ts";
import { VirtualClock } from "../../testing/clock.ts";
import type { Socket, Transport } from "../../protocol/transport/mod.ts";
import {
  answer,
  type Asked,
  header,
  type Hello,
  operationOf,
  packetsIn,
  readHello,
  readRequest,
  statOf,
  unknownSession,
  welcome,
} from "./wire.ts";

/** A clock that tells what clients wait for from what servers do. */
export class VirtualTime extends VirtualClock {
  #later = 0;

  /** What a server, or the test, does in so many ms. */
  later(ms: number, run: () => void): void {
    this.#later++;
    this.after(ms, () => {
      this.#later--;
      run();
    });
  }

  /** Timers that clients have set: one that is closed leaves none behind. */
  override get pending(): number {
    return super.pending - this.#later;
  }
}

/** How a server takes a connection: as one, not at all, or without ever a word. */
export type Reception = "accept" | "refuse" | "hang";

/** The server's end of a connection. */
export class Line {
  readonly server: FakeServer;
  /** Bytes of each write of the client. */
  readonly writes: Uint8Array[] = [];
  readonly asked: Asked[] = [];
  hello: Hello | undefined;
  open = true;
  #silent = false;
  #busyUntil = 0;
  readonly #hangUp: (error?: Error) => void;
  readonly #deliver: (bytes: Uint8Array) => void;

  constructor(
    server: FakeServer,
    deliver: (bytes: Uint8Array) => void,
    hangUp: (error?: Error) => void,
  ) {
    this.server = server;
    this.#deliver = deliver;
    this.#hangUp = hangUp;
  }

  /** Sends bytes; they arrive after the latency of the server, in their order. */
  send(bytes: Uint8Array): void {
    this.#later(() => this.#deliver(bytes));
  }

  /** Ends the connection from the server's side, now. */
  cut(error?: Error): void {
    if (!this.open) return;
    this.open = false;
    this.#hangUp(error);
  }

  /** The client wrote. */
  written(bytes: Uint8Array): void {
    this.writes.push(bytes);
    // Who missed a request cannot answer the next.
    if (!this.server.speaks) this.#silent = true;
    if (this.#silent) return;
    for (const packet of packetsIn(bytes)) this.#packet(packet);
  }

  /** Hangs up behind everything that was sent. */
  finish(): void {
    this.#later(() => this.cut());
  }

  #later(run: () => void): void {
    const { time, latency } = this.server;
    this.#busyUntil = Math.max(this.#busyUntil, time.monotonic() + latency);
    time.later(this.#busyUntil - time.monotonic(), () => {
      if (this.open) run();
    });
  }

  #packet(packet: Uint8Array): void {
    if (this.hello === undefined) {
      this.hello = readHello(packet);
      return this.server.greet(this, this.hello);
    }
    const asked = readRequest(packet);
    this.asked.push(asked);
    const reply = this.server.answer(asked, this);
    if (reply !== null) this.send(reply);
    if (asked.op === "closeSession" && reply !== null) this.finish();
  }
}

/** One server of a {@linkcode FakeEnsemble}. */
export class FakeServer {
  readonly time: VirtualTime;
  readonly ensemble: FakeEnsemble;
  readonly name: string;
  readonly lines: Line[] = [];
  reception: Reception = "accept";
  /** Sent at once to whoever connects, in place of the protocol. */
  banner: Uint8Array | undefined;
  /** False for a server that reads, and answers nothing. */
  speaks = true;
  latency = 1;
  /** Timeout that is granted; default: what is asked for. */
  timeout: number | undefined;
  /** Replaces the answer to a hello. */
  greet: (line: Line, hello: Hello) => void = (line, hello) =>
    this.ensemble.greet(line, hello);
  /** Replaces the answer to requests; null keeps silent. */
  answer: (asked: Asked, line: Line) => Uint8Array | null = (asked) =>
    this.ensemble.answer(asked);

  constructor(ensemble: FakeEnsemble, name: string) {
    this.ensemble = ensemble;
    this.time = ensemble.time;
    this.name = name;
  }

  /** Answers operations of these names with these bodies, or refuses them with a number; always zxid 50. */
  respond(replies: Record<string, unknown>): void {
    this.answer = (asked) => {
      if (!(asked.op in replies)) return this.ensemble.answer(asked);
      const body = replies[asked.op];
      if (typeof body === "number") return header(asked.xid, 50n, body);
      const { reply } = operationOf.get(asked.type)!;
      return answer(asked.xid, 50n, reply, body);
    };
  }

  /** The newest connection. */
  get line(): Line {
    return this.lines.at(-1)!;
  }

  /** Operations asked for on all connections. */
  get asked(): string[] {
    return this.lines.flatMap(({ asked }) => asked).map(({ op }) => op);
  }
}

/** Servers that share their sessions. */
export class FakeEnsemble {
  readonly time: VirtualTime;
  readonly servers: FakeServer[];
  readonly sessions = new Map<
    bigint,
    { passwd: Uint8Array; timeout: number }
  >();
  /** Every attempt of a client to connect, by name and time. */
  readonly dials: Array<{ name: string; at: number }> = [];
  zxid = 100n;
  #nextId = 0x100000000000001n;

  constructor(count = 1, time = new VirtualTime()) {
    this.time = time;
    this.servers = Array.from(
      { length: count },
      (_, i) => new FakeServer(this, `zk${i}`),
    );
  }

  /** The connect string of all. */
  get names(): string {
    return this.servers.map(({ name }) => name).join(",");
  }

  /** Options of connect() for this world. */
  get world(): { environment: Environment; transport: Transport } {
    return { environment: this.time, transport: this.transport };
  }

  /** The only server, or the first. */
  get server(): FakeServer {
    return this.servers[0];
  }

  /** All connections, in the order in which they were made. */
  get lines(): Line[] {
    return this.servers.flatMap(({ lines }) => lines);
  }

  /** Connections that stand. */
  get open(): number {
    return this.lines.filter(({ open }) => open).length;
  }

  readonly transport: Transport = ({ host, signal }, handlers) => {
    const server = this.servers.find(({ name }) => name === host);
    this.dials.push({ name: host, at: this.time.monotonic() });
    return new Promise<Socket>((resolve, reject) => {
      const fail = () => reject(signal.reason ?? new Error("aborted"));
      signal.addEventListener("abort", fail);
      if (server === undefined) {
        return reject(new Error(`no such host: ${host}`));
      }
      if (server.reception === "hang") return;
      this.time.later(server.latency, () => {
        if (signal.aborted) return;
        if (server.reception === "refuse") {
          return reject(new Error(`${host} refused the connection`));
        }
        resolve(this.#accept(server, handlers));
      });
    });
  };

  #accept(
    server: FakeServer,
    handlers: Parameters<Transport>[1],
  ): Socket {
    const line = new Line(
      server,
      (bytes) => handlers.data(bytes),
      (error) => handlers.close(error),
    );
    server.lines.push(line);
    if (server.banner) line.send(server.banner);
    return {
      write(bytes) {
        if (line.open) line.written(bytes);
      },
      close: () => line.cut(),
    };
  }

  /** Ends a session, as an administrator or the time would. */
  expire(id: bigint): void {
    this.sessions.delete(id);
    for (const line of this.lines) if (line.open) line.cut();
  }

  greet(line: Line, hello: Hello): void {
    const timeOut = line.server.timeout ?? hello.timeOut;
    let id = hello.sessionId;
    if (id === 0n) {
      id = this.#nextId++;
      const passwd = new Uint8Array(16).fill(Number(id & 0xffn));
      this.sessions.set(id, { passwd, timeout: timeOut });
    }
    const session = this.sessions.get(id);
    if (session === undefined) {
      line.send(unknownSession());
      return line.finish();
    }
    line.send(welcome({ timeOut, sessionId: id, passwd: session.passwd }));
  }

  /** A friendly answer to everything. */
  answer({ xid, type, op, body }: Asked): Uint8Array {
    const write = /^(create|delete|set|multi|closeSession)/.test(op);
    if (write && op !== "setWatches") this.zxid++;
    const zxid = xid === -4 ? 0n : this.zxid;
    const { reply } = operationOf.get(type)!;
    const stat = statOf({ czxid: zxid, mzxid: zxid });
    const path = body?.path;
    // deno-lint-ignore no-explicit-any
    const replies: Record<string, any> = {
      create: { path },
      create2: { path, stat },
      createContainer: { path, stat },
      createTTL: { path, stat },
      exists: { stat },
      getData: { data: new Uint8Array(0), stat },
      setData: { stat },
      getACL: { acl: [], stat },
      setACL: { stat },
      getChildren: { children: [] },
      getChildren2: { children: [], stat },
      sync: { path },
      multi: [],
      multiRead: [],
      getEphemerals: { ephemerals: [] },
      getAllChildrenNumber: { totalNumber: 0 },
      addWatch: { err: 0 },
      whoAmI: { clientInfo: [] },
      reconfig: { data: null, stat },
    };
    if (!(op in replies)) return header(xid, zxid);
    return answer(xid, zxid, reply, replies[op]);
  }
}
