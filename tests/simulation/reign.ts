// What a leader knows for as long as it leads: the tree as it decided on it, sessions, and whose client is where.
// Knows no messages and no agreement; begins anew, from a log, with each leader.
// Kept by ensemble.ts.

import { Ledger, Replica } from "../../testing/ledger.ts";
import { profiles } from "../../testing/profiles.ts";
import {
  type ServerSession,
  SessionTable,
} from "../../testing/session_table.ts";
import type { Entry, Member } from "./member.ts";

const rules = { ...profiles["3.8"], hasTtls: true, hasReconfig: false };

/** All sessions there ever were, as they were last granted. */
export type Known = Map<bigint, ServerSession>;

/** The knowledge of a leader. */
export class Reign {
  readonly head: Replica = new Replica(profiles["3.8"]);
  readonly ledger: Ledger;
  readonly sessions: SessionTable;
  /** The member that each session's client is connected to. */
  readonly owners: Map<bigint, Member> = new Map();
  readonly #known: Known;

  /** It knows what is in its log; sessions get their whole timeout again, from now on. */
  constructor(
    { epoch, now, tick, known }: {
      epoch: bigint;
      now: number;
      /** Ends of sessions are rounded up to it. */
      tick: number;
      known: Known;
    },
    log: readonly Entry[],
  ) {
    this.#known = known;
    this.sessions = new SessionTable(tick);
    for (const { transaction } of log) {
      this.head.apply(transaction);
      const { opens, closes } = transaction;
      if (closes !== undefined) this.sessions.close(closes);
      if (opens !== undefined) this.#open(known.get(opens)!, now);
    }
    this.ledger = new Ledger(this.head.tree, rules);
    this.ledger.skipTo(epoch << 32n);
  }

  /** A new session, at this member. */
  open(
    session: Omit<ServerSession, "deadline">,
    member: Member,
    now: number,
  ): void {
    this.#open(session, now);
    this.owners.set(session.id, member);
  }

  /** The session, if it lives and the password is right; it belongs to this member from now on. */
  revalidate(
    { id, password, timeout }: {
      id: bigint;
      password: Uint8Array | null;
      timeout: number;
    },
    member: Member,
    now: number,
  ): ServerSession | undefined {
    const session = this.sessions.get(id);
    const isRight = session?.password.every((byte, i) =>
      byte === password?.[i]
    );
    if (!session || !isRight) return undefined;
    session.timeout = timeout;
    this.sessions.touch(id, now);
    this.owners.set(id, member);
    return session;
  }

  #open(
    { id, password, timeout }: Omit<ServerSession, "deadline">,
    now: number,
  ) {
    this.#known.set(id, this.sessions.open(id, password, timeout, now));
  }
}
