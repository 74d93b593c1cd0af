// The last step before a grant: a session that has been quiet shows by a heartbeat that it lives.
// Knows no queue and no kind of lock.
// Used by contend.ts, seize.ts and resume.ts.

import { codeOf, MultiError, type Op, type Session } from "../protocol/mod.ts";
import { LockLostError } from "./errors.ts";
import type { Tenure } from "./held_lock.ts";
import { leaseOf } from "./lease.ts";
import { passing, pauseTime } from "./patience.ts";
import type { Turn } from "./turn.ts";

/**
 * One heartbeat with these checks as soon as it moves the deadline on, unless
 * nobody waits any more. Whether it was confirmed shows in the lease. Rejects
 * with a MultiError if a check fails, with the session's end, or a ServerError.
 */
export async function strengthen(
  turn: Turn,
  session: Session,
  checks: readonly Op[],
): Promise<void> {
  const lease = leaseOf(turn.client);
  await turn.rest(lease.usefulIn);
  if (turn.over) return;
  // The lease may be that of another session by now.
  session.signal.throwIfAborted();
  try {
    await lease.renew(checks);
  } catch (error) {
    if (passing(error)) await turn.rest(pauseTime(session));
    else if (codeOf(error) !== "ConnectionLoss") throw error;
  }
}

/**
 * Until the session is connected and certainly lives for a while yet, or nobody
 * waits any more. Rejects with a LockLostError if what is to be held is gone.
 */
export async function believe(
  turn: Turn,
  session: Session,
  { path, token, checks }: Tenure,
): Promise<void> {
  const lease = leaseOf(turn.client);
  for (;;) {
    while (!turn.ready(session)) await turn.sleep();
    session.signal.throwIfAborted();
    if (turn.over || lease.lasting) return;
    try {
      await strengthen(turn, session, checks);
    } catch (error) {
      if (!(error instanceof MultiError)) throw error;
      throw new LockLostError(path, token, { cause: error });
    }
  }
}
