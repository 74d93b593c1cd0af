// The first packet each way: asking for a session, and everything a server may answer to that.
// Pure: decides what an answer means, does nothing about it.
// Used by session.ts.

import { ConnectRequest, ConnectResponse, ReplyHeader } from "./records.ts";
import { ProtocolError } from "./errors.ts";
import { Reader, type Writer } from "./jute.ts";

/** What a client says of itself when it connects. */
export interface Hello {
  lastZxid: bigint;
  /** Timeout asked for, in ms. */
  timeout: number;
  /** 0n to ask for a new session. */
  sessionId: bigint;
  password: Uint8Array;
  readOnly: boolean;
}

/** What a server's answer means. */
export type Welcome =
  | {
    kind: "attached";
    sessionId: bigint;
    password: Uint8Array;
    /** Granted by the server, in ms. */
    timeout: number;
    readOnly: boolean;
  }
  | { kind: "expired" }
  | { kind: "refused"; why: string };

/** Sixteen zero bytes: what a client without a session sends. Null hangs 3.4 for ever (measured). */
export const noPassword: Uint8Array = new Uint8Array(16);

/** The body of the first packet. */
export function writeHello(to: Writer, hello: Hello): void {
  ConnectRequest.write(to, {
    protocolVersion: 0,
    lastZxidSeen: hello.lastZxid,
    timeOut: hello.timeout,
    sessionId: hello.sessionId,
    passwd: hello.password,
    readOnly: hello.readOnly,
  });
}

/**
 * Reads the first packet of a server. A timeout of 0 or less is the only sign of
 * an expired session on the wire. An answer with another session id than the one
 * asked for means the same: ClickHouse Keeper hands out a fresh session in place
 * of a dead one without a word (ClickHouse#116690).
 */
export function readWelcome(packet: Uint8Array, hello: Hello): Welcome {
  const reader = new Reader(packet);
  if (packet.length === 16) {
    // A read-only server that may not make sessions answers with a bare header.
    const { err } = ReplyHeader.read(reader);
    return { kind: "refused", why: `the server answered error ${err}` };
  }
  if (packet.length < 36) {
    throw new ProtocolError(
      `Cannot read the answer to a connect request: it has ${packet.length} bytes`,
      0,
    );
  }
  const answer = ConnectResponse.read(reader);
  if (answer.timeOut <= 0) return { kind: "expired" };
  if (hello.sessionId !== 0n && answer.sessionId !== hello.sessionId) {
    return { kind: "expired" };
  }
  if (answer.sessionId === 0n) {
    return { kind: "refused", why: "the server answered session id 0" };
  }
  return {
    kind: "attached",
    sessionId: answer.sessionId,
    password: answer.passwd ?? noPassword,
    timeout: answer.timeOut,
    readOnly: answer.readOnly ?? false,
  };
}
