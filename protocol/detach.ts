// Leaving a session alive for somebody else.
// Knows neither locks nor paths: who has something in the session hears of it and lets go.
// Used by client.ts.

import { DetachedSession } from "./detached.ts";
import { ClientClosedError, ConnectionLossError } from "./errors.ts";
import { goodbye } from "./pulse.ts";
import { ping } from "./questions.ts";
import type { Sessions } from "./sessions.ts";

/**
 * Waits until everything that was asked is answered, then hangs up. Rejects if
 * that takes longer than min(timeout/3, 5 s): then the client stays as it is.
 */
export async function detach(sessions: Sessions): Promise<DetachedSession> {
  sessions.signal.throwIfAborted();
  const { environment, current: session } = sessions;
  const reason = new ClientClosedError(
    "Client detached: its session may go on elsewhere",
  );
  sessions.announceDetach(reason);
  const late = new AbortController();
  const cancel = environment.after(goodbye(session.timeout), () => {
    late.abort(
      new ConnectionLossError("detach", null, "not-sent", {
        message: "Cannot detach: the server does not answer",
      }),
    );
  });
  try {
    do {
      await sessions.ask(ping({ signal: late.signal }));
      // Whoever was answered may have something more to ask.
      await new Promise<void>((resolve) => environment.after(0, resolve));
    } while (session.isBusy);
    session.signal.throwIfAborted();
  } finally {
    cancel();
  }
  const { id, password, timeout, lastZxid: zxid } = session;
  sessions.leave(reason);
  return new DetachedSession({ id, password, timeout, zxid });
}
