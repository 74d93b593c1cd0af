// Requests and replies of one session: kept while there is no connection, sent in order, matched in order.
// Knows no handshake, no timers and no I/O; says by flushSoon() that bytes are waiting.
// Kept by session.ts.

import { errorNumbers, specialXids } from "./codes.ts";
import {
  ConnectionLossError,
  type Outcome,
  ProtocolError,
  ServerError,
  SessionExpiredError,
  type ZooKeeperError,
} from "./errors.ts";
import type { Reader } from "./jute.ts";
import type { Moment } from "./moment.ts";
import { Outgoing } from "./outgoing.ts";
import { type Operation, ping, setWatches, setWatches2 } from "./operations.ts";
import type { Awaited, Pulse } from "./pulse.ts";
import { Fifo, type Pending, type Request } from "./requests.ts";
import type { Watches, WatchLists } from "./watches.ts";

const maxXid = 0x7fffffff;

/** The header of a reply. */
export interface Answer {
  xid: number;
  zxid: bigint;
  err: number;
}

/** Everything asked in one session and not answered yet. */
export class Exchange {
  /** Operations the server at the other end is known not to have. */
  unsupported: Set<number> = new Set();
  readonly #out = new Outgoing();
  readonly #pulse: Pulse;
  readonly #watches: Watches;
  readonly #flushSoon: () => void;
  #xid: number;
  /** Not sent yet, and how many of them nobody waits for any more. */
  readonly #queue = new Fifo<Pending>();
  #stale = 0;
  /** Sent, in the order in which the server must answer. */
  readonly #sent = new Fifo<Pending>();
  /** Those of them that want their answer within a time. */
  readonly #timed = new Fifo<Pending>();
  /** When the last reply came. */
  #answeredAt = 0;
  /** Pings have a lane of their own: their replies carry no number. Null for the session's own. */
  readonly #pings = new Fifo<Pending | null>();
  /** Sent on an earlier connection, to be sent again on the next. */
  #again: Pending[] = [];

  /** @param xid Number of the last request; the next gets this plus one. */
  constructor(
    xid: number,
    pulse: Pulse,
    watches: Watches,
    flushSoon: () => void,
  ) {
    this.#xid = xid;
    this.#pulse = pulse;
    this.#watches = watches;
    this.#flushSoon = flushSoon;
  }

  /** The oldest request that wants its answer within a time. */
  get awaited(): Awaited | undefined {
    const pending = this.#timed.first;
    return pending && { pending, answeredAt: this.#answeredAt };
  }

  /** Whether anything was asked that is not answered. */
  get isBusy(): boolean {
    return this.#sent.length + this.#again.length > 0 ||
      this.#queue.length > this.#stale;
  }

  /** The bytes of this turn. */
  get out(): Outgoing {
    return this.#out;
  }

  /** Sends a request now, or keeps it for resume(). Throws a RangeError if it is too large. */
  add(request: Request, now: boolean): Pending {
    const pending: Pending = { request, xid: 0, cancelled: false };
    if (now) this.send(pending);
    else {
      pending.encoded = this.#out.encode(request);
      this.#queue.push(pending);
    }
    return pending;
  }

  /** Nobody waits for this one any more. */
  cancel(pending: Pending): void {
    pending.cancelled = true;
    if (pending.encoded === undefined) return;
    pending.encoded = undefined;
    if (++this.#stale > 64 && this.#stale * 2 > this.#queue.length) {
      this.#queue.keep((p) => !p.cancelled);
      this.#stale = 0;
    }
  }

  /** Writes a request into the bytes of this turn. */
  send(pending: Pending): void {
    const { request, encoded, cancelled } = pending;
    if (cancelled) return;
    const { op } = request;
    if (this.unsupported.has(op.code)) {
      pending.cancelled = true;
      return request.reject(unsupported(request));
    }
    if (pending.xid !== 0) request.resend?.();
    pending.xid = op.xid ?? this.#nextXid();
    this.#out.request(pending.xid, op, encoded ?? request.body, request.path);
    pending.encoded = pending.sentAt = undefined;
    if (op.xid === specialXids.ping) this.#pings.push(pending);
    else this.#sent.push(pending);
    if (request.answerWithin !== undefined) {
      this.#timed.push(pending);
      this.#pulse.timed(pending);
    }
    this.#flushSoon();
  }

  /** Writes a request of the session's own; its answer is known by its reserved number. */
  write<Q>(op: Operation<Q> & { xid?: number }, body: Q): void {
    this.#out.request(op.xid!, op as Operation, body, null);
    this.#flushSoon();
  }

  /** Writes a request of the session's own that is numbered like any other, and answers its number. */
  numbered<Q, R>(op: Operation<Q, R>, body: Q): number {
    const xid = this.#nextXid();
    this.#out.request(xid, op as Operation, body, null);
    this.#flushSoon();
    return xid;
  }

  /** Pings in the session's own name. */
  ping(): void {
    this.#pings.push(null);
    this.write(ping, null);
  }

  /** Asks for watches that another connection had; zxid is the last transaction it saw. */
  restore(lists: WatchLists, relativeZxid: bigint): void {
    const body = {
      relativeZxid,
      dataWatches: lists.data,
      existWatches: lists.exist,
      childWatches: lists.child,
    };
    const persistentWatches = lists.persistent;
    const persistentRecursiveWatches = lists["persistent-recursive"];
    if (persistentWatches.length + persistentRecursiveWatches.length === 0) {
      return this.write(setWatches, body);
    }
    this.write(setWatches2, {
      ...body,
      persistentWatches,
      persistentRecursiveWatches,
    });
  }

  /**
   * A new connection is ready: what must go out again, marked requests first;
   * then what `first` asks for; then what was kept, in the order it was asked.
   */
  resume(first: () => void): void {
    const again = this.#again;
    const queue = this.#queue.drain();
    this.#again = [];
    this.#stale = 0;
    for (const p of again) if (p.request.resend) this.send(p);
    for (const p of again) if (!p.request.resend) this.send(p);
    first();
    for (const p of queue) this.send(p);
  }

  /**
   * An ordinary reply. The server answers in order, so it must be that of the
   * oldest request. Says if the reply is news about the session itself.
   */
  reply(
    { xid, zxid, err }: Answer,
    reader: Reader,
    now: Moment,
  ): "moved" | "expired" | undefined {
    const pending = this.#sent.first;
    if (pending?.xid !== xid) {
      if (this.#refusedEarly(xid, zxid, err)) return undefined;
      throw new ProtocolError(
        `Cannot match reply ${xid}: ` +
          (pending ? `${pending.xid} is next` : "nothing was asked"),
        0,
      );
    }
    if (err === errorNumbers.SessionMoved) return "moved";
    if (err === errorNumbers.SessionExpired) return "expired";
    const { request, cancelled } = pending;
    if (err === errorNumbers.Unimplemented) {
      this.unsupported.add(request.op.code);
    }
    const body = err === 0 ? this.#read(request, reader) : undefined;
    this.#shift();
    this.answered(now);
    if (cancelled) return undefined;
    if (err === 0) request.resolve(body, zxid);
    else request.reject(refused(request, err, zxid));
    this.#watch(request, err);
    return undefined;
  }

  /** A read-only server refuses writes at once, before it answers the reads that came first (measured). */
  #refusedEarly(xid: number, zxid: bigint, err: number): boolean {
    if (err !== errorNumbers.NotReadOnly) return false;
    const pending = this.#sent.take((p) => p.xid === xid);
    if (pending === undefined) return false;
    if (pending.request.answerWithin !== undefined) {
      this.#timed.take((p) => p === pending);
    }
    const { request, cancelled } = pending;
    if (!cancelled) request.reject(refused(request, err, zxid));
    return true;
  }

  #read(request: Request, reader: Reader): unknown {
    try {
      return request.op.reply.read(reader);
    } catch (error) {
      this.blame(error as Error);
      throw error;
    }
  }

  /** The server is done with something that was asked. */
  answered(now: Moment): void {
    this.#answeredAt = now.mono;
  }

  #shift(): void {
    if (this.#sent.shift() === this.#timed.first) this.#timed.shift();
  }

  /** The reply to a ping. */
  pong(zxid: bigint): void {
    const pending = this.#pings.shift();
    if (pending && !pending.cancelled) pending.request.resolve(null, zxid);
  }

  /**
   * The server sent what cannot be read, in answer to the oldest request. Asked
   * again it would only answer like that again (ZOOKEEPER-3593), so that request
   * ends here, unless it is a marked one.
   */
  blame(error: Error): void {
    const first = this.#sent.first;
    if (first === undefined || first.request.resend) return;
    this.#shift();
    if (!first.cancelled) first.request.reject(error);
  }

  /** The connection is gone: some go out again on the next, of the rest nobody knows whether they happened. */
  interrupt(cause: Error | undefined): void {
    this.#out.clear();
    this.#timed.drain();
    const pings = this.#pings.drain().filter((p) => p !== null);
    for (const pending of [...this.#sent.drain(), ...pings]) {
      const { request, cancelled } = pending;
      if (cancelled) continue;
      if (request.resend || request.op.repeatable) this.#again.push(pending);
      else {
        request.reject(
          new ConnectionLossError(request.op.name, request.path, "unknown", {
            cause,
          }),
        );
      }
    }
  }

  /** The session is over. */
  end(reason: ZooKeeperError, sessionId: bigint): void {
    const pings = this.#pings.drain().filter((p) => p !== null);
    const asked = [...this.#sent.drain(), ...pings, ...this.#again];
    const kept = this.#queue.drain();
    this.#again = [];
    this.#timed.drain();
    this.#out.clear();
    for (const p of asked) end(p, reason, sessionId, "unknown");
    for (const p of kept) end(p, reason, sessionId, "not-sent");
  }

  #nextXid(): number {
    return this.#xid = this.#xid >= maxXid ? 1 : this.#xid + 1;
  }

  /** In the same step as the reply: the event may be the very next packet. */
  #watch({ watch }: Request, err: number): void {
    const kind = watch?.kind(err);
    if (kind) this.#watches.add(kind, watch!.path, watch!.watcher);
  }
}

function end(
  { request, cancelled }: Pending,
  reason: ZooKeeperError,
  sessionId: bigint,
  outcome: Outcome,
): void {
  if (cancelled) return;
  request.reject(
    reason instanceof SessionExpiredError
      ? new SessionExpiredError(sessionId, outcome, { cause: reason })
      : reason,
  );
}

function refused(request: Request, number: number, zxid: bigint): ServerError {
  const { op, path } = request;
  return number === errorNumbers.Unimplemented
    ? unsupported(request)
    : new ServerError({ number, op: op.name, path, zxid });
}

function unsupported({ op, path }: Request): ServerError {
  const what = path === null ? op.name : `${op.name} ${path}`;
  return new ServerError(
    { number: errorNumbers.Unimplemented, op: op.name, path, zxid: null },
    `Cannot ${what}: the server does not support it, or not as it is ` +
      `set up; it came with ZooKeeper ${op.since}`,
  );
}
