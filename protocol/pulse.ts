// When to ping, when a server is dead, when a session is: everything a session knows about time.
// Reads no clock and sets no timer: moments come in, verdicts go out.
// Kept by session.ts, told by exchange.ts; lock/ asks it when frames left.

import { ConnectionLossError } from "./errors.ts";
import { type Moment, SentTimes } from "./moment.ts";
import type { Pending } from "./requests.ts";

/** A request with a time for its answer, and since when nothing else was answered before it. */
export interface Awaited {
  readonly pending: Pending;
  /** When the last reply came; monotonic ms. */
  readonly answeredAt: number;
}

/** What is to be done now: nothing, ping, or give the connection up. */
export type Verdict = "alive" | "ping" | "silent" | "late";

/** Silence after which a connection, and a session, is given up, in timeouts. */
const deadPeer = 2 / 3;
const deadSession = 4 / 3;
/** A frame leaves at least this often, in timeouts; counted from the last one sent, whatever comes in (kazoo#633). */
const pingEvery = 1 / 3;

/** For how long whoever leaves waits for the server to confirm it, in ms. */
export function goodbye(timeout: number): number {
  return Math.min(timeout / 3, 5000);
}

/** The timing of one session. All times are ms. */
export class Pulse {
  /** The timeout granted, or asked for as long as there is none. */
  timeout: number;
  readonly #times = new SentTimes();
  /** Requests with a time for their answer that are about to leave. */
  #timed: Pending[] = [];
  #heard: Moment | undefined;
  #lastSent: Moment | undefined;
  #hello: Moment | undefined;
  #attachedAt: Moment | undefined;
  #partial = false;
  /** When we asked to be woken. */
  #planned = Infinity;
  /** Until when nothing is given up, although it is due. */
  #grace: number | undefined;

  constructor(timeout: number) {
    this.timeout = timeout;
  }

  /**
   * When the connect request of the current connection left, once it was
   * granted: the ensemble counted the session's timeout from then or later,
   * unless the server is a read-only one, which is cut off from it.
   */
  get attachedAt(): Moment | undefined {
    return this.#attachedAt;
  }

  /** The newest frame known to have left on the current connection strictly before `mono`. */
  sentBefore(mono: number): Moment | undefined {
    return this.#times.before(mono);
  }

  /** The oldest frame known to have left on the current connection strictly after `mono`. */
  sentAfter(mono: number): Moment | undefined {
    return this.#times.after(mono);
  }

  /** A connection stands. */
  opened(): void {
    this.#times.reset();
    this.#hello = undefined;
  }

  /** Bytes leave now. Answers when to look again, if that is earlier than planned. */
  sent(now: Moment): number | undefined {
    this.#hello ??= now;
    this.#lastSent = now;
    this.#times.add(now);
    if (this.#timed.length === 0) return undefined;
    const within = this.#timed.map(({ request }) => request.answerWithin!);
    for (const pending of this.#timed) pending.sentAt = now.mono;
    this.#timed = [];
    return this.#plan(now.mono + Math.min(...within));
  }

  /** The server granted the session. */
  attached(timeout: number, now: Moment): void {
    this.timeout = timeout;
    this.#times.thinTo(timeout / 64);
    this.#attachedAt = this.#hello;
    this.#planned = Infinity;
    this.heard(now);
  }

  /** Bytes came in. */
  heard(now: Moment): void {
    this.#heard = now;
    this.#grace = undefined;
  }

  /** Whether a packet has begun to come in and is not complete. */
  partial(begun: boolean): void {
    this.#partial = begun;
  }

  /** The connection is gone. */
  lost(): void {
    this.#attachedAt = undefined;
    this.#timed = [];
    this.#partial = false;
    this.#grace = undefined;
  }

  /** A request that wants its answer within a time is about to leave. */
  timed(pending: Pending): void {
    this.#timed.push(pending);
  }

  /** True once no server can have heard of us for so long that the session must be gone. */
  expired(now: Moment): boolean {
    return this.#silentFor(deadSession, now);
  }

  /** When expired() will be true, if nothing is heard until then; undefined if there is no session yet. Monotonic. */
  get expiresAt(): number | undefined {
    return this.#heard && this.#heard.mono + deadSession * this.timeout;
  }

  /** What to do, on a connection that is attached. */
  check(now: Moment, awaited: Awaited | undefined): Verdict {
    const silent = this.#silentFor(deadPeer, now);
    const late = now.mono >= this.#answerDue(awaited);
    if (silent || late) {
      if (this.#grace === undefined && this.#excused(now)) {
        this.#grace = now.mono + Math.min(1000, this.timeout / 10);
        return "ping";
      }
      if (this.#grace !== undefined && now.mono < this.#grace) return "alive";
      return silent ? "silent" : "late";
    }
    return now.mono >= this.#pingDue() ? "ping" : "alive";
  }

  /** When to check again, after a check() whose verdict was followed. Monotonic. */
  next(now: Moment, awaited: Awaited | undefined): number {
    const pinged = this.#pingDue() <= now.mono;
    const ping = pinged ? now.mono + pingEvery * this.timeout : this.#pingDue();
    const due = this.#grace ?? Math.min(
      this.#heard!.mono + deadPeer * this.timeout,
      this.#answerDue(awaited),
    );
    return this.#planned = Math.min(ping, due);
  }

  #plan(at: number): number {
    return this.#planned = Math.min(this.#planned, at);
  }

  #pingDue(): number {
    return this.#lastSent!.mono + pingEvery * this.timeout;
  }

  /** Compared the way it is planned: a sum of fractions is not a difference of sums. */
  #silentFor(timeouts: number, now: Moment): boolean {
    if (this.#heard === undefined) return false;
    const span = timeouts * this.timeout;
    return now.mono >= this.#heard.mono + span ||
      now.wall >= this.#heard.wall + span;
  }

  /**
   * When a reply must have come; never, if none is awaited. It need not be the
   * one to the awaited request: whatever holds the others up holds that up, too.
   * A reply that is coming in puts it off.
   */
  #answerDue(awaited: Awaited | undefined): number {
    const sentAt = awaited?.pending.sentAt;
    if (awaited === undefined || sentAt === undefined) return Infinity;
    return awaited.pending.request.answerWithin! + Math.max(
      sentAt,
      awaited.answeredAt,
      this.#partial ? this.#heard!.mono : sentAt,
    );
  }

  /**
   * After a stalled event loop, a sleep of the machine or a jump of the wall
   * clock, what the server sent may just not be read yet: worth a second look.
   */
  #excused(now: Moment): boolean {
    const tolerance = Math.max(50, this.timeout / 50);
    const { mono, wall } = this.#heard!;
    const jumped = (now.wall - wall) - (now.mono - mono);
    return now.mono - this.#planned > tolerance || jumped > tolerance;
  }
}

/** Why a connection is given up. */
export function givenUp(
  verdict: "silent" | "late",
  timeout: number,
): ConnectionLossError {
  const why = verdict === "late"
    ? "the server answers, but commits nothing"
    : `nothing heard for 2/3 of ${timeout} ms`;
  return new ConnectionLossError("ping", null, "unknown", {
    message: `Lost the connection: ${why}`,
  });
}
