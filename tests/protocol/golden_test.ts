// Our tables against 461 frames recorded from real servers (3.4.13, 3.8.0, 3.9.3): bytes are tested against bytes.
// What is deliberately not reproduced stands in one table, with the reason, and must need to stand there.
// The file is explained in section 16 of the wire reference it came with.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFileSync } from "node:fs";
import { writeHello } from "../../protocol/handshake.ts";
import { Reader, type Type, type Writer } from "../../protocol/jute.ts";
import {
  type Operation,
  operations,
  type PartResult,
} from "../../protocol/operations.ts";
import { Outgoing } from "../../protocol/outgoing.ts";
import * as r from "../../protocol/records.ts";
import { framed, hex, operationOf } from "./wire.ts";

interface Frame {
  name: string;
  direction: "client->server" | "server->client";
  hex: string;
  // deno-lint-ignore no-explicit-any
  decoded: any;
  serverVersion: "3.4.13" | "3.8.0" | "3.9.3";
}

const file = new URL("../vectors/golden-frames.json", import.meta.url);
const frames: Frame[] = JSON.parse(readFileSync(file, "utf8"));

/** Frames our tables are not meant to make or read, by name and with the reason. */
const exceptions: Record<string, string> = {
  "error.unimplemented.request":
    "operation 999 exists nowhere, which is its point",
  "error.marshalling.request":
    "cut off on purpose, to make the server answer -5",
  "fourLetterWord.ruok.request": "plain text, not a frame",
  "fourLetterWord.ruok.reply": "plain text, not a frame",
  "fourLetterWord.isro.request": "plain text, not a frame",
  "fourLetterWord.isro.reply": "plain text, not a frame",
  "fourLetterWord.srvr.request": "plain text, not a frame",
  "fourLetterWord.srvr.reply": "plain text, not a frame",
  "fourLetterWord.wchs.request": "plain text, not a frame",
  "fourLetterWord.wchs.reply": "plain text, not a frame",
  "fourLetterWord.xxxx.request": "plain text, not a frame",
  "fourLetterWord.xxxx.reply": "no bytes at all: the server hung up",
  "readonly-server.connect.refused-no-local-sessions.reply":
    "a bare ReplyHeader of 16 bytes in place of a ConnectResponse; handshake_test.ts reads it",
};

/** Fields that are longs on the wire; JSON has them as numbers or, above 2^53, as text. */
const longs = new Set([
  "zxid",
  "czxid",
  "mzxid",
  "pzxid",
  "ctime",
  "mtime",
  "ephemeralOwner",
  "ttl",
  "relativeZxid",
  "lastZxidSeen",
  "sessionId",
]);

/** A decoded value of the file as our tables have it. */
function ours(value: unknown, key = ""): unknown {
  if (longs.has(key)) return BigInt(value as string);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => ours(item));
  const fields = value as Record<string, unknown>;
  if ("$hex" in fields) return hex(fields.$hex as string);
  if ("perms" in fields) {
    // Our Acl has the fields of jute's Id in its own record: the same bytes.
    return { perms: fields.perms, ...(fields.id as object) };
  }
  return Object.fromEntries(
    Object.entries(fields).map(([k, v]) => [k, ours(v, k)]),
  );
}

function operationNamed(name: string): Operation {
  return operations.find((op) => op.name === name)!;
}

/** The body of a frame, as the operation's tables have it. */
function bodyOf({ decoded }: Frame): unknown {
  if (decoded.record === "Multi") {
    return decoded.body.map(([name, request]: [string, unknown]) => ({
      operation: operationNamed(name),
      request: ours(request),
    }));
  }
  if (decoded.record === "MultiResp") {
    // deno-lint-ignore no-explicit-any
    return decoded.body.slice(0, -1).map((part: any): PartResult => {
      const { header: { type, err }, body } = part;
      const empty = type === -1 || type === 2 || type === 13;
      return { type, err, reply: empty ? null : ours(body) };
    });
  }
  if (decoded.record === null || decoded.record === "Empty") return null;
  return ours(decoded.body);
}

/** Reads the whole of a frame's packet, and what we would write for the value. */
function roundTrip<T>(frame: Frame, type: Type<T>): { value: T; hex: string } {
  const reader = new Reader(hex(frame.hex).subarray(4));
  const value = type.read(reader);
  assertEquals(reader.left, 0, "bytes are left");
  return { value, hex: hexOf(framed((to) => type.write(to, value))) };
}

function hexOf(bytes: Uint8Array): string {
  return bytes.reduce(
    (all, byte) => all + byte.toString(16).padStart(2, "0"),
    "",
  );
}

/** Throws unless we write exactly the bytes of a request for its decoded form. */
function checkRequest(frame: Frame): void {
  const { decoded } = frame;
  const out = new Outgoing();
  if (decoded.record?.startsWith("ConnectRequest")) {
    const { record, ...fields } = decoded;
    const value = ours(fields) as ReturnType<typeof r.ConnectRequest.read>;
    // The recording notes a default there, but has no byte for it.
    if (record === "ConnectRequestOld") value.readOnly = undefined;
    assertEquals(roundTrip(frame, r.ConnectRequest).value, value);
    out.packet((to) => {
      if (record === "ConnectRequestOld") {
        return r.ConnectRequest.write(to, value);
      }
      writeHello(to, {
        lastZxid: value.lastZxidSeen,
        timeout: value.timeOut,
        sessionId: value.sessionId,
        password: value.passwd!,
        readOnly: value.readOnly!,
      });
    });
  } else {
    const { xid, type } = decoded.header;
    const operation = operationOf.get(type)!;
    const body = bodyOf(frame);
    const reader = new Reader(hex(frame.hex).subarray(12));
    assertEquals([operation.request.read(reader), reader.left], [body, 0]);
    out.request(xid, operation, body, null);
  }
  assertEquals(hexOf(out.take()!), frame.hex);
}

/** Throws unless we read a frame of a server as its decoded form, and would write the same bytes for that. */
function checkReply(frame: Frame, operation: Operation | undefined): void {
  const { decoded } = frame;
  if (decoded.record?.startsWith("ConnectResponse")) {
    const { record: _, readOnly, ...fields } = decoded;
    const { value, hex } = roundTrip(frame, r.ConnectResponse);
    assertEquals(value, { ...(ours(fields) as typeof value), readOnly });
    return assertEquals(hex, frame.hex);
  }
  const isEvent = decoded.record === "WatcherEvent";
  const empty = decoded.header.err !== 0;
  const body = isEvent ? r.WatcherEvent : empty ? r.Empty : operation!.reply;
  const { value, hex } = roundTrip(frame, replyOf(body as Type<unknown>));
  assertEquals(value, { header: ours(decoded.header), body: bodyOf(frame) });
  assertEquals(hex, frame.hex);
}

function replyOf(
  body: Type<unknown>,
): Type<{ header: unknown; body: unknown }> {
  const header = r.ReplyHeader as Type<unknown>;
  return {
    name: "reply",
    write(to: Writer, value) {
      header.write(to, value.header);
      body.write(to, value.body);
    },
    read: (from) => ({ header: header.read(from), body: body.read(from) }),
  };
}

/** The operation a reply belongs to: that of the last request of its case before it. */
function askedBy(frame: Frame): Operation | undefined {
  const base = frame.name.replace(/\.(reply|event)(\.\d+)?$/, "");
  const request = frames.slice(0, frames.indexOf(frame)).findLast((f) =>
    f.serverVersion === frame.serverVersion && f.name === `${base}.request`
  );
  return operationOf.get(request?.decoded.header?.type);
}

function check(frame: Frame): void {
  if (frame.direction === "client->server") checkRequest(frame);
  else checkReply(frame, askedBy(frame));
}

/** Names of the frames that are not as they should be. */
function failures(
  wanted: (frame: Frame) => boolean,
): { tried: number; failed: string[] } {
  const chosen = frames.filter(wanted);
  const failed = chosen.flatMap((frame) => {
    try {
      check(frame);
      return [];
    } catch (error) {
      return [`${frame.name}: ${error}`];
    }
  });
  return { tried: chosen.length, failed };
}

function regular(frame: Frame): boolean {
  return !Object.hasOwn(exceptions, frame.name);
}

describe("golden frames", () => {
  const counts = [
    ["3.4.13", "client->server", 54],
    ["3.4.13", "server->client", 64],
    ["3.8.0", "client->server", 78],
    ["3.8.0", "server->client", 89],
    ["3.9.3", "client->server", 72],
    ["3.9.3", "server->client", 83],
  ] as const;

  for (const [version, direction, count] of counts) {
    it(`the tables read and write all ${count} frames ${direction} of ${version}, byte for byte`, () => {
      const result = failures((frame) =>
        frame.serverVersion === version && frame.direction === direction &&
        regular(frame)
      );

      assertEquals(result, { tried: count, failed: [] });
    });
  }

  it("the counts above and the exceptions are all 461 frames", () => {
    const counted = counts.reduce((sum, [, , count]) => sum + count, 0);

    const excepted = frames.filter((frame) => !regular(frame)).length;

    assertEquals([counted, excepted, frames.length], [440, 21, 461]);
  });

  for (const [name, reason] of Object.entries(exceptions)) {
    it(`the exception ${name} is needed: ${reason}`, () => {
      const named = (frame: Frame) => frame.name === name;

      const { tried, failed } = failures(named);

      assertEquals([tried > 0, failed.length], [true, tried]);
    });
  }

  it("no operation of ours was left out of the recording, but for reconfig and SASL", () => {
    const recorded = new Set(
      frames.map((frame) => operationOf.get(frame.decoded.header?.type)?.name),
    );

    const missing = operations.map((op) => op.name).filter((name) =>
      !recorded.has(name)
    );

    assertEquals(missing, ["reconfig", "sasl"]);
  });
});
