// A request on its way: waiting to be sent, or sent and waiting for its reply.
// Knows no bytes, no sessions and no I/O.
// Questions are made by questions.ts and multi.ts; sessions.ts makes a request of each, exchange.ts carries it.

import type { Operation } from "./operations.ts";
import type { Watcher, WatchKind } from "./watches.ts";

/** What somebody asks of the server, and whom to tell. Exactly one of resolve and reject is called, once. */
export interface Request<Q = unknown, R = unknown> {
  readonly op: Operation<Q, R>;
  readonly body: Q;
  /** The path as the caller wrote it, for errors. */
  readonly path: string | null;
  /** The watch it leaves behind, depending on the error number of the reply. */
  readonly watch?: {
    readonly watcher: Watcher;
    readonly path: string;
    kind(err: number): WatchKind | undefined;
  };
  /**
   * Marks a request that is sent again, before all others, after each reconnect
   * of its session, although it is a write: the caller knows that doing it twice
   * is as good as once. Called each time that happens.
   */
  readonly resend?: () => void;
  /** Drop the connection if the server answers nothing for so long, in ms, while this is sent and not answered. */
  readonly answerWithin?: number;
  /** Throws a ProtocolError if the reply makes no sense; reject is not called then. */
  resolve(reply: R, zxid: bigint): void;
  reject(error: Error): void;
}

/** A question to the server, and how to read the answer. */
export interface Question<Q = unknown, R = unknown, T = unknown> {
  op: Operation<Q, R>;
  body: Q;
  /** The path as the caller wrote it, for errors. */
  path?: string | null;
  signal?: AbortSignal;
  watch?: Request["watch"];
  resend?: () => void;
  answerWithin?: number;
  /** Its answer matters also when nobody waits for it any more. */
  certain?: boolean;
  /** What the caller gets. An exception becomes the rejection; a ProtocolError also costs the connection. */
  map(reply: R, zxid: bigint): T;
  /** What the caller gets in place of an error, or throws it again. */
  recover?(error: Error): T;
}

/** A question whose answer is a T, whatever goes over the wire. */
export type Ask<T> = Question<never, never, T>;

/** Forgets what goes over the wire. */
export function ask<Q, R, T>(question: Question<Q, R, T>): Ask<T> {
  return question as Ask<T>;
}

/** A request together with what the session notes about it. */
export interface Pending {
  readonly request: Request;
  /** The body in bytes, if it had to wait: what the caller does to its data meanwhile does not matter. */
  encoded?: Uint8Array;
  xid: number;
  /** When it left; only kept for `answerWithin`. Monotonic ms. */
  sentAt?: number;
  /** Nobody waits for it any more: its reply is read and dropped. */
  cancelled: boolean;
}

/** First in, first out, without moving the rest at every step. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head++];
    const done = this.#head === this.#items.length ||
      (this.#head > 1024 && this.#head * 2 > this.#items.length);
    if (done) this.#items = this.drain();
    return item;
  }

  /** Takes out the first that fits, wherever it stands. */
  take(wanted: (item: T) => boolean): T | undefined {
    const items = this.drain();
    const at = items.findIndex(wanted);
    this.#items = items;
    return at < 0 ? undefined : items.splice(at, 1)[0];
  }

  /** Empties it. */
  drain(): T[] {
    const items = this.#items.slice(this.#head);
    this.#items = [];
    this.#head = 0;
    return items;
  }

  /** Drops what is not wanted any more. */
  keep(wanted: (item: T) => boolean): void {
    this.#items = this.drain().filter(wanted);
  }
}
