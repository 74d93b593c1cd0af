// Requests as a real server reads them: any string and any list may be null, and a multi has rules of its own.
// Knows the wire and the versions; not what a request does.
// Used by desk.ts. Source: BinaryInputArchive, MultiOperationRecord, Op.

import { errorNumbers as errors } from "../protocol/codes.ts";
import { ProtocolError } from "../protocol/errors.ts";
import {
  nullableUstring,
  type Reader,
  record,
  type Type,
  ustring,
} from "../protocol/jute.ts";
import * as ops from "../protocol/operations.ts";
import { MultiHeader } from "../protocol/records.ts";
import { Refusal, writeCodes } from "./plan.ts";
import type { Profile } from "./profiles.ts";

/** Why a request cannot be read: always with the same error. */
export class Unreadable extends Refusal {
  /** Whether it takes a zxid all the same. */
  readonly isCounted: boolean;

  constructor(isCounted: boolean) {
    super(errors.MarshallingError, true);
    this.isCounted = isCounted;
  }
}

/** Reads the request of an operation; throws an Unreadable. */
export function readRequest(
  op: ops.Operation,
  from: Reader,
  profile: Profile,
): unknown {
  const isMulti = op.code === ops.multi.code;
  try {
    return isMulti || op.code === ops.multiRead.code
      ? readParts(from, profile)
      : lenient(op).read(from);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const isCounted = isMulti || profile.isUnreadableCounted &&
        writeCodes.has(op.code) && op.code !== ops.reconfig.code;
    throw new Unreadable(isCounted);
  }
}

const lenientRequests = new Map<ops.Operation, Type<unknown>>();

function lenient(op: ops.Operation): Type<unknown> {
  let type = lenientRequests.get(op);
  if (type === undefined) {
    lenientRequests.set(op, type = withNulls(op.request));
  }
  return type;
}

/** The same type, but for nulls. */
function withNulls(type: Type<unknown>): Type<unknown> {
  // An identity in an ACL is another sort of string, with an answer to null of its own.
  if (type === ustring) return nullableUstring as Type<unknown>;
  if (type.item) return listWithNulls(withNulls(type.item));
  if (type.fields === undefined) return type;
  return record(
    type.name,
    Object.fromEntries(
      Object.entries(type.fields).map(([key, type]) => [key, withNulls(type)]),
    ),
  ) as Type<unknown>;
}

function listWithNulls(item: Type<unknown>): Type<unknown> {
  return {
    name: `vector<${item.name}>`,
    write() {
      throw new Error("Cannot write a request: servers only read them");
    },
    read(from) {
      const count = from.count("a list");
      if (count === -1) return null;
      return Array.from({ length: count }, () => item.read(from));
    },
  };
}

// deno-lint-ignore no-explicit-any
type Request = any;

function readParts(from: Reader, profile: Profile): ops.Part[] {
  const parts: ops.Part[] = [];
  for (;;) {
    const at = from.offset;
    const { type, done } = MultiHeader.read(from);
    if (done) return parts;
    const asked = partOperations.get(type);
    if (asked === undefined || asked.since > profile.version) {
      throw new ProtocolError(`Cannot read a multi: an operation ${type}`, at);
    }
    const request = lenient(asked).read(from) as Request;
    const operation = meant(asked, request, profile, at);
    if (operation !== asked) delete request.ttl;
    parts.push({ operation, request });
    const isWrite = (part: ops.Part) => writeCodes.has(part.operation.code);
    if (isWrite(parts[0]) !== isWrite(parts.at(-1)!)) {
      throw new ProtocolError("Cannot read a multi: reads and writes", at);
    }
  }
}

const partOperations: ReadonlyMap<number, ops.Operation> = new Map(
  ([
    ops.create,
    ops.remove,
    ops.setData,
    ops.check,
    ops.create2,
    ops.createContainer,
    ops.createTtl,
    ops.getData,
    ops.getChildren,
  ] as ops.Operation[]).map((op) => [op.code, op]),
);

/** Inside a multi it is the flags that decide what is created, before the operation. */
function meant(
  asked: ops.Operation,
  { flags, acl }: Request,
  { areFlagsReadEarly, isCreate2Downgraded, lastFlags }: Profile,
  at: number,
): ops.Operation {
  // 3.4 has no other create.
  if (flags === undefined || lastFlags < 4) return asked;
  const isTtl = flags === 5 || flags === 6;
  const isOfTtl = asked.code === ops.createTtl.code;
  if (areFlagsReadEarly && !isOfTtl) {
    const isKnown = flags >= 0 && flags <= 6;
    if (isKnown && acl === null) throw new Unreadable(false);
    if (!isKnown || isTtl) {
      throw new ProtocolError(`Cannot read a multi: flags ${flags}`, at);
    }
  }
  if (isTtl) return ops.createTtl as ops.Operation;
  if (flags === 4) return ops.createContainer as ops.Operation;
  const isPlain = isOfTtl || isCreate2Downgraded;
  return isPlain ? ops.create as ops.Operation : asked;
}
