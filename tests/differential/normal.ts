// What was heard from a server, as a value that is the same on every server that does the same.
// Knows no connection. Left out: times, session ids, passwords, the first zxid, orders of hash tables. Nothing else.
// Used by player.ts; normal_test.ts shows that each other byte counts.

import { Reader, type Type } from "../../protocol/jute.ts";
import {
  type Operation,
  type PartResult,
  ping,
} from "../../protocol/operations.ts";
import * as r from "../../protocol/records.ts";
import type { Stat } from "../../protocol/znode.ts";
import { framed } from "../protocol/wire.ts";
import { type Place, unplaced } from "./commands.ts";

/** Something that came, or came not, on a connection. */
export interface Heard {
  /** "event", "hello", "reply", "closed", "silent", "unreadable"; "ping" for pings of the player. */
  what: string;
  /** What it answers. */
  op?: string;
  /** Length of the frame. */
  size?: number;
  header?: unknown;
  body?: unknown;
}

/** What a server's own numbers are replaced with. */
export interface Terms {
  place: Place;
  /** Number of the session with this id, in the order they were made; a text if there is none. */
  sessionOf(id: bigint): number | string;
  /** How `/` looked when the trace began: traces before it have left marks there. */
  rootStat: Stat | null;
}

/** Of other traces. */
const strangers = /^d\d{10}$/;

/** The answer to a connect request. */
export function hello(frame: Uint8Array, terms: Terms): Heard {
  const size = frame.length;
  const body = parsed(r.ConnectResponse, frame.subarray(4));
  if (body === undefined) return unreadable("hello", frame);
  return { what: "hello", size, body: normal(body, terms).value };
}

/** The answer to a request. */
export function reply(
  frame: Uint8Array,
  op: Operation | undefined,
  terms: Terms,
): Heard {
  const name = op?.name ?? "unknown";
  const header = parsed(r.ReplyHeader, frame.subarray(4, 20));
  if (header === undefined) return unreadable(name, frame);
  const what = op === ping ? "ping" : "reply";
  const found: Heard = {
    what,
    op: name,
    size: frame.length,
    header: normal(header, terms).value,
  };
  const rest = frame.subarray(20);
  if (rest.length === 0 && (header.err !== 0 || op?.reply === r.Empty)) {
    return found;
  }
  // Also with an error: a multiRead that fails in the middle has what it got so far.
  const body = op ? parsed(op.reply, rest) : undefined;
  if (body === undefined) return { ...found, body: `0x${hexOf(rest)}` };
  const { value, dropped } = normal(body, terms);
  return { ...found, size: frame.length - dropped, body: value };
}

/** A notification. */
export function event(frame: Uint8Array, terms: Terms): Heard {
  const header = parsed(r.ReplyHeader, frame.subarray(4, 20));
  const body = parsed(r.WatcherEvent, frame.subarray(20));
  if (header === undefined || body === undefined) {
    return unreadable("event", frame);
  }
  return {
    what: "event",
    size: frame.length,
    header: normal(header, terms).value,
    body: normal(body, terms).value,
  };
}

/** Whether a frame is a notification: requests with that xid are never sent. */
export function isEvent(frame: Uint8Array): boolean {
  return frame.length >= 20 &&
    new DataView(frame.buffer, frame.byteOffset).getInt32(4) === -1;
}

function unreadable(op: string, frame: Uint8Array): Heard {
  return { what: "unreadable", op, body: `0x${hexOf(frame)}` };
}

/** The record, if writing it gives the same bytes again: then no byte of it can get lost in comparing. */
function parsed<T>(type: Type<T>, bytes: Uint8Array): T | undefined {
  try {
    const value = type.read(new Reader(bytes));
    const again = framed((to) => type.write(to, value)).subarray(4);
    const isSame = again.length === bytes.length &&
      again.every((byte, i) => byte === bytes[i]);
    return isSame ? value : undefined;
  } catch {
    return undefined;
  }
}

function normal(
  value: unknown,
  terms: Terms,
): { value: unknown; dropped: number } {
  let dropped = 0;
  const { place } = terms;
  const zxid = (n: bigint) => n <= 0n ? `${n}` : `+${n - place.base}`;
  const walk = (value: unknown, key: string): unknown => {
    if (value instanceof Uint8Array) return `0x${hexOf(value)}`;
    if (typeof value === "string") return unplaced(value, place);
    if (typeof value === "bigint") {
      if (key.endsWith("zxid")) return zxid(value);
      if (key === "ephemeralOwner" || key === "sessionId") {
        return value === 0n ? 0 : `session ${terms.sessionOf(value)}`;
      }
      return `${value}n`;
    }
    if (Array.isArray(value)) return list(value, key);
    if (value === null || typeof value !== "object") return value;
    if ("czxid" in value) return stat(value as Stat);
    if ("passwd" in value) {
      const { passwd } = value as { passwd: Uint8Array | null };
      const isZero = passwd?.every((byte) => byte === 0);
      value = { ...value, passwd: `${passwd?.length} bytes, zero: ${isZero}` };
    }
    // A part of a multi: the operation has no other place than its number.
    if ("reply" in (value as object)) {
      const { type, err, reply } = value as PartResult;
      return { type, err, reply: walk(reply, "reply") };
    }
    return Object.fromEntries(
      Object.entries(value!).map(([key, v]) => [key, walk(v, key)]),
    );
  };
  const list = (values: readonly unknown[], key: string): unknown => {
    if (key === "children") {
      const own = place.root.slice(1);
      const kept = values.filter((v) =>
        v === own || !strangers.test(v as string)
      );
      dropped += (values.length - kept.length) * (4 + own.length);
      return kept.sort();
    }
    const walked = values.map((v) => walk(v, ""));
    if (key === "ephemerals") return walked.sort();
    const isOfIds = key === "clientInfo" ||
      key === "acl" &&
        values.every((v) => (v as { scheme: string }).scheme === "digest");
    // `auth` becomes the ids of the connection, which the server has in a hash table.
    return isOfIds
      ? walked.sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
      : walked;
  };
  const stat = (s: Stat): unknown => {
    const isRoot = s.czxid === 0n && s.mzxid > 0n;
    const before = isRoot && terms.rootStat ? terms.rootStat : undefined;
    return {
      ...Object.fromEntries(
        Object.entries(s).map(([key, v]) => [key, walk(v, key)]),
      ),
      ctime: s.ctime === 0n ? "0" : "time",
      mtime: s.mtime === 0n
        ? "0"
        : s.mtime === s.ctime && s.version === 0
        ? "ctime"
        : s.mtime >= s.ctime
        ? "not before ctime"
        : "before ctime",
      version: s.version - (before?.version ?? 0),
      cversion: s.cversion - (before?.cversion ?? 0),
      aversion: s.aversion - (before?.aversion ?? 0),
      numChildren: s.numChildren - (before?.numChildren ?? 0),
    };
  };
  return { value: walk(value, ""), dropped };
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}
