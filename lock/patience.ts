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

/** Waits for so many ms, without keeping the process alive. */
export function wait({ environment }: Client, ms: number): Promise<void> {
  return new Promise((resolve) => environment.after(ms, resolve, false));
}

/** Waits before something is asked again. */
export function pause(client: Client, session: Session): Promise<void> {
  return wait(client, pauseTime(session));
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

/** Says that a znode of ours stays behind; an error of any other kind says that it goes with its session. */
export function warnOfOrphan(client: Client, path: string, cause: unknown) {
  if (!(cause instanceof ServerError)) return;
  const message = `Cannot delete ${path}: ` +
    `it blocks others until this session ends`;
  internalsOf(client).warn({ kind: "orphan", message, path, cause });
}
