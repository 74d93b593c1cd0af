// A scripted ZooKeeper server of a few operations.
// Knows sessions, names of znodes and whoever waits; no rights, no versions, no watches but those it is told to fire.
// Used by the tests of testing/.

import { eventTypes, type ServerEventType } from "../../protocol/codes.ts";
import { Frames } from "../../protocol/frames.ts";
import { noPassword } from "../../protocol/handshake.ts";
import { Reader, type Type, Writer } from "../../protocol/jute.ts";
import type { Stat } from "../../protocol/mod.ts";
import * as ops from "../../protocol/operations.ts";
import * as records from "../../protocol/records.ts";
import { listen, type Listener, type Wire } from "../../testing/sockets.ts";

const limit = 16 * 1024 * 1024;
const nodeExists = -110;
const noNode = -101;
const password = new Uint8Array(16).fill(7);

/** A packet with its length in front. */
export function framed(write: (to: Writer) => void): Uint8Array {
  const writer = new Writer();
  writer.int(0);
  write(writer);
  writer.patchInt(0, writer.length - 4);
  return writer.copy();
}

/** Listens; answers connect, create, exists, getData, ping, setWatches, closeSession and ruok. */
export class FakeServer implements AsyncDisposable {
  /** What came, in order: names of operations; "end" and "reset" for the end of a connection. */
  readonly heard: string[] = [];
  /** Paths that were created. */
  readonly znodes = new Set<string>();
  /** Size of the answer to getData, in bytes. */
  dataLength = 0;
  /** Hangs up instead of answering a handshake. */
  isHangingUp = false;
  readonly #sessions = new Map<bigint, Set<Wire>>();
  readonly #wires = new Set<Wire>();
  #listener: Listener | undefined;
  #lastSession = 0n;
  #zxid = 0n;

  static async start(): Promise<FakeServer> {
    const server = new FakeServer();
    server.#listener = await listen(0, (wire) => server.#accept(wire));
    return server;
  }

  get port(): number {
    return this.#listener!.port;
  }

  get servers(): string {
    return `127.0.0.1:${this.port}`;
  }

  get connections(): number {
    return this.#wires.size;
  }

  /** Sends an event on all connections. */
  fire(type: ServerEventType, path: string): void {
    const event = { type: eventTypes[type], state: 3, path };
    for (const wire of this.#wires) {
      this.#reply(wire, -1, 0, records.WatcherEvent, event);
    }
  }

  /** Ends all connections behind what was answered. */
  finish(): void {
    for (const wire of this.#wires) wire.finish();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#listener!.close();
    for (const wire of this.#wires) wire.reset();
    await closed;
  }

  #accept(wire: Wire) {
    this.#wires.add(wire);
    const frames = new Frames(limit);
    let isGreeted = false;
    return {
      data: (bytes: Uint8Array) => {
        if (!isGreeted && new TextDecoder().decode(bytes) === "ruok") {
          this.heard.push("ruok");
          wire.write(new TextEncoder().encode("imok"));
          return wire.finish();
        }
        frames.push(bytes);
        for (let body; (body = frames.next()) !== null;) {
          const reader = new Reader(body);
          if (isGreeted) this.#request(wire, reader);
          else this.#hello(wire, reader);
          isGreeted = true;
        }
      },
      finished: () => {
        this.heard.push("end");
        wire.finish();
      },
      closed: (error?: Error) => {
        if (error) this.heard.push("reset");
        this.#wires.delete(wire);
      },
    };
  }

  #hello(wire: Wire, reader: Reader): void {
    const { sessionId, timeOut } = records.ConnectRequest.read(reader);
    this.heard.push("connect");
    if (this.isHangingUp) return wire.finish();
    const id = sessionId || ++this.#lastSession;
    if (sessionId === 0n) this.#sessions.set(id, new Set());
    const session = this.#sessions.get(id);
    session?.add(wire);
    const answer = {
      protocolVersion: 0,
      timeOut: session ? timeOut : 0,
      sessionId: session ? id : 0n,
      passwd: session ? password : noPassword,
      readOnly: false,
    };
    wire.write(framed((to) => records.ConnectResponse.write(to, answer)));
    if (!session) wire.finish();
  }

  #request(wire: Wire, reader: Reader): void {
    const { xid, type } = records.RequestHeader.read(reader);
    const op = ops.operations.find(({ code }) => code === type)!;
    this.heard.push(op.name);
    if (op === ops.create as unknown) {
      const { path } = records.CreateRequest.read(reader);
      if (this.znodes.has(path)) return this.#reply(wire, xid, nodeExists);
      this.znodes.add(path);
      this.#zxid++;
      this.#reply(wire, xid, 0, records.PathResponse, { path });
    } else if (op === ops.exists as unknown) {
      const { path } = records.PathWatchRequest.read(reader);
      if (!this.znodes.has(path)) return this.#reply(wire, xid, noNode);
      this.#reply(wire, xid, 0, records.StatResponse, { stat: stat(0) });
    } else if (op === ops.getData as unknown) {
      const data = new Uint8Array(this.dataLength);
      const reply = { data, stat: stat(data.length) };
      this.#reply(wire, xid, 0, records.GetDataResponse, reply);
    } else this.#reply(wire, xid, 0);
    if (op === ops.closeSession as unknown) this.#close(wire);
  }

  #close(wire: Wire): void {
    for (const [id, wires] of this.#sessions) {
      if (!wires.has(wire)) continue;
      this.#sessions.delete(id);
      for (const each of wires) each.finish();
    }
  }

  #reply<T>(wire: Wire, xid: number, err: number, type?: Type<T>, reply?: T) {
    wire.write(framed((to) => {
      records.ReplyHeader.write(to, { xid, zxid: this.#zxid, err });
      type?.write(to, reply!);
    }));
  }
}

function stat(dataLength: number): Stat {
  return {
    czxid: 1n,
    mzxid: 1n,
    ctime: 0n,
    mtime: 0n,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: 0n,
    dataLength,
    numChildren: 0,
    pzxid: 1n,
  };
}
