// Makes a frame of an embedded server comparable with a recorded one: what varies from run to run is replaced, if it varies consistently.
// Knows records and which of their fields vary; no connections.
// Used by golden_play.ts.

import { specialXids } from "../../protocol/codes.ts";
import { Reader, type Type } from "../../protocol/jute.ts";
import { type Operation, operationByCode } from "../../protocol/operations.ts";
import * as r from "../../protocol/records.ts";
import { framed } from "../protocol/wire.ts";

// deno-lint-ignore no-explicit-any
type Fields = any;

/** Numbers of transactions: in the recording they are higher by the same amount everywhere. */
const zxids = new Set(["zxid", "czxid", "mzxid", "pzxid"]);

/** Fields whose values differ, but the same value always stands for the same. */
const renamed: Record<string, string> = {
  ctime: "time",
  mtime: "time",
  sessionId: "session",
  ephemeralOwner: "session",
  passwd: "password",
};

/** What a server has in no order; a client must not expect one. */
const unordered = new Set(["children", "ephemerals"]);

/** From our zxids, times, sessions and passwords to the recorded ones, learned on the way. */
export class Translation {
  readonly #toRecorded = new Map<string, unknown>();
  readonly #toOurs = new Map<string, unknown>();
  #offset: bigint | undefined;

  /** A recorded request as it is to be sent to us. */
  request(frame: Uint8Array): Uint8Array {
    const reader = new Reader(frame.subarray(4));
    if (isHello(frame)) {
      const hello = r.ConnectRequest.read(reader);
      return framed((to) =>
        r.ConnectRequest.write(to, {
          ...hello,
          lastZxidSeen: this.#zxid(hello.lastZxidSeen),
          sessionId: this.#ours("session", hello.sessionId) as bigint,
          passwd: this.#ours("password", hello.passwd) as Uint8Array,
        })
      );
    }
    if (frame.length < 12) return frame;
    const header = r.RequestHeader.read(reader);
    const op = operationByCode.get(header.type);
    if (!op?.name.startsWith("setWatches")) return frame;
    const list = op.request.read(reader) as Fields;
    return framed((to) => {
      r.RequestHeader.write(to, header);
      const relativeZxid = this.#zxid(list.relativeZxid);
      op.request.write(to, { ...list, relativeZxid });
    });
  }

  /** Our answer with what varies replaced, in hex; something else if it does not vary as it should. */
  answer(ours: Uint8Array, recorded: Uint8Array, asked?: Uint8Array): string {
    try {
      const type = answerType(recorded, asked);
      const expected = whole(type, recorded);
      const value = this.#replaced(whole(type, ours), expected, "");
      return hexOf(framed((to) => type.write(to, value)));
    } catch (error) {
      return `${hexOf(ours)}: ${error}`;
    }
  }

  #replaced(ours: Fields, recorded: Fields, key: string): unknown {
    if (zxids.has(key)) return this.#recordedZxid(ours, recorded);
    if (Object.hasOwn(renamed, key)) {
      return this.#renamed(renamed[key], ours, recorded);
    }
    if (ours === null || typeof ours !== "object") return ours;
    if (ours instanceof Uint8Array) return ours;
    if (Array.isArray(ours)) {
      if (unordered.has(key)) return ordered(ours, recorded);
      return ours.map((item, i) => this.#replaced(item, recorded?.[i], key));
    }
    return Object.fromEntries(
      Object.entries(ours).map(([key, value]) => [
        key,
        this.#replaced(value, recorded?.[key], key),
      ]),
    );
  }

  #recordedZxid(ours: bigint, recorded: bigint): bigint {
    // No transaction: said of events, credentials and refusals.
    if (ours <= 0n || recorded <= 0n) return ours;
    this.#offset ??= recorded - ours;
    return ours + this.#offset;
  }

  /** Of a recorded zxid. What is older than the recording is older than anything. */
  #zxid(recorded: bigint): bigint {
    const offset = this.#offset ?? 0n;
    return recorded > offset ? recorded - offset : 0n;
  }

  #renamed(kind: string, ours: unknown, recorded: unknown): unknown {
    if (isNothing(ours) || isNothing(recorded)) return ours;
    const key = `${kind} ${ours}`, back = `${kind} ${recorded}`;
    const isNew = !this.#toRecorded.has(key) &&
      // Two transactions of the recording may be of the same millisecond.
      (kind === "time" || !this.#toOurs.has(back));
    if (isNew) {
      this.#toRecorded.set(key, recorded);
      this.#toOurs.set(back, ours);
    }
    return this.#toRecorded.get(key) ?? ours;
  }

  #ours(kind: string, recorded: unknown): unknown {
    return this.#toOurs.get(`${kind} ${recorded}`) ?? recorded;
  }
}

/** No session, or the password of none. */
function isNothing(value: unknown): boolean {
  if (value instanceof Uint8Array) return value.every((byte) => byte === 0);
  return value === 0n;
}

/** How an answer is made up. */
function answerType(recorded: Uint8Array, asked?: Uint8Array): Type<Fields> {
  // Less than a ConnectResponse is a header.
  const isShort = recorded.length === 20;
  if (asked === undefined || isHello(asked)) {
    return (isShort ? r.ReplyHeader : r.ConnectResponse) as Type<Fields>;
  }
  const { xid, err } = r.ReplyHeader.read(new Reader(recorded.subarray(4)));
  const { type } = r.RequestHeader.read(new Reader(asked.subarray(4)));
  const isEvent = xid === specialXids.event;
  const op = operationByCode.get(type) as Operation | undefined;
  const body = isEvent
    ? r.WatcherEvent
    : err !== 0 || op === undefined
    ? r.Empty
    : op.reply;
  return {
    name: "answer",
    write(to, { header, body: fields }) {
      r.ReplyHeader.write(to, header);
      (body as Type<Fields>).write(to, fields);
    },
    read: (from) => ({
      header: r.ReplyHeader.read(from),
      body: body.read(from),
    }),
  };
}

/** A client's first frame has a protocol version of 0 where others have a transaction id, which is never 0, and a size of its own. */
function isHello(frame: Uint8Array): boolean {
  return (frame.length === 48 || frame.length === 49) &&
    new DataView(frame.buffer, frame.byteOffset).getInt32(4) === 0;
}

function whole<T>(type: Type<T>, frame: Uint8Array): T {
  const reader = new Reader(frame.subarray(4));
  const value = type.read(reader);
  if (reader.left > 0) throw new Error(`${reader.left} bytes are left`);
  return value;
}

/** A list in the order of another, if it has the same items. */
function ordered(ours: string[], recorded: string[]): string[] {
  const isSame = [...ours].sort().join() === [...recorded].sort().join();
  return isSame ? recorded : ours;
}

export function hexOf(bytes: Uint8Array): string {
  return bytes.reduce(
    (all, byte) => all + byte.toString(16).padStart(2, "0"),
    "",
  );
}
