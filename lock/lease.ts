// How long may a lock be believed? One lease per client: heartbeat for all its holds, deadline, doubt.
// Knows no queue and no kind of lock: a hold is a list of checks and somebody to tell.
// Fed by enter.ts and seize.ts, asked by contend.ts, seize.ts and belief.ts before a grant, and by held_lock.ts after it.
//
// The leader of the ensemble alone decides when a session ends, by when it last
// heard of it, and it hears of a client only every half tick of its followers.
// So a follower's answer proves nothing by itself. A heartbeat is a write: once it
// is answered, follower and leader were in touch after it was sent, and what left
// this client more than half a tick before it has reached the leader. From then on
// the leader waits a whole timeout:
//
//   deadline = s + T - eps, where s is when the newest frame left that went out
//   more than tick/2 + 2 delta before a heartbeat that was answered, on one connection.
//
// delta bounds the delay of client to follower and follower to leader, eps the
// error of the clock's rate. "Last answer + T", as other clients have it, is up
// to several seconds too long when a follower dies or is cut off (measured).

import {
  type Client,
  ConnectionLossError,
  elapsed,
  type Internals,
  internalsOf,
  type Moment,
  momentOf,
  MultiError,
  type Op,
  type Session,
} from "../protocol/mod.ts";
import { answerTime, pauseTime } from "./patience.ts";

/** A lock that is held, as the lease sees it. */
export interface Hold {
  /** What is true as long as it is held; at least one. */
  readonly checks: readonly Op[];
  /** It is lost. */
  lose(cause: Error): void;
  /** Whether it is in doubt may have changed. */
  refresh(): void;
  /** A heartbeat goes out; what is asked now leaves in the same write. */
  beat(): void;
}

/** No multi has more checks than this, nor more characters of paths. */
const batch = { checks: 500, characters: 256 * 1024 };

const leases = new WeakMap<Client, Lease>();

/** The lease of a client. */
export function leaseOf(client: Client): Lease {
  let lease = leases.get(client);
  if (lease === undefined) leases.set(client, lease = new Lease(client));
  return lease;
}

/** What a client may believe about its session. All times are ms. */
export class Lease {
  readonly #client: Client;
  readonly #inside: Internals;
  readonly #holds = new Set<Hold>();
  /** What follows is about this session. */
  #session: Session | undefined;
  /** The smallest timeout the session was granted. */
  #timeout = Infinity;
  /** The deadline is one timeout after this, less the error of the clock. */
  #since: Moment | undefined;
  /** When the newest write was sent that has been answered. */
  #news: Moment | undefined;
  #doubt = false;
  #beating: { since: Moment; left: number } | undefined;
  #freshening = false;
  #nextBeat = 0;
  #soonestBeat = 0;
  #tick = 0;
  #timer: (() => void) | undefined;

  constructor(client: Client) {
    this.#client = client;
    this.#inside = internalsOf(client);
    this.#inside.onAttached(() => this.#beat());
    client.on("state", ({ session }) => {
      if (session === this.#session) this.#stateChanged();
    });
  }

  /** The time between heartbeats, in ms. */
  get period(): number {
    return this.#client.session.timeout / 6;
  }

  /**
   * Whether what remains lasts until heartbeats have moved the deadline on, so
   * that a hold that begins now is not lost for want of news that is on its way.
   */
  get lasting(): boolean {
    const { remaining } = this;
    const needed = Math.max(0, this.usefulIn) + this.#roundTrip();
    return remaining > Math.max(this.period, needed);
  }

  /**
   * How long until a heartbeat would move the deadline on; 0 or less for at once.
   * A frame that left after the one the deadline stands on must be older than
   * the gap.
   */
  get usefulIn(): number {
    this.#follow();
    const { mono } = this.#now();
    const since = this.#since?.mono ?? -Infinity;
    const next = this.#inside.sentAfter(since)?.mono ?? mono;
    return next + this.#gap() + 1 - mono;
  }

  /** For how long the session will certainly still exist; 0 or less if that is not certain. Read from the clock. */
  get remaining(): number {
    this.#follow();
    if (this.#since === undefined) return 0;
    const rateError = Math.max(50, this.#timeout / 50);
    return this.#timeout - rateError - elapsed(this.#since, this.#now());
  }

  /** True while it cannot be known whether the session still exists, though it may be believed. */
  get doubtful(): boolean {
    return this.#doubt || this.#client.session.state !== "connected";
  }

  /** Tells the ensemble's tickTime, for a tighter deadline. The largest one told counts. */
  useTick(tick: number): void {
    this.#tick = Math.max(this.#tick, tick);
  }

  /** A write of this session, sent at `since` or later, was answered. */
  committed(session: Session, since: Moment): void {
    this.#follow();
    if (session !== this.#session) return;
    const before = this.#inside.sentBefore(since.mono - this.#gap());
    if (before !== undefined) this.#consider(before);
    if (this.#news === undefined || this.#news.mono < since.mono) {
      this.#news = since;
    }
    if (this.#doubt && session.state === "connected") {
      this.#doubt = false;
      this.#refresh();
    }
  }

  /** One heartbeat, now. Rejects with what the server or the client says. */
  async renew(checks: readonly Op[]): Promise<void> {
    const { session } = this.#client;
    const since = this.#now();
    await this.#inside.multi(checks, { answerWithin: answerTime(session) });
    this.committed(session, since);
  }

  /** One heartbeat for all who wait, in the same write as what they ask now, unless there is fresh news. */
  freshen(checks: readonly Op[]): void {
    this.#follow();
    if (this.#freshening || this.#beating) return;
    if (this.#news && elapsed(this.#news, this.#now()) < this.period) return;
    this.#freshening = true;
    this.renew(checks).catch(() => {
      // Whoever waits learns from its listing what is wrong.
    }).finally(() => this.#freshening = false);
  }

  /** Begins to look after a hold. */
  add(hold: Hold): void {
    this.#follow();
    if (this.#holds.size === 0) {
      this.#nextBeat = this.#now().mono + this.period;
      this.#doubt = false;
    }
    this.#holds.add(hold);
    this.#plan();
  }

  /** Ends looking after a hold. */
  remove(hold: Hold): void {
    if (this.#holds.delete(hold) && this.#holds.size === 0) this.#plan();
  }

  // Inside

  #now(): Moment {
    return momentOf(this.#client.environment);
  }

  /** Half a tick of the server, within which it passes on whom it heard of, and the delays on the way. */
  #gap(): number {
    const { timeout } = this.#client.session;
    // By default a server grants no timeout below two ticks.
    const tick = this.#tick || timeout / 2;
    return tick / 2 + 2 * Math.max(25, timeout / 40);
  }

  /** The longest that a heartbeat takes, by the delays that are promised. */
  #roundTrip(): number {
    return Math.max(50, this.#client.session.timeout / 10);
  }

  /** Takes note of what the client has: a new session, of which nothing is known, or a new connection. */
  #follow(): void {
    const { session } = this.#client;
    if (session !== this.#session) this.#begin(session);
    const attachedAt = this.#inside.attachedAt();
    if (attachedAt === undefined) return;
    this.#timeout = Math.min(this.#timeout, session.timeout);
    // A read-only server has no leader to ask: it proves nothing.
    if (session.state === "connected") this.#consider(attachedAt);
  }

  #begin(session: Session): void {
    this.#session = session;
    this.#timeout = Infinity;
    this.#since = this.#news = this.#beating = undefined;
    this.#doubt = false;
    session.signal.addEventListener("abort", () => {
      this.#loseAll(session.signal.reason);
    }, { once: true });
  }

  /** News only ever moves the deadline on. */
  #consider(since: Moment): void {
    const now = this.#now();
    if (
      this.#since === undefined ||
      elapsed(since, now) < elapsed(this.#since, now)
    ) this.#since = since;
  }

  #stateChanged(): void {
    if (this.#client.session.state === "connected") return;
    this.#doubt = this.#holds.size > 0;
    this.#beating = undefined;
    this.#refresh();
    this.#plan();
  }

  #refresh(): void {
    for (const hold of [...this.#holds]) hold.refresh();
  }

  #loseAll(cause: Error): void {
    for (const hold of [...this.#holds]) hold.lose(cause);
  }

  /** Sends a heartbeat for all holds, at most one at a time. */
  #beat(): void {
    this.#follow();
    if (this.#holds.size === 0 || this.#beating) return;
    if (this.#client.session.state !== "connected") return;
    const since = this.#now();
    this.#nextBeat = since.mono + this.period;
    // One that is refused at once must not be followed by the next at once.
    this.#soonestBeat = since.mono + pauseTime(this.#client.session);
    const batches = inBatches([...this.#holds]);
    const beating = this.#beating = { since, left: batches.length };
    for (const holds of batches) {
      this.#check(holds).finally(() => {
        if (--beating.left > 0 || this.#beating !== beating) return;
        this.#beating = undefined;
        this.#plan();
      });
    }
    for (const hold of [...this.#holds]) hold.beat();
    this.#plan();
  }

  /** One multi. A check that fails costs that hold; the others are asked again at once. */
  async #check(holds: readonly Hold[]): Promise<void> {
    const owners = holds.flatMap((hold) => hold.checks.map(() => hold));
    if (owners.length === 0) return;
    try {
      await this.renew(holds.flatMap((hold) => hold.checks));
    } catch (error) {
      // Anything else is news about the connection, which is told elsewhere.
      if (!(error instanceof MultiError)) return;
      const gone = owners[error.index];
      gone.lose(error);
      const left = holds.filter((hold) =>
        hold !== gone && this.#holds.has(hold)
      );
      await this.#check(left);
    }
  }

  /** Looks at the clock. */
  #look(): void {
    this.#timer = undefined;
    const { mono } = this.#now();
    if (this.remaining <= 0) return this.#loseAll(overdue());
    if (this.#beating === undefined) {
      if (mono >= this.#beatAt()) this.#beat();
    } else if (!this.#doubt && mono >= this.#lateAt()) {
      this.#doubt = true;
      this.#refresh();
    }
    // Whatever happened: without a timer nobody would notice the deadline.
    this.#plan();
  }

  #lateAt(): number {
    return this.#beating!.since.mono + answerTime(this.#client.session);
  }

  /** After a period; earlier if the deadline is near and a heartbeat would move it. */
  #beatAt(): number {
    const { mono } = this.#now();
    const spare = this.remaining - (this.#nextBeat - mono);
    if (spare >= this.period + this.#roundTrip()) return this.#nextBeat;
    const useful = mono + Math.max(0, this.usefulIn);
    return Math.min(this.#nextBeat, Math.max(useful, this.#soonestBeat));
  }

  #plan(): void {
    this.#timer?.();
    this.#timer = undefined;
    if (this.#holds.size === 0) return;
    const now = this.#now();
    // At least once a period, also without a connection: the machine may sleep,
    // or somebody set its clock, and no timer would notice.
    let next = now.mono + Math.min(Math.max(0, this.remaining), this.period);
    if (this.#client.session.state === "connected") {
      if (this.#beating === undefined) next = Math.min(next, this.#beatAt());
      else if (!this.#doubt) next = Math.min(next, this.#lateAt());
    }
    this.#lookIn(Math.max(0, Math.ceil(next - now.mono)));
    // The process may have stood still since it looked at the clock: then the
    // timer is as late as that, and the deadline may be over (found by simulation).
    if (elapsed(now, this.#now()) > 1) this.#lookIn(0);
  }

  #lookIn(ms: number): void {
    this.#timer?.();
    const { environment } = this.#client;
    this.#timer = environment.after(ms, () => this.#look(), false);
  }
}

function inBatches(holds: readonly Hold[]): Hold[][] {
  const batches: Hold[][] = [];
  let [checks, characters] = [Infinity, 0];
  for (const hold of holds) {
    const paths = hold.checks.map(({ path }) => path.length);
    const length = paths.reduce((sum, one) => sum + one, 0);
    checks += paths.length;
    characters += length;
    if (checks > batch.checks || characters > batch.characters) {
      batches.push([]);
      [checks, characters] = [paths.length, length];
    }
    batches.at(-1)!.push(hold);
  }
  return batches;
}

/** Why a hold is lost by the clock. */
export function overdue(): ConnectionLossError {
  return new ConnectionLossError("heartbeat", null, "unknown", {
    message: "No heartbeat was confirmed in time",
  });
}
