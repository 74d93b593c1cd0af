// What a session is given: its settings, its credentials, and the world it acts on.
// Types only.
// Implemented by sessions.ts, called by session.ts.

import type { Watcher, WatchEvent } from "./watches.ts";

/** A credential that is shown to every server, on every connection, before anything else. */
export interface Credential {
  readonly scheme: string;
  readonly auth: Uint8Array;
  /** Given to connect(): refused, it finishes the client. */
  readonly essential: boolean;
  /** Called once: without an error when a server took it. */
  settle?(error?: Error): void;
}

/** The client's side of one SASL exchange. */
export interface SaslMechanism {
  /** Answers a token of the server; null when both sides have proved themselves. Throws an AuthFailedError. */
  answer(token: Uint8Array): Uint8Array | null;
}

/** What a session does to the world. None of these may throw. */
export interface Host {
  /** Bytes are waiting: call flush() before this turn of the event loop ends. */
  flushSoon(): void;
  /** Call tick() at this monotonic time, or earlier. */
  wakeAt(mono: number): void;
  /** Hang up and call lost(). */
  disconnect(cause: Error): void;
  /** The state changed. */
  changed(cause?: Error): void;
  /** It is over for good, and those who rely on it are about to be told. */
  ended(): void;
  /** The session is attached; what is asked for now goes out before what was queued. */
  attached(): void;
  /** Tell these watchers, each on its own. */
  notify(watchers: readonly Watcher[], event: WatchEvent): void;
  /** Bytes leave, or a packet came in: without its length, as a view that will be overwritten. */
  traced?(direction: "sent" | "received", bytes: Uint8Array): void;
}

/** Settings of a session. */
export interface SessionSettings {
  /** Timeout to ask for, in ms. */
  timeout: number;
  readOnly: boolean;
  /** Send what is asked along with the request for a new session, not after its answer. */
  eager?: boolean;
  /** Largest packet to accept, in bytes. */
  maxPacket: number;
  /** Shown in this order on every connection; the client adds to it. */
  credentials: Credential[];
  /** Begins a SASL exchange; each connection begins with one. */
  sasl?: () => SaslMechanism;
  /** Number of the last request. Only tests set it. */
  xid?: number;
}
