// What a client tells of itself: its sessions, their states, and warnings.
// Types only, no behaviour.
// Told by session.ts and sessions.ts, exported by mod.ts.

/**
 * Where a session stands. "expired", "auth-failed" and "closed" are for ever;
 * after "disconnected" it may be connected again.
 */
export type SessionState =
  | "connecting"
  | "connected"
  | "connected-read-only"
  | "disconnected"
  | "expired"
  | "auth-failed"
  | "closed";

/** One session of a client with its ensemble. A new session is a new object. */
export interface Session {
  /** The id the ensemble gave it; 0n before that. */
  readonly id: bigint;
  /** The timeout the server granted, in ms; before that, the one asked for. */
  readonly timeout: number;
  /** Where it stands now. */
  readonly state: SessionState;
  /**
   * Aborts once this session can never come back, with a SessionExpiredError,
   * ClientClosedError or AuthFailedError.
   */
  readonly signal: AbortSignal;
}

/** A session went from one state to another. */
export interface StateChange {
  /** The state it is in now. */
  state: SessionState;
  /** The session it is about; after "expired" `client.session` is a new one already. */
  session: Session;
  /** Why, where there is a reason. */
  cause?: Error;
}

/** Something a person should know of, but no call can report. */
export interface Warning {
  /**
   * - `watcher-threw`, `listener-threw`: a function of yours; `cause` has the error.
   * - `foreign-child`: a lock's directory holds a znode that is no contender.
   * - `foreign-contender`: we wait behind a znode that no known client made, or for one that is no lock.
   * - `requeued`: a waiter lost its place and entered the queue again.
   * - `sequence-health`: a lock's directory has used up most of its numbers.
   * - `fence-missing`: somebody deleted the fence of an exclusive lock.
   * - `orphan`: a znode of ours cannot be deleted; it stays until the session ends.
   * - `tls-failed`: a server cannot be connected to by TLS; `cause` is the TlsError. The client goes on trying.
   */
  kind:
    | "watcher-threw"
    | "listener-threw"
    | "foreign-child"
    | "foreign-contender"
    | "requeued"
    | "sequence-health"
    | "fence-missing"
    | "orphan"
    | "tls-failed";
  /** What happened, for people. */
  message: string;
  /** The path it is about, if any. */
  path?: string;
  /** The error behind it, if any. */
  cause?: unknown;
}
