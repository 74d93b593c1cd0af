// What lock/ and testing/ need of a client beyond its public methods.
// Not exported by mod.ts: nothing in here is promised to users.
// Filled in by client.ts, asked for by lock/ and testing/.

import type { Client, Op, OpResult } from "./api.ts";
import type { Warning } from "./news.ts";
import type { Moment } from "./moment.ts";
import type { Watcher } from "./watches.ts";

/** How a marked request is to be treated. */
export interface Marks {
  /**
   * Sent again, before everything else, after each reconnect of its session,
   * and this is called each time. For what may be done twice.
   */
  resend?: () => void;
  /** The connection is given up if the server answers nothing for so long, in ms, while this waits for its answer. */
  answerWithin?: number;
}

/** The back door of a client. */
export interface Internals {
  /** When the connect request of the current connection left, once the session was granted; a read-only server asked no leader. */
  attachedAt(): Moment | undefined;
  /** The newest frame known to have left on the current connection strictly before this monotonic time. */
  sentBefore(mono: number): Moment | undefined;
  /** The oldest frame known to have left on the current connection strictly after this monotonic time. */
  sentAfter(mono: number): Moment | undefined;
  /** True if what is asked now leaves together with the request for a session. */
  eager(): boolean;
  /** Runs at each (re-)attachment; what it asks for goes out before what was queued. Answers how to stop. */
  onAttached(run: () => void): () => void;
  /** Runs when the session is about to be left to somebody else. Answers how to stop. */
  onDetach(run: (reason: Error) => void): () => void;
  /** As the public method, with marks. */
  delete(path: string, marks: Marks): Promise<void>;
  /** As the public method, with marks. */
  multi(
    ops: readonly Op[],
    marks: Marks,
  ): Promise<{ zxid: bigint; results: OpResult[] }>;
  /** Takes back the watch of an exists() or getData(), or of a getChildren(), without telling the watcher. */
  forget(kind: "data" | "child", path: string, watcher: Watcher): void;
  /** Tells the listeners of warnings. */
  warn(warning: Warning): void;
  /** Calls a function of the user, about a path if any: what it throws becomes a warning. */
  guard(listener: () => void, path?: string): void;
  /** Proves to a server that the session is ours. A secret. */
  password(): Uint8Array;
}

const known = new WeakMap<Client, Internals>();

/** Called once for each client. */
export function keepInternals(client: Client, internals: Internals): void {
  known.set(client, internals);
}

/** The internals of a client that connect() made; throws a TypeError for anything else. */
export function internalsOf(client: Client): Internals {
  const internals = known.get(client);
  if (internals === undefined) {
    throw new TypeError("Cannot use this client: connect() did not make it");
  }
  return internals;
}
