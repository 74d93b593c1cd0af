// One connection of a client to the embedded server: packets in, packets out, in order.
// Knows the wire and whose turn it is; what a request does to the world is its backend's business.
// Made by server.ts and by ensembles for each connection they take.

import {
  errorNumbers as errors,
  eventTypes,
  type ServerEventType,
  specialXids,
} from "../protocol/codes.ts";
import { Frames } from "../protocol/frames.ts";
import { noPassword } from "../protocol/handshake.ts";
import { Reader, Writer } from "../protocol/jute.ts";
import * as ops from "../protocol/operations.ts";
import * as records from "../protocol/records.ts";
import type {
  Backend,
  Hello,
  Intake,
  Line,
  Onlooker,
  RequestVerdict,
} from "./backend.ts";
import { isWord, joined } from "./packets.ts";
import { Refusal, writeCodes } from "./plan.ts";
import { digestIdentity, type Identity } from "./rights.ts";
import type { ServerSession } from "./session_table.ts";
import type { Watcher } from "./watch_tables.ts";

interface Ask {
  xid: number;
  op: ops.Operation;
  verdict: RequestVerdict;
}

/** A connection. */
export class Peer implements Intake, Watcher {
  readonly line: Line;
  readonly identities: Identity[];
  session = 0n;
  received = 0;
  sent = 0;
  readonly #backend: Backend;
  readonly #onlooker: Onlooker | undefined;
  readonly #frames: Frames;
  readonly #out = new Writer();
  /** Between reading a request and its reply: those behind it wait. */
  #isBusy = false;
  #isReading = false;
  #isOver = false;
  #speaks: "packets" | undefined;
  #first: Uint8Array = new Uint8Array(0);
  #isGreeted = false;
  /** Whether the client's handshake had the byte that clients before 3.4 leave out. */
  #hasReadOnly = true;
  #helloVerdict: RequestVerdict = "serve";

  constructor(line: Line, backend: Backend, onlooker?: Onlooker) {
    this.line = line;
    this.#backend = backend;
    this.#onlooker = onlooker;
    this.#frames = new Frames(backend.maxPacket);
    this.identities = [{ scheme: "ip", id: line.remote }];
  }

  /** Whether it has said hello and was let in. */
  get isAttached(): boolean {
    return this.session !== 0n && !this.#isOver;
  }

  // From the client

  /** Bytes came. */
  take(chunk: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#speaks === undefined) {
      this.#first = chunk = joined(this.#first, chunk);
      if (chunk.length < 4) return;
      if (isWord(chunk)) return this.#word(chunk);
      this.#speaks = "packets";
    }
    this.#frames.push(chunk);
    this.#read();
  }

  /** The client is gone, or said that it will say no more. */
  hungUp(): void {
    if (this.#isOver) return;
    this.line.finish();
    this.#over();
  }

  // From the backend

  /** Lets the client in. */
  welcome({ id, timeout, password }: ServerSession, readOnly = false): void {
    if (this.#isOver) return;
    this.session = id;
    this.#greet({
      timeOut: timeout,
      sessionId: id,
      passwd: password,
      readOnly,
    });
    this.#continue();
  }

  /** Tells the client that its session is over, or never was. */
  refuse(): void {
    if (this.#isOver) return;
    this.#greet({
      timeOut: 0,
      sessionId: 0n,
      passwd: noPassword,
      readOnly: false,
    });
    this.finish();
  }

  /** Hangs up, behind what was written. */
  finish(): void {
    if (this.#isOver) return;
    this.#flush();
    this.line.finish();
    this.#over();
  }

  /** Hangs up without being polite. What was answered before is not lost. */
  reset(): void {
    if (this.#isOver) return;
    this.#flush();
    this.line.reset();
    this.#over();
  }

  /** Sends bytes that need not be packets. */
  send(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#flush();
    this.line.write(bytes);
  }

  event(type: ServerEventType, path: string, zxid: bigint): void {
    const { hasEventZxids } = this.#backend.profile;
    this.#packet((to) => {
      const at = hasEventZxids ? zxid : -1n;
      records.ReplyHeader.write(to, {
        xid: specialXids.event,
        zxid: at,
        err: 0,
      });
      const event = { type: eventTypes[type], state: 3, path };
      records.WatcherEvent.write(to, event);
    });
  }

  // Inside

  #word(chunk: Uint8Array): void {
    const word = String.fromCharCode(...chunk.subarray(0, 4));
    const text = this.#backend.word(word);
    if (text !== undefined) this.line.write(new TextEncoder().encode(text));
    this.finish();
  }

  /** Serves what has come, one after the other. */
  #read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (!this.#isBusy && !this.#isOver) {
        const packet = this.#frames.next();
        if (packet === null) break;
        this.received++;
        this.#one(packet);
      }
    } catch {
      // A length that cannot be: like a real server, hang up without a word.
      this.finish();
    } finally {
      this.#isReading = false;
      this.#flush();
    }
  }

  #continue(): void {
    this.#isBusy = false;
    this.#read();
  }

  #one(packet: Uint8Array): void {
    if (!this.#isGreeted) return this.#hello(packet);
    if (packet.length < 8) return this.finish();
    const reader = new Reader(packet);
    const { xid, type } = records.RequestHeader.read(reader);
    const { profile } = this.#backend;
    const op = ops.operationByCode.get(type);
    const verdict = this.#onlooker
      ?.asked(this, op?.name ?? `${type}`, xid, packet) ?? "serve";
    if (verdict === "ignore") return;
    if (verdict === "cut-before") return this.reset();
    const isUnknown = op === undefined || op.since > profile.version ||
      (op.code === ops.check.code && !profile.isCheckAnswered);
    if (isUnknown) {
      this.#header(xid, -1n, errors.Unimplemented);
      return this.finish();
    }
    if (op.code === ops.auth.code) return this.#auth(reader);
    this.#backend.touch(this);
    const ask = { xid, op, verdict };
    if (typeof verdict === "number") return this.#refuse(ask, verdict);
    this.#isBusy = true;
    this.#serve(ask, reader);
  }

  #hello(packet: Uint8Array): void {
    let hello: Hello;
    try {
      hello = records.ConnectRequest.read(new Reader(packet));
    } catch {
      return this.finish();
    }
    this.#isGreeted = true;
    this.#hasReadOnly = hello.readOnly !== undefined;
    this.#isBusy = true;
    const verdict = this.#onlooker?.asked(this, "connect", 0, packet) ??
      "serve";
    this.#helloVerdict = verdict;
    const { profile } = this.#backend;
    const isIgnored = hello.passwd === null && profile.isNullPasswordIgnored;
    if (isIgnored || verdict === "ignore") return;
    if (verdict === "cut-before" || typeof verdict === "number") {
      return this.reset();
    }
    if (this.#onlooker?.greet(this, hello)) return;
    this.#backend.hello(this, hello);
  }

  #greet(answer: {
    timeOut: number;
    sessionId: bigint;
    passwd: Uint8Array;
    readOnly: boolean;
  }): void {
    if (this.#helloVerdict === "cut-after") return this.reset();
    if (this.#helloVerdict === "drop-reply") return;
    const readOnly = this.#hasReadOnly ? answer.readOnly : undefined;
    const all = { ...answer, protocolVersion: 0, readOnly };
    this.#packet((to) => records.ConnectResponse.write(to, all));
  }

  #auth(reader: Reader): void {
    const { scheme, auth } = records.AuthPacket.read(reader);
    if (scheme !== "digest") {
      this.#header(specialXids.auth, 0n, errors.AuthFailed);
      return this.finish();
    }
    const credential = new TextDecoder().decode(
      auth ?? noPassword.subarray(0, 0),
    );
    const identity = digestIdentity(credential);
    const isNew = this.identities.every(({ id }) => id !== identity.id);
    if (isNew) this.identities.push(identity);
    this.#header(specialXids.auth, 0n, 0);
  }

  #serve(ask: Ask, reader: Reader): void {
    const { op } = ask;
    const backend = this.#backend;
    let request: unknown;
    try {
      request = op.request.read(reader);
    } catch {
      return this.#misread(ask);
    }
    switch (op.code) {
      case ops.ping.code:
        return this.#reply(
          { ...ask, xid: specialXids.ping },
          backend.zxid,
          null,
        );
      case ops.sync.code:
        return backend.sync(
          this,
          () => this.#reply(ask, backend.zxid, request),
        );
      case ops.closeSession.code:
        return backend.closeSession(this, ({ transaction: { zxid } }) => {
          this.#reply(ask, zxid, null);
          this.finish();
        });
      case ops.multi.code:
        return this.#multi(ask, request as readonly ops.Part[]);
      case ops.multiRead.code:
        return this.#multiRead(ask, request as readonly ops.Part[]);
    }
    if (writeCodes.has(op.code)) return this.#write(ask, request);
    try {
      const body = backend.answers.read(op.code, request, this);
      this.#reply(ask, backend.zxid, body);
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      this.#refuse(ask, refusal.number);
    }
  }

  #write(ask: Ask, request: unknown): void {
    const { code } = ask.op;
    this.#backend.write(
      this,
      [{ code, request }],
      ({ transaction, results }) => {
        const { zxid, refused } = transaction;
        if (refused) this.#refuse(ask, refused.number, zxid);
        else this.#reply(ask, zxid, results[0]);
      },
    );
  }

  #multi(ask: Ask, parts: readonly ops.Part[]): void {
    if (parts.some(({ operation }) => !writeCodes.has(operation.code))) {
      return this.#misread(ask);
    }
    const list = parts.map(({ operation: { code }, request }) => ({
      code,
      request,
    }));
    this.#backend.write(this, list, ({ transaction, results }) => {
      const { zxid, refused } = transaction;
      const { answers } = this.#backend;
      const body = refused
        ? answers.wroteNone(parts, refused)
        : answers.wroteAll(parts, results);
      this.#reply(ask, zxid, body);
    });
  }

  #multiRead(ask: Ask, parts: readonly ops.Part[]): void {
    const { answers, zxid } = this.#backend;
    if (parts.some(({ operation }) => writeCodes.has(operation.code))) {
      return this.#refuse(ask, errors.MarshallingError);
    }
    this.#reply(ask, zxid, answers.readAll(parts, this));
  }

  /** A request that cannot be read: a write takes its place in the history all the same. */
  #misread(ask: Ask): void {
    const { code } = ask.op;
    const number = errors.MarshallingError;
    if (!writeCodes.has(code) && code !== ops.multi.code) {
      return this.#refuse(ask, number);
    }
    this.#backend.write(
      this,
      new Refusal(number),
      ({ transaction: { zxid } }) => this.#refuse(ask, number, zxid),
    );
  }

  #refuse(ask: Ask, err: number, zxid = this.#backend.zxid): void {
    this.#answer(ask, () => this.#header(ask.xid, zxid, err));
  }

  #reply(ask: Ask, zxid: bigint, body: unknown): void {
    this.#answer(ask, () =>
      this.#packet((to) => {
        records.ReplyHeader.write(to, { xid: ask.xid, zxid, err: 0 });
        ask.op.reply.write(to, body);
      }));
  }

  /** Answers, unless somebody interferes, and goes on with the next request. */
  #answer({ verdict }: Ask, write: () => void): void {
    if (this.#isOver) return;
    if (verdict === "cut-after") return this.reset();
    if (verdict !== "drop-reply") write();
    this.#continue();
  }

  #header(xid: number, zxid: bigint, err: number): void {
    this.#packet((to) => records.ReplyHeader.write(to, { xid, zxid, err }));
  }

  /** Adds a packet; it leaves at the end of what is being read now, or at once. */
  #packet(write: (to: Writer) => void): void {
    if (this.#isOver) return;
    const start = this.#out.length;
    this.#out.int(0);
    write(this.#out);
    this.#out.patchInt(start, this.#out.length - start - 4);
    this.sent++;
    if (!this.#isReading) this.#flush();
  }

  #flush(): void {
    if (this.#isOver || this.#out.length === 0) return;
    const bytes = this.#out.copy();
    this.#out.truncate(0);
    this.line.write(bytes);
  }

  #over(): void {
    this.#isOver = true;
    this.#backend.left(this);
  }
}
