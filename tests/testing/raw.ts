// A server on virtual time and in memory, and a client of it that says any bytes and keeps what comes back.
// Knows frames, and the first of them; what is in them is up to the test.
// Used by the tests of testing/.

import { noPassword } from "../../protocol/handshake.ts";
import { Reader } from "../../protocol/jute.ts";
import type { Operation } from "../../protocol/operations.ts";
import * as r from "../../protocol/records.ts";
import {
  type Client,
  connect,
  type ConnectOptions,
} from "../../protocol/mod.ts";
import type { Socket } from "../../protocol/transport/mod.ts";
import {
  TestServer,
  type TestServerOptions,
  VirtualClock,
} from "../../testing/mod.ts";
import { framed, type Hello, joined } from "../protocol/wire.ts";

/** A server in memory. */
export class Stage implements AsyncDisposable {
  readonly clock: VirtualClock;
  readonly server: TestServer;
  readonly #clients: Client[] = [];

  private constructor(clock: VirtualClock, server: TestServer) {
    this.clock = clock;
    this.server = server;
  }

  static async start(options: TestServerOptions = {}): Promise<Stage> {
    const clock = new VirtualClock();
    const always = { environment: clock, listen: false };
    return new Stage(clock, await TestServer.start({ ...options, ...always }));
  }

  /** A connection on which nothing was said yet. */
  async raw(): Promise<Raw> {
    const raw = new Raw(this.clock);
    raw.socket = await this.clock.until(this.server.transport({
      host: "embedded",
      port: 0,
      signal: new AbortController().signal,
    }, raw.handlers));
    return raw;
  }

  /** A connection that has shaken hands. */
  async attached(hello: Partial<Hello> = {}): Promise<Raw> {
    const raw = await this.raw();
    const [answer] = await raw.say(helloFrame(hello));
    raw.welcome = r.ConnectResponse.read(new Reader(answer.subarray(4)));
    return raw;
  }

  /** A real client, connected. */
  async client(options: ConnectOptions = {}): Promise<Client> {
    const zk = await this.clock.until(this.connecting(options));
    this.#clients.push(zk);
    return zk;
  }

  /** A real client that may not be connected. */
  connecting(options: ConnectOptions = {}): Promise<Client> {
    return connect(this.server.servers, {
      environment: this.clock,
      transport: this.server.transport,
      ...options,
    });
  }

  /** What becomes of a promise while time passes: its value, or the name or code of its error. */
  async outcome(promise: Promise<unknown>): Promise<unknown> {
    try {
      return await this.clock.until(promise);
    } catch (error) {
      return (error as { code?: string }).code ?? error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.heal();
    for (const zk of this.#clients) await this.clock.until(zk.close());
    await this.clock.until(this.server.close().catch(() => {}));
  }
}

/** What a server answers to a hello. */
export type Welcome = ReturnType<typeof r.ConnectResponse.read>;

/** One connection. */
export class Raw {
  socket!: Socket;
  welcome!: Welcome;
  isClosed = false;
  #heard: Uint8Array = new Uint8Array(0);
  #xid = 0;
  readonly #clock: VirtualClock;
  readonly handlers = {
    data: (bytes: Uint8Array) => {
      this.#heard = joined(this.#heard, bytes);
    },
    close: () => {
      this.isClosed = true;
    },
  };

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** Says something; answers the whole frames that come within a ms, with their lengths. */
  async say(...parts: Uint8Array[]): Promise<Uint8Array[]> {
    for (const part of parts) this.socket.write(part);
    await this.#clock.pass(1);
    return this.frames();
  }

  /** Asks for something; answers the error of the reply, or what came instead. */
  async ask<Q>(op: Operation<Q>, request: Q): Promise<number | string> {
    const xid = ++this.#xid;
    const frames = await this.say(requestFrame(xid, op, request));
    for (const frame of frames) {
      const header = r.ReplyHeader.read(new Reader(frame.subarray(4)));
      if (header.xid === xid) return header.err;
    }
    return this.isClosed ? "closed" : "silence";
  }

  /** Whole frames that came and were not asked for yet. */
  frames(): Uint8Array[] {
    const frames: Uint8Array[] = [];
    for (let heard = this.#heard; heard.length >= 4;) {
      const end = 4 + new DataView(heard.buffer, heard.byteOffset).getInt32(0);
      if (end > heard.length) break;
      frames.push(heard.slice(0, end));
      this.#heard = heard = heard.subarray(end);
    }
    return frames;
  }

  /** Whatever came, as it came. */
  text(): string {
    const text = new TextDecoder().decode(this.#heard);
    this.#heard = new Uint8Array(0);
    return text;
  }

  close(): void {
    this.socket.close();
  }
}

/** The first packet of a client. */
export function helloFrame(hello: Partial<Hello> = {}): Uint8Array {
  return framed((to) =>
    r.ConnectRequest.write(to, {
      protocolVersion: 0,
      lastZxidSeen: 0n,
      timeOut: 10_000,
      sessionId: 0n,
      passwd: noPassword,
      readOnly: false,
      ...hello,
    })
  );
}

export function requestFrame<Q>(
  xid: number,
  op: Operation<Q>,
  request: Q,
): Uint8Array {
  return framed((to) => {
    r.RequestHeader.write(to, { xid, type: op.code });
    op.request.write(to, request);
  });
}
