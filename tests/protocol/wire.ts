// The server's side of the wire for tests: requests read and replies written through the record tables.
// Knows no session, no clock and no socket.
// Used by bench.ts, virtual.ts and the tests themselves.

import { readWelcome, type Welcome } from "../../protocol/handshake.ts";
import { Reader, type Type, Writer } from "../../protocol/jute.ts";
import { operationByCode as operationOf } from "../../protocol/operations.ts";
import * as r from "../../protocol/records.ts";
import type { Stat } from "../../protocol/znode.ts";

/** A request as a server reads it. */
export interface Asked {
  xid: number;
  type: number;
  /** Its name in ZooDefs.OpCode. */
  op: string;
  body: Record<string, unknown> & { path?: string };
}

export { operationOf };

/** A frame: a length, then whatever is written. */
export function framed(write: (to: Writer) => void): Uint8Array {
  const writer = new Writer();
  writer.int(0);
  write(writer);
  writer.patchInt(0, writer.length - 4);
  return writer.copy();
}

/** The packets in bytes that are made of whole frames. */
export function packetsIn(bytes: Uint8Array): Uint8Array[] {
  const packets: Uint8Array[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + view.getInt32(at);
    if (end > bytes.length) throw new Error("a frame is cut off");
    packets.push(bytes.slice(at + 4, end));
    at = end;
  }
  return packets;
}

/** Reads a request; throws if there is a byte too many. */
export function readRequest(packet: Uint8Array): Asked {
  const reader = new Reader(packet);
  const { xid, type } = r.RequestHeader.read(reader);
  const op = operationOf.get(type);
  if (op === undefined) throw new Error(`no operation ${type}`);
  const body = op.request.read(reader) as Asked["body"];
  if (reader.left > 0) {
    throw new Error(`${reader.left} bytes behind ${op.name}`);
  }
  return { xid, type, op: op.name, body };
}

export type Hello = ReturnType<typeof r.ConnectRequest.read>;

/** Reads a connect request. */
export function readHello(packet: Uint8Array): Hello {
  return r.ConnectRequest.read(new Reader(packet));
}

/** A reply without error. */
export function answer<R>(
  xid: number,
  zxid: bigint,
  reply: Type<R>,
  body: R,
): Uint8Array {
  return framed((to) => {
    r.ReplyHeader.write(to, { xid, zxid, err: 0 });
    reply.write(to, body);
  });
}

/** A reply that is a header only: an error, or a success without a body. */
export function header(xid: number, zxid: bigint, err = 0): Uint8Array {
  return framed((to) => r.ReplyHeader.write(to, { xid, zxid, err }));
}

/** A notification. */
export function event(type: number, path: string, zxid = -1n): Uint8Array {
  return framed((to) => {
    r.ReplyHeader.write(to, { xid: -1, zxid, err: 0 });
    r.WatcherEvent.write(to, { type, state: 3, path });
  });
}

/** What a server grants. */
export interface Grant {
  timeOut?: number;
  sessionId?: bigint;
  passwd?: Uint8Array | null;
  /** Left out for a server older than 3.4. */
  readOnly?: boolean | "left out";
}

export const password: Uint8Array = Uint8Array.from(
  { length: 16 },
  (_, i) => i + 1,
);
export const sessionId = 0x100000b596c0006n;

/** The answer to a connect request. */
export function welcome(grant: Grant = {}): Uint8Array {
  const { readOnly = false, passwd = password } = grant;
  return framed((to) =>
    r.ConnectResponse.write(to, {
      protocolVersion: 0,
      timeOut: grant.timeOut ?? 9000,
      sessionId: grant.sessionId ?? sessionId,
      passwd,
      readOnly: readOnly === "left out" ? undefined : readOnly,
    })
  );
}

/** What a server says to a session it does not know. */
export function unknownSession(): Uint8Array {
  return welcome({ timeOut: 0, sessionId: 0n, passwd: new Uint8Array(16) });
}

/** How we read an answer to a hello. */
export function read(frame: Uint8Array, sessionId = 0n): Welcome {
  return readWelcome(frame.subarray(4), {
    lastZxid: 0n,
    timeout: 9000,
    sessionId,
    password,
    readOnly: false,
  });
}

export function statOf(over: Partial<Stat> = {}): Stat {
  return {
    czxid: 1n,
    mzxid: 1n,
    ctime: 1000n,
    mtime: 1000n,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: 0n,
    dataLength: 0,
    numChildren: 0,
    pzxid: 1n,
    ...over,
  };
}

export function joined(...chunks: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((n, c) => n + c.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Numbers that are always the same for a seed (mulberry32), from 0 to 1. */
export function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
