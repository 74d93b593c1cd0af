// The sessions a server knows, and until when.
// Pure: knows no connections and no clock but the times it is given.
// Used by engine.ts, and by an ensemble's leader.

/** A session as the server sees it. */
export interface ServerSession {
  readonly id: bigint;
  /** What proves to be its owner. */
  readonly password: Uint8Array;
  /** Granted at the latest handshake, in ms. */
  timeout: number;
  /** On the server's monotonic clock, in ms. */
  deadline: number;
}

/** Sessions by id. */
export class SessionTable {
  readonly #sessions = new Map<bigint, ServerSession>();
  readonly #tick: number;

  /** @param tick Ends of sessions are rounded up to multiples of so many ms. */
  constructor(tick: number) {
    this.#tick = tick;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** In the order in which they were opened. */
  list(): ServerSession[] {
    return [...this.#sessions.values()];
  }

  get(id: bigint): ServerSession | undefined {
    return this.#sessions.get(id);
  }

  /** The earliest deadline; Infinity if there is no session. */
  get nextDeadline(): number {
    let next = Infinity;
    for (const { deadline } of this.#sessions.values()) {
      if (deadline < next) next = deadline;
    }
    return next;
  }

  open(
    id: bigint,
    password: Uint8Array,
    timeout: number,
    now: number,
  ): ServerSession {
    const session = {
      id,
      password,
      timeout,
      deadline: this.#end(now, timeout),
    };
    this.#sessions.set(id, session);
    return session;
  }

  /** It is alive: its deadline moves on, never back. Answers whether it is known. */
  touch(id: bigint, now: number): boolean {
    const session = this.#sessions.get(id);
    if (session === undefined) return false;
    session.deadline = Math.max(
      session.deadline,
      this.#end(now, session.timeout),
    );
    return true;
  }

  /** Answers whether it was known. */
  close(id: bigint): boolean {
    return this.#sessions.delete(id);
  }

  /** Those whose deadline has come. */
  expired(now: number): ServerSession[] {
    return this.list().filter(({ deadline }) => deadline <= now);
  }

  /** Rounded up to the next tick, also if it is on one. Source: ExpiryQueue. */
  #end(now: number, timeout: number): number {
    return (Math.floor((now + timeout) / this.#tick) + 1) * this.#tick;
  }
}
