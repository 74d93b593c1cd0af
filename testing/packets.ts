// What a packet on its way is: which operation it asks for or answers.
// Looks at headers only; knows no sockets, and does not decide what becomes of a packet.
// Used by relay.ts, one Conversation for each connection.

import { errorNumbers, eventName, specialXids } from "../protocol/codes.ts";
import { Reader } from "../protocol/jute.ts";
import { operationByCode } from "../protocol/operations.ts";
import { ReplyHeader, RequestHeader } from "../protocol/records.ts";

/** A request of a client, a server's reply to one, or a watch event. */
export type Direction = "request" | "reply" | "event";

/** What the header of a packet says. */
export interface Label {
  direction: Direction;
  op: string;
  xid: number | null;
  err?: number;
}

/** A packet that came to a {@linkcode FaultProxy}. */
export interface SeenPacket {
  /** Number of the packet, counting from 0 over all connections; clear() does not set it back. */
  readonly index: number;
  /** Number of the connection it came on, counting from 0 in the order in which they were accepted. */
  readonly connection: number;
  /** Which way it goes: requests to the server, replies and events to the client. */
  readonly direction: Direction;
  /**
   * Of a request, and of the reply to it: the operation, as ZooKeeper names it:
   * "connect", "create", "getChildren", "multi", "ping", "closeSession"… Of an
   * event: its type, "created", "deleted", "data-changed" or "children-changed".
   * The number of an operation without a name; "unknown" if it cannot be told.
   */
  readonly op: string;
  /** Transaction id by which replies are matched to requests; null where there is none, as at the handshake. */
  readonly xid: number | null;
  /**
   * Of a reply: 0, or the number of the error, e.g. -110 for NodeExists. At the
   * handshake -112, SessionExpired, if the session is over.
   */
  readonly err?: number;
  /** The packet without its length. Passwords and credentials are overwritten with asterisks; data is not. */
  readonly bytes: Uint8Array;
  /** Whether it was handed on; false while a rule still decides about it. */
  readonly passed: boolean;
}

/** Nobody can say what this is. */
const unknown = "unknown";

/** Smallest sizes of a body. */
const headerBytes = { request: 8, reply: 16, welcome: 36 };

/** What was said on one connection, so that a reply can be told by its request. */
export class Conversation {
  /** Names of the requests without a reply, by xid. All pings share one. */
  readonly #asked = new Map<number, string[]>();
  #clientSpoke = false;
  #serverSpoke = false;

  /** Names a packet of the client. */
  request(body: Uint8Array): Label {
    const first = !this.#clientSpoke;
    this.#clientSpoke = true;
    if (first) return { direction: "request", op: "connect", xid: null };
    if (body.length < headerBytes.request) {
      return { direction: "request", op: unknown, xid: null };
    }
    const { xid, type } = RequestHeader.read(new Reader(body));
    return {
      direction: "request",
      op: operationByCode.get(type)?.name ?? `${type}`,
      xid,
    };
  }

  /** This request reaches the server: a reply may come. */
  expect({ op, xid }: Label): void {
    if (xid === null) return;
    const ops = this.#asked.get(xid);
    if (ops === undefined) this.#asked.set(xid, [op]);
    else ops.push(op);
  }

  /** Names a packet of the server. */
  reply(body: Uint8Array): Label {
    const first = !this.#serverSpoke;
    this.#serverSpoke = true;
    if (first) {
      const err = welcomeError(body);
      return { direction: "reply", op: "connect", xid: null, err };
    }
    if (body.length < headerBytes.reply) {
      return { direction: "reply", op: unknown, xid: null };
    }
    const reader = new Reader(body);
    const { xid, err } = ReplyHeader.read(reader);
    if (xid !== specialXids.event) {
      return { direction: "reply", op: this.#answered(xid), xid, err };
    }
    const type = reader.left < 4 ? undefined : eventName(reader.int());
    return { direction: "event", op: type ?? unknown, xid };
  }

  #answered(xid: number): string {
    const ops = this.#asked.get(xid);
    const op = ops?.shift();
    if (ops?.length === 0) this.#asked.delete(xid);
    return op ?? unknown;
  }
}

/** A server has no error numbers at the handshake, but two ways to say no. */
function welcomeError(body: Uint8Array): number {
  const reader = new Reader(body);
  if (body.length === headerBytes.reply) return ReplyHeader.read(reader).err;
  if (body.length < headerBytes.welcome) return errorNumbers.MarshallingError;
  reader.int(); // The version of the protocol, always 0.
  // A timeout of 0 is how a server says that the session is over.
  return reader.int() > 0 ? 0 : errorNumbers.SessionExpired;
}

/** Whether the first bytes of a client are no length but a question in plain text, such as "ruok". */
export function isWord(bytes: Uint8Array): boolean {
  return /^[A-Za-z]{4}/.test(String.fromCharCode(...bytes.subarray(0, 4)));
}

/** Two chunks as one. */
export function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
