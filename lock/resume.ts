// Holding on to what was held before, in a session that somebody else has left to this client.
// Knows no kind of lock: what is still ours is found by whoever asks.
// Run by lock.ts once for each resume().

import { codeOf, type Session, SessionExpiredError } from "../protocol/mod.ts";
import { believe } from "./belief.ts";
import { LockLostError } from "./errors.ts";
import { Holding, type Tenure } from "./held_lock.ts";
import { patiently } from "./patience.ts";
import type { Turn } from "./turn.ts";

/** What is to be held again. */
export interface Claim {
  path: string;
  token: bigint;
}

/** Looks for what is claimed; null if it is not there, or not ours. */
export type Finder = (session: Session, claim: Claim) => Promise<Tenure | null>;

/** Finds, believes, and settles the turn. What it does not find, or gives up, it leaves as it is. */
export async function resume(
  turn: Turn,
  claim: Claim,
  find: Finder,
): Promise<void> {
  const { client, options: { onState } } = turn;
  const { session } = client;
  try {
    while (!turn.ready(session)) await turn.sleep();
    if (turn.over) return;
    const tenure = await patiently(client, session, () => find(session, claim));
    if (tenure === null) throw lost(claim, new Error("it is not held"));
    await believe(turn, session, tenure);
    if (turn.over) return;
    turn.grant(new Holding(client, session, tenure, onState));
  } catch (error) {
    const isGone = codeOf(error) === "NoNode" ||
      error instanceof SessionExpiredError;
    turn.fail(isGone ? lost(claim, error) : error);
  }
}

function lost({ path, token }: Claim, cause: unknown): LockLostError {
  return new LockLostError(path, token, { cause });
}
