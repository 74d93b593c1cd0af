// The last step before a grant: a session that has been quiet shows by a heartbeat that it lives.
// Knows no queue and no kind of lock.
// Used by contend.ts and seize.ts.

import { codeOf, type Op, type Session } from "../protocol/mod.ts";
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
