// One connection of a client to the embedded server: packets in, packets out, in order.
// Knows the wire and whose turn it is; what a request does to the world is its backend's business.
// Made by server.ts and by ensembles for each connection they take.

import {
  errorNumbers as errors,
  eventTypes,
  type ServerEventType,
  specialXids,
} from "../protocol/codes.ts";
import { ProtocolError } from "../protocol/errors.ts";
import { Frames } from "../protocol/frames.ts";
import { noPassword } from "../protocol/handshake.ts";
import { Reader, type Writer } from "../protocol/jute.ts";
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
import { Desk, type Reply } from "./desk.ts";
import { JavaWriter } from "./java_writer.ts";
import { isWord, joined } from "./packets.ts";
import { digestIdentity, type Identity } from "./rights.ts";
import type { SaslExchange } from "./sasl.ts";
import type { ServerSession } from "./session_table.ts";
import type { Watcher } from "./watch_tables.ts";

/** Replies leave together, but not more than so many bytes. */
const longestBatch = 1024 * 1024;

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
  readonly #out = new JavaWriter();
  readonly #desk: Desk;
  /** Between hello and welcome: what comes behind is not looked at yet. */
  #isWaiting = false;
  #isReading = false;
  #isOver = false;
  #speaks: "packets" | undefined;
  #first: Uint8Array = new Uint8Array(0);
  #isGreeted = false;
  /** Whether the client's handshake had the byte that clients before 3.4 leave out. */
  #hasReadOnly = true;
  #helloVerdict: RequestVerdict = "serve";
  #exchange: SaslExchange | undefined;

  constructor(line: Line, backend: Backend, onlooker?: Onlooker) {
    this.line = line;
    this.#backend = backend;
    this.#onlooker = onlooker;
    this.#frames = new Frames(backend.maxPacket);
    this.#desk = new Desk(this, backend);
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

  /** Goes on with what was not served because the client did not read. */
  drained(): void {
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
    this.#isWaiting = false;
    this.#read();
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

  /** Sends the reply to a request. */
  answer(xid: number, op: ops.Operation, { zxid, err, body }: Reply): void {
    if (body === undefined) return this.#header(xid, zxid, err);
    this.#packet((to) => {
      records.ReplyHeader.write(to, { xid, zxid, err });
      op.reply.write(to, body);
    });
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
      while (!this.#isWaiting && !this.#isOver) {
        // A client that does not read is not served: what for, and where to put it?
        if (this.#out.length > longestBatch) this.#flush();
        if (this.line.isBehind?.()) break;
        const packet = this.#frames.next();
        if (packet === null) break;
        this.received++;
        this.#one(packet);
      }
    } catch (error) {
      // A length that cannot be: like a real server, hang up without a word.
      if (!(error instanceof ProtocolError)) throw error;
      this.finish();
    } finally {
      this.#isReading = false;
      this.#flush();
    }
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
    if (op.code === ops.sasl.code) return this.#sasl(xid, reader, verdict);
    if (this.#backend.isSaslRequired && !this.#hasProvedSasl) {
      this.#header(xid, 0n, errors.SessionClosedRequireSaslAuth);
      return this.finish();
    }
    this.#backend.touch(this);
    this.#desk.serve({ xid, op, verdict }, reader);
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
    this.#isWaiting = true;
    const verdict = this.#onlooker?.asked(this, "connect", 0, packet) ??
      "serve";
    this.#helloVerdict = verdict;
    const { profile } = this.#backend;
    const isIgnored = hello.passwd === null && hello.sessionId === 0n &&
      profile.isNullPasswordIgnored;
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
    // Whoever says ip has that identity already.
    if (scheme === "ip") return this.#header(specialXids.auth, 0n, 0);
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

  /** 3.4 hangs up on who cannot prove a user; others say so before. Without users a server answers null, and goes on (measured). */
  #sasl(xid: number, reader: Reader, verdict: RequestVerdict): void {
    const { profile, isSaslRequired } = this.#backend;
    const { token } = records.SaslToken.read(reader);
    const answer = (err: number, token: Uint8Array | null) => {
      if (verdict === "cut-after") return this.reset();
      if (verdict === "drop-reply") return;
      this.answer(xid, ops.sasl, { zxid: 0n, err, body: { token } });
    };
    this.#exchange ??= this.#backend.beginSasl?.() ?? undefined;
    if (this.#exchange === undefined) return answer(0, null);
    const outcome = typeof verdict === "number" || token === null
      ? "refused"
      : this.#exchange.take(token);
    if (outcome === "refused") {
      const usual = isSaslRequired
        ? errors.SessionClosedRequireSaslAuth
        : errors.AuthFailed;
      const err = typeof verdict === "number" ? verdict : usual;
      if (profile.version !== "3.4") answer(err, null);
      return this.finish();
    }
    if (outcome.user !== undefined) {
      this.identities.push({ scheme: "sasl", id: outcome.user });
    }
    answer(0, outcome.token);
  }

  get #hasProvedSasl(): boolean {
    return this.identities.some(({ scheme }) => scheme === "sasl");
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
