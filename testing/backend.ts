// What a connection of the embedded server needs: a way to its client, and a server behind it.
// Types only.
// Kept by engine.ts, and by each server of an ensemble; used by peer.ts.

import type { ValueOf } from "../protocol/jute.ts";
import type { ConnectRequest } from "../protocol/records.ts";
import type { Answers } from "./answers.ts";
import type { Result, Transaction } from "./ledger.ts";
import type { Peer } from "./peer.ts";
import type { Refusal, Write } from "./plan.ts";
import type { Profile } from "./profiles.ts";
import type { SaslExchange } from "./sasl.ts";

/** The way to the client. */
export interface Line {
  /** Address of the client, an IPv4 address in ordinary notation. */
  readonly remote: string;
  write(bytes: Uint8Array): void;
  /** Says that nothing more will come, behind what was written. */
  finish(): void;
  /** Ends it at once. */
  reset(): void;
  /** Whether so much was written that the client does not read that nothing more is to be served until Intake.drained(). */
  isBehind?(): boolean;
}

/** Where what comes from a client goes. */
export interface Intake {
  take(bytes: Uint8Array): void;
  /** The client is gone, or will say no more. */
  hungUp(): void;
  /** The client has read what the line was behind with. */
  drained?(): void;
}

/** What a client says when it connects. */
export type Hello = ValueOf<typeof ConnectRequest>;

/** A transaction, and what became of each of its changes. */
export interface Outcome {
  transaction: Transaction;
  results: readonly Result[];
}

/** The server behind a connection. Callbacks may come at once or later. */
export interface Backend {
  readonly profile: Profile;
  readonly answers: Answers;
  /** Number of the last transaction that this server knows of. */
  readonly zxid: bigint;
  /** Longest packet to take, in bytes. */
  readonly maxPacket: number;
  /** Whether only who has proved a user by SASL is served; absent: nobody can. */
  readonly isSaslRequired?: boolean;
  /** Begins a SASL exchange; absent, or null, if there are no users. */
  beginSasl?(): SaslExchange | null;
  /** Calls welcome(), refuse() or finish() of the peer. */
  hello(peer: Peer, hello: Hello): void;
  /** A sign of life of the peer's session. */
  touch(peer: Peer): void;
  /** Does the writes, together or not at all. A Refusal stands for writes that cannot be read. */
  write(
    peer: Peer,
    writes: readonly Write[] | Refusal,
    done: (outcome: Outcome) => void,
  ): void;
  /** Loses a number of a transaction: the next one has a higher one. */
  skip(): void;
  /** Ends the peer's session. */
  closeSession(peer: Peer, done: (outcome: Outcome) => void): void;
  /** Calls back when everything that was decided before has arrived here. */
  sync(peer: Peer, done: () => void): void;
  /** The answer to a four-letter word; undefined if there is no such word. */
  word(word: string): string | undefined;
  /** The connection is gone. */
  left(peer: Peer): void;
}

/** What is to become of a request. */
export type RequestVerdict =
  | "serve"
  | "cut-before"
  | "cut-after"
  | "drop-reply"
  | "ignore"
  | number;

/** Who looks on, and may interfere. */
export interface Onlooker {
  /** A packet is about to be served. A number is an error to answer instead. */
  asked(peer: Peer, op: string, xid: number, body: Uint8Array): RequestVerdict;
  /** Somebody said hello. False leaves it to the backend. */
  greet(peer: Peer, hello: Hello): boolean;
}
