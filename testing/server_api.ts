// What users say to a TestServer, and what it shows them.
// Types only.
// Used by server.ts.

import type { ErrorCode } from "../protocol/codes.ts";
import type { Environment } from "../protocol/environment.ts";
import type { Acl, Stat } from "../protocol/znode.ts";
import type { ServerVersion } from "./profiles.ts";

/** Options of {@linkcode TestServer.start}. Times in ms, sizes in bytes. */
export interface TestServerOptions {
  /** Whether to listen on TCP, on 127.0.0.1; default true. In memory, by `transport`, it can be reached in any case. */
  listen?: boolean;
  /** Port to listen on; default 0, any free one. */
  port?: number;
  /** Which release line to behave like; default "3.9". */
  version?: ServerVersion;
  /** Clocks, timers and randomness; default: the real ones. A {@linkcode VirtualClock} makes time pass at will. */
  environment?: Environment;
  /** Ends of sessions are rounded up to multiples of it; default 100. */
  tick?: number;
  /** Shortest session timeout to grant; default two ticks. */
  minSessionTimeout?: number;
  /** Longest session timeout to grant; default 60,000. */
  maxSessionTimeout?: number;
  /** How often emptied containers and old TTL nodes are removed; default 60,000. */
  reapInterval?: number;
  /** Whether TTL nodes are enabled, which they are not on a real server by default; default true. */
  ttl?: boolean;
  /** Whether reconfig is enabled, in which case the answer is Unimplemented, as a server without others gives; default false. */
  reconfig?: boolean;
  /** Users of SASL DIGEST-MD5 and their passwords, looked at whenever somebody proves one; default: no SASL. */
  sasl?: Readonly<Record<string, string>>;
  /** Whether to serve only who has proved a user by SASL, as with `sessionRequireClientSASLAuth`, which 3.4 does not know; default false. */
  requireSasl?: boolean;
  /** Longest request to take; default 1,048,575. */
  maxPacket?: number;
}

/** A request that came to a {@linkcode TestServer}. */
export interface SeenRequest {
  /** Number of the request, counting from 0. */
  readonly index: number;
  /** The operation, as ZooKeeper names it: "connect", "create", "multi", "ping"… Its number if it has no name. */
  readonly op: string;
  /** Transaction id by which its reply will be matched. */
  readonly xid: number;
  /** The session it came from; 0n before the handshake is over. */
  readonly session: bigint;
  /** The packet without its length. Passwords and credentials are overwritten with asterisks; data is not. */
  readonly bytes: Uint8Array;
}

/**
 * What becomes of a request.
 *
 * - "serve": it is done and answered;
 * - "cut-before": it is not done, and its connection ends;
 * - "cut-after": it is done, and its connection ends before the answer;
 * - "drop-reply": it is done and never answered, and the connection goes on. No
 *   network does that. A client that compares transaction ids will give up the
 *   connection at the next reply, but pings are none: if nothing else is asked,
 *   the call stays pending for ever. "cut-after" is what you want in most tests;
 * - "ignore": it is neither done nor answered;
 * - a number, or the name of an error: it is not done, and this is the answer.
 */
export type RequestFate =
  | "serve"
  | "cut-before"
  | "cut-after"
  | "drop-reply"
  | "ignore"
  | number
  | Exclude<ErrorCode, "Unknown">;

/** Decides about each request; undefined is "serve". */
export type RequestRule = (request: SeenRequest) => RequestFate | undefined;

/**
 * How new connections are met, after they said hello.
 *
 * - "normal";
 * - "hang-up": without a word, as by a server that is behind the client, or has no quorum;
 * - "silence": accepted and never answered;
 * - "other-session": with a session that is not the one asked for (ClickHouse Keeper does that);
 * - "read-only": with the bare header of a read-only server that may not make sessions;
 * - "read-only-session": as by a read-only server that may: whoever asks for that
 *   gets a new session in which writes and sync() are refused, all others are hung up on.
 */
export type Reception =
  | "normal"
  | "hang-up"
  | "silence"
  | "other-session"
  | "read-only"
  | "read-only-session";

/** A znode as {@linkcode TestServer.znode} shows it. */
export interface ZnodeView {
  /** Null if it was created with null. */
  readonly data: Uint8Array | null;
  /** As it is kept: `auth` stands no more in it. */
  readonly acl: readonly Acl[];
  /** As a client would see it. */
  readonly stat: Stat;
  /** Names, sorted. */
  readonly children: readonly string[];
}
