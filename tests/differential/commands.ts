// What can be said to a server, as data: free of session ids, passwords, zxids and of the name of the trace's root.
// Knows no connection; which bytes a command becomes on a given server depends on a Place.
// Made by generate.ts, played by player.ts, printed by play.ts.

import {
  buffer,
  int,
  long,
  record,
  type Type,
  ustring,
  vector,
} from "../../protocol/jute.ts";
import {
  auth,
  type Operation,
  operationByCode,
  operations,
} from "../../protocol/operations.ts";
import * as r from "../../protocol/records.ts";
import { framed } from "../protocol/wire.ts";

/** Fields of a request. Paths begin with `/@` instead of the root's name, zxids count from the trace's first. */
export type Body = Record<string, unknown>;

/** One request, or one part of a multi. */
export interface Request {
  /** A name of operations.ts, or any number of an operation. */
  op: string | number;
  /** Null: no body at all. */
  body: Body | null;
  /** Of a multi, instead of a body. */
  parts?: readonly Request[];
  /** Default: the next of the connection. */
  xid?: number;
  /** Bytes cut off its end. */
  cut?: number;
}

/** One step of a trace, on connection number `on`. */
export type Command =
  /** One request, or several in one write. */
  | { do: "ask"; on: number; requests: readonly Request[] }
  /** Bytes as they are, with their length in front. */
  | { do: "raw"; on: number; bytes: Uint8Array; op: string }
  | Hello
  /** Ends the connection, not the session. */
  | { do: "hangUp"; on: number };

/** A new connection. */
export interface Hello {
  do: "hello";
  on: number;
  /** Number of the session in the order they were made; modulo how many there are. */
  session: "new" | "unknown" | number;
  password: "right" | "wrong" | "empty" | "short" | "null";
  /** Counts from the trace's first zxid; null: 0. */
  lastZxid: number | null;
  timeOut: number;
  readOnly?: boolean;
  /** Sent in the same write. */
  requests?: readonly Request[];
}

/** What differs between the servers a trace is played on. */
export interface Place {
  /** The znode that holds all of a trace, like `/d0000000001`. */
  root: string;
  /** The zxid a trace begins with. */
  base: bigint;
}

/** A list that may be null, which our client never sends. */
function loose<T>(item: Type<T>): Type<readonly T[] | null> {
  const list = vector(item);
  return {
    name: list.name,
    write: (to, values) =>
      values === null ? to.int(-1) : list.write(to, values),
    read: (from) => list.read(from),
  };
}

const acls = loose(r.Acl);
const paths = loose(ustring);
const create = { path: ustring, data: buffer, acl: acls, flags: int };
const watches = {
  relativeZxid: long,
  dataWatches: paths,
  existWatches: paths,
  childWatches: paths,
};

/** Requests that can say what those of our client cannot. */
const looser: Record<string, Type<unknown>> = {
  create: record("CreateRequest", create),
  create2: record("CreateRequest", create),
  createContainer: record("CreateRequest", create),
  createTTL: record("CreateTTLRequest", { ...create, ttl: long }),
  setACL: record("SetACLRequest", { path: ustring, acl: acls, version: int }),
  setWatches: record("SetWatches", watches),
  setWatches2: record("SetWatches2", {
    ...watches,
    persistentWatches: paths,
    persistentRecursiveWatches: paths,
  }),
};

const byName: ReadonlyMap<string, Operation> = new Map(
  operations.map((op) => [op.name, op]),
);

/** The operation of a request, if there is one of that number or name. */
export function operationOf({ op }: Request): Operation | undefined {
  return typeof op === "number" ? operationByCode.get(op) : byName.get(op);
}

function codeOf(request: Request): number {
  if (typeof request.op === "number") return request.op;
  const code = operationOf(request)?.code;
  if (code === undefined) throw new Error(`No operation ${request.op}`);
  return code;
}

/** The xid a request goes out with if it names none; undefined: the next one. */
export function reservedXid(request: Request): number | undefined {
  const op = operationOf(request);
  return op?.name === "ping" || op?.name === auth.name ? op.xid : undefined;
}

/** The text with the root's real name. */
function placed(text: string, place: Place): string {
  return text.startsWith("/@") ? place.root + text.slice(2) : text;
}

/** The text with `/@` for the root's name. */
export function unplaced(text: string, place: Place): string {
  return text === place.root || text.startsWith(`${place.root}/`)
    ? "/@" + text.slice(place.root.length)
    : text;
}

function placedValue(value: unknown, place: Place): unknown {
  if (typeof value === "string") return placed(value, place);
  if (Array.isArray(value)) return value.map((v) => placedValue(v, place));
  return value;
}

function bodyOf(body: Body, place: Place): Body {
  const copy: Body = {};
  for (const [key, value] of Object.entries(body)) {
    copy[key] = placedValue(value, place);
  }
  if (typeof body.relativeZxid === "number") {
    copy.relativeZxid = place.base + BigInt(body.relativeZxid);
  }
  return copy;
}

/** The frame of a request. */
export function encoded(
  request: Request,
  xid: number,
  place: Place,
): Uint8Array {
  const frame = framed((to) => {
    r.RequestHeader.write(to, { xid, type: codeOf(request) });
    if (request.parts) {
      for (const part of request.parts) {
        r.MultiHeader.write(to, { type: codeOf(part), done: false, err: -1 });
        writeBody(part);
      }
      r.MultiHeader.write(to, { type: -1, done: true, err: -1 });
    } else writeBody(request);
    function writeBody(what: Request): void {
      if (what.body === null) return;
      const op = operationOf(what);
      if (op === undefined) throw new Error(`No records of ${what.op}`);
      const type = looser[op.name] ?? op.request;
      type.write(to, bodyOf(what.body, place));
    }
  });
  if (request.cut === undefined) return frame;
  const short = frame.slice(0, Math.max(12, frame.length - request.cut));
  new DataView(short.buffer).setInt32(0, short.length - 4);
  return short;
}

/** A command as a line of text. */
export function shown(value: unknown): string {
  return JSON.stringify(value, (_, v) => {
    if (typeof v === "bigint") return `${v}n`;
    if (v instanceof Uint8Array) {
      const hex = Array.from(
        v.subarray(0, 40),
        (b) => b.toString(16).padStart(2, "0"),
      ).join("");
      return v.length > 40 ? `0x${hex}… (${v.length} bytes)` : `0x${hex}`;
    }
    return v;
  });
}
