// Asking again what a server put off, waiting a little, and saying what could not be done.
// Knows no lock.
// Used by all that talk to the client in lock/.

import {
  type Client,
  codeOf,
  internalsOf,
  ServerError,
  type Session,
} from "../protocol/mod.ts";

/** Within this a server that is well answers a write, in ms. */
export function answerTime({ timeout }: Session): number {
  return timeout / 4;
}

/** Between two tries of what a server put off, in ms. */
export function pauseTime({ timeout }: Session): number {
  return timeout / 20;
}

/** True for an error that says nothing against asking again a little later. */
export function passing(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ThrottledOp" || code === "NotReadOnly";
}

/** Waits before something is asked again; not once the client is closed. */
function pause(client: Client, session: Session): Promise<void> {
  const { environment, signal } = client;
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = environment.after(pauseTime(session), end, false);
    signal.addEventListener("abort", end);
  });
}

/** Asks again as long as the server puts it off. */
export async function patiently<T>(
  client: Client,
  session: Session,
  ask: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      session.signal.throwIfAborted();
      return await ask();
    } catch (error) {
      if (!passing(error)) throw error;
      await pause(client, session);
    }
  }
}

/**
 * Lets go of something in the session it belongs to: asks again what the server
 * put off, and is asked for with the mark `resend`, so that it goes out again
 * after each reconnect until it is answered. Answers what `ask` does; for an
 * error that says that it was gone already, whether that can be our own doing;
 * true if the session ends first, which lets go of everything.
 */
export async function untilAnswered(
  client: Client,
  session: Session,
  ask: (resend: () => void) => Promise<boolean>,
  isGone: (error: ServerError) => boolean,
): Promise<boolean> {
  let again = false;
  const resend = () => void (again = true);
  while (client.session === session) {
    try {
      return await ask(resend);
    } catch (error) {
      if (!(error instanceof ServerError)) break; // The session is over.
      // Sent twice, it may be gone because of the first.
      if (isGone(error)) return again;
      if (!passing(error)) throw error;
      await pause(client, session);
    }
  }
  return true;
}

/** Says that a znode of ours stays behind; an error of any other kind says that it goes with its session. */
export function warnOfOrphan(
  client: Client,
  path: string,
  cause: unknown,
): void {
  if (!(cause instanceof ServerError)) return;
  const message = `Cannot delete ${path}: ` +
    `it blocks others until this session ends`;
  internalsOf(client).warn({ kind: "orphan", message, path, cause });
}
