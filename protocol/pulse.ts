// When to ping, when a server is dead, when a session is: everything a session knows about time.
// Reads no clock and sets no timer: moments come in, verdicts go out.
// Kept by session.ts; lock/ asks it when frames left.

import { elapsed, type Moment, SentTimes } from "./moment.ts";
import type { Pending } from "./requests.ts";

/** What is to be done now: nothing, ping, or give the connection up. */
export type Verdict = "alive" | "ping" | "silent" | "late";

/** Silence after which a connection, and a session, is given up, in timeouts. */
const deadPeer = 2 / 3;
const deadSession = 4 / 3;
/** A frame leaves at least this often, in timeouts; counted from the last one sent, whatever comes in (kazoo#633). */
const pingEvery = 1 / 3;

/** The timing of one session. All times are ms. */
export class Pulse {
  /** The timeout granted, or asked for as long as there is none. */
  timeout: number;
  readonly #times = new SentTimes();
  #timed: Pending[] = [];
  #heard: Moment | undefined;
  #lastSent: Moment | undefined;
  #hello: Moment | undefined;
  #attachedAt: Moment | undefined;
  #partial = false;
  #planned: number | undefined;
  #grace: number | undefined;

  constructor(timeout: number) {
    this.timeout = timeout;
  }

  /**
   * When the connect request of the current connection left, once it was
   * granted: the ensemble counted the session's timeout from then or later.
   */
  get attachedAt(): Moment | undefined {
    return this.#attachedAt;
  }

  /** The newest frame known to have left on the current connection strictly before `mono`. */
  sentBefore(mono: number): Moment | undefined {
    return this.#times.before(mono);
  }

  /** A connection stands. */
  opened(): void {
    this.#times.reset();
    this.#hello = undefined;
  }

  /** Bytes leave now. Answers when to look again, if that may be earlier than planned. */
  sent(now: Moment): number | undefined {
    this.#hello ??= now;
    this.#lastSent = now;
    this.#times.add(now);
    let wake: number | undefined;
    for (const pending of this.#timed) {
      pending.sentAt = now.mono;
      const due = now.mono + pending.request.answerWithin!;
      wake = Math.min(wake ?? due, due);
    }
    this.#timed = [];
    return wake;
  }

  /** The server granted the session. */
  attached(timeout: number, now: Moment): void {
    this.timeout = timeout;
    this.#times.thinTo(timeout / 64);
    this.#attachedAt = this.#hello;
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

  /** The request that waits for its reply within a time is about to leave. */
  timed(pending: Pending): void {
    this.#timed.push(pending);
  }

  /** True once no server can have heard of us for so long that the session must be gone. */
  expired(now: Moment): boolean {
    return this.#heard !== undefined &&
      elapsed(this.#heard, now) >= deadSession * this.timeout;
  }

  /** When expired() will be true, if nothing is heard until then. Monotonic. */
  get expiresAt(): number | undefined {
    return this.#heard && this.#heard.mono + deadSession * this.timeout;
  }

  /** What to do, on a connection that is attached. `first` is the oldest request without a reply. */
  check(now: Moment, first: Pending | undefined): Verdict {
    const silent = elapsed(this.#heard!, now) >= deadPeer * this.timeout;
    const due = this.#answerDue(first);
    const late = due !== undefined && now.mono >= due;
    if (silent || late) {
      if (this.#grace === undefined && this.#excused(now)) {
        this.#grace = now.mono + Math.min(1000, this.timeout / 10);
        return "ping";
      }
      if (this.#grace !== undefined && now.mono < this.#grace) return "alive";
      return silent ? "silent" : "late";
    }
    const idle = now.mono - this.#lastSent!.mono;
    return idle >= pingEvery * this.timeout ? "ping" : "alive";
  }

  /** When to check again. Monotonic. */
  next(now: Moment, first: Pending | undefined): number {
    const ping = this.#lastSent!.mono + pingEvery * this.timeout;
    const times = [
      ping > now.mono ? ping : now.mono + pingEvery * this.timeout,
      this.#grace ?? this.#heard!.mono + deadPeer * this.timeout,
    ];
    const due = this.#answerDue(first);
    if (due !== undefined && this.#grace === undefined) times.push(due);
    return this.#planned = Math.min(...times);
  }

  /** When the oldest request must be answered, if it is one of those. Bytes of a reply that is coming in put it off. */
  #answerDue(first: Pending | undefined): number | undefined {
    const within = first?.request.answerWithin;
    if (within === undefined || first?.sentAt === undefined) return undefined;
    return within + Math.max(
      first.sentAt,
      first.headSince ?? first.sentAt,
      this.#partial ? this.#heard!.mono : first.sentAt,
    );
  }

  /**
   * After a stalled event loop, a sleep of the machine or a jump of the wall
   * clock, what the server sent may just not be read yet: worth a second look.
   */
  #excused(now: Moment): boolean {
    const tolerance = Math.max(50, this.timeout / 50);
    const stalled = now.mono - (this.#planned ?? now.mono);
    const jumped = elapsed(this.#heard!, now) - (now.mono - this.#heard!.mono);
    return stalled > tolerance || jumped > tolerance;
  }
}
