// Every operation a client may send: its number, its request, its reply, since when; and multi, which is made of others.
// Knows no sessions, no paths and no I/O.
// Used by questions.ts and multi.ts, which turn method calls into these, and by exchange.ts, which sends them.

import { specialXids } from "./codes.ts";
import { ProtocolError } from "./errors.ts";
import type { Reader, Type, ValueOf } from "./jute.ts";
import * as r from "./records.ts";

/** One kind of request and what comes back. */
export interface Operation<Q = unknown, R = unknown> {
  /** The name in ZooDefs.OpCode. */
  readonly name: string;
  /** The number in the request header. */
  readonly code: number;
  readonly request: Type<Q>;
  /** What follows the header of a reply without error. */
  readonly reply: Type<R>;
  /** First release line that knows it; an older one answers -6 and hangs up. */
  readonly since: string;
  /** Changes nothing, or the same again: sent once more by itself after a lost connection. */
  readonly repeatable: boolean;
  /** Set if all requests of this kind carry the same, reserved, transaction id. */
  readonly xid?: number;
}

/** A request that may be sent twice without harm. */
function read<Q, R>(
  name: string,
  code: number,
  request: Type<Q>,
  reply: Type<R>,
  since = "3.4",
): Operation<Q, R> {
  return { name, code, request, reply, since, repeatable: true };
}

/** A request that would do something else the second time. */
function write<Q, R>(
  name: string,
  code: number,
  request: Type<Q>,
  reply: Type<R>,
  since = "3.4",
): Operation<Q, R> {
  return { name, code, request, reply, since, repeatable: false };
}

export const create: Operation<
  ValueOf<typeof r.CreateRequest>,
  ValueOf<typeof r.PathResponse>
> = write("create", 1, r.CreateRequest, r.PathResponse);
export const remove: Operation<ValueOf<typeof r.PathVersionRequest>, null> =
  write("delete", 2, r.PathVersionRequest, r.Empty);
export const exists: Operation<
  ValueOf<typeof r.PathWatchRequest>,
  ValueOf<typeof r.StatResponse>
> = read("exists", 3, r.PathWatchRequest, r.StatResponse);
export const getData: Operation<
  ValueOf<typeof r.PathWatchRequest>,
  ValueOf<typeof r.GetDataResponse>
> = read(
  "getData",
  4,
  r.PathWatchRequest,
  r.GetDataResponse,
);
export const setData: Operation<
  ValueOf<typeof r.SetDataRequest>,
  ValueOf<typeof r.StatResponse>
> = write("setData", 5, r.SetDataRequest, r.StatResponse);
export const getAcl: Operation<
  ValueOf<typeof r.PathRequest>,
  ValueOf<typeof r.GetAclResponse>
> = read("getACL", 6, r.PathRequest, r.GetAclResponse);
export const setAcl: Operation<
  ValueOf<typeof r.SetAclRequest>,
  ValueOf<typeof r.StatResponse>
> = write("setACL", 7, r.SetAclRequest, r.StatResponse);
export const getChildren: Operation<
  ValueOf<typeof r.PathWatchRequest>,
  ValueOf<typeof r.GetChildrenResponse>
> = read(
  "getChildren",
  8,
  r.PathWatchRequest,
  r.GetChildrenResponse,
);
export const sync: Operation<
  ValueOf<typeof r.PathRequest>,
  ValueOf<typeof r.PathResponse>
> = read("sync", 9, r.PathRequest, r.PathResponse);
export const getChildren2: Operation<
  ValueOf<typeof r.PathWatchRequest>,
  ValueOf<typeof r.GetChildren2Response>
> = read(
  "getChildren2",
  12,
  r.PathWatchRequest,
  r.GetChildren2Response,
);
/** Only inside a multi: standing alone, 3.9 refuses it and hangs up. */
export const check: Operation<ValueOf<typeof r.PathVersionRequest>, null> =
  write("check", 13, r.PathVersionRequest, r.Empty);
export const create2: Operation<
  ValueOf<typeof r.CreateRequest>,
  ValueOf<typeof r.Create2Response>
> = write(
  "create2",
  15,
  r.CreateRequest,
  r.Create2Response,
  "3.5",
);
export const reconfig: Operation<
  ValueOf<typeof r.ReconfigRequest>,
  ValueOf<typeof r.GetDataResponse>
> = write(
  "reconfig",
  16,
  r.ReconfigRequest,
  r.GetDataResponse,
  "3.5",
);
export const checkWatches: Operation<ValueOf<typeof r.PathTypeRequest>, null> =
  read(
    "checkWatches",
    17,
    r.PathTypeRequest,
    r.Empty,
    "3.5",
  );
export const removeWatches: Operation<ValueOf<typeof r.PathTypeRequest>, null> =
  read(
    "removeWatches",
    18,
    r.PathTypeRequest,
    r.Empty,
    "3.5",
  );
export const createContainer: Operation<
  ValueOf<typeof r.CreateRequest>,
  ValueOf<typeof r.Create2Response>
> = write(
  "createContainer",
  19,
  r.CreateRequest,
  r.Create2Response,
  "3.5",
);
export const createTtl: Operation<
  ValueOf<typeof r.CreateTtlRequest>,
  ValueOf<typeof r.Create2Response>
> = write(
  "createTTL",
  21,
  r.CreateTtlRequest,
  r.Create2Response,
  "3.5",
);
export const getEphemerals: Operation<
  ValueOf<typeof r.GetEphemeralsRequest>,
  ValueOf<typeof r.GetEphemeralsResponse>
> = read(
  "getEphemerals",
  103,
  r.GetEphemeralsRequest,
  r.GetEphemeralsResponse,
  "3.6",
);
export const getAllChildrenNumber: Operation<
  ValueOf<typeof r.PathRequest>,
  ValueOf<typeof r.GetAllChildrenNumberResponse>
> = read(
  "getAllChildrenNumber",
  104,
  r.PathRequest,
  r.GetAllChildrenNumberResponse,
  "3.6",
);
/** Its reply has a body of four bytes, although nothing failed. */
export const addWatch: Operation<
  ValueOf<typeof r.AddWatchRequest>,
  ValueOf<typeof r.ErrorResponse>
> = read(
  "addWatch",
  106,
  r.AddWatchRequest,
  r.ErrorResponse,
  "3.6",
);
export const whoAmI: Operation<null, ValueOf<typeof r.WhoAmIResponse>> = read(
  "whoAmI",
  107,
  r.Empty,
  r.WhoAmIResponse,
  "3.7",
);
/** Leaving twice is as good as once. */
export const closeSession: Operation<null, null> = read(
  "closeSession",
  -11,
  r.Empty,
  r.Empty,
);

export const ping: Operation<null, null> = {
  ...read("ping", 11, r.Empty, r.Empty),
  xid: specialXids.ping,
};
export const auth: Operation<ValueOf<typeof r.AuthPacket>, null> = {
  ...read("auth", 100, r.AuthPacket, r.Empty),
  xid: specialXids.auth,
};
/** Numbered like any other, as the Java client does; nothing else is under way at that time. */
export const sasl: Operation<
  ValueOf<typeof r.SaslToken>,
  ValueOf<typeof r.SaslToken>
> = read("sasl", 102, r.SaslToken, r.SaslToken);
export const setWatches: Operation<ValueOf<typeof r.SetWatches>, null> = {
  ...read("setWatches", 101, r.SetWatches, r.Empty),
  xid: specialXids.setWatches,
};
export const setWatches2: Operation<ValueOf<typeof r.SetWatches2>, null> = {
  ...read("setWatches2", 105, r.SetWatches2, r.Empty, "3.6"),
  xid: specialXids.setWatches,
};

/** One operation inside a multi or multiRead, with its request. */
export interface Part {
  operation: Operation;
  request: unknown;
}

/** What the server answered to one part: by its own type, which need not be the one asked for. */
export interface PartResult {
  /** Code of the operation whose reply follows; -1 for an error. */
  type: number;
  /** 0, or the error number. */
  err: number;
  /** The reply of that operation; null for errors. */
  reply: unknown;
}

/** Ends the list of parts and that of results. */
const end = { type: -1, done: true, err: -1 };

const Parts: Type<readonly Part[]> = {
  name: "MultiTransactionRecord",
  write(to, parts) {
    for (const { operation, request } of parts) {
      r.MultiHeader.write(to, { type: operation.code, done: false, err: -1 });
      operation.request.write(to, request);
    }
    r.MultiHeader.write(to, end);
  },
  read(from) {
    return until(from, ({ type }, at) => {
      const operation = partOperation(type, at);
      return { operation, request: operation.request.read(from) };
    });
  },
};

/**
 * Results stand under the type the server gives them: a create2 inside a multi
 * comes back as a plain create from 3.8, createContainer and createTTL as create2.
 */
const Results: Type<readonly PartResult[]> = {
  name: "MultiResponse",
  write(to, results) {
    for (const { type, err, reply } of results) {
      r.MultiHeader.write(to, { type, done: false, err });
      if (type === -1) to.int(err);
      else partOperation(type, to.length).reply.write(to, reply);
    }
    r.MultiHeader.write(to, end);
  },
  read(from) {
    return until(from, ({ type }, at) => {
      if (type === -1) return { type, err: from.int(), reply: null };
      return { type, err: 0, reply: partOperation(type, at).reply.read(from) };
    });
  },
};

export const multi: Operation<readonly Part[], readonly PartResult[]> = write(
  "multi",
  14,
  Parts,
  Results,
);
export const multiRead: Operation<readonly Part[], readonly PartResult[]> =
  read("multiRead", 22, Parts, Results, "3.6");

const partOperations: readonly Operation[] = [
  create,
  remove,
  setData,
  check,
  create2,
  createContainer,
  createTtl,
  getData,
  getChildren,
];

const byPartCode: ReadonlyMap<number, Operation> = new Map(
  partOperations.map((op) => [op.code, op]),
);

function partOperation(code: number, at: number): Operation {
  const op = byPartCode.get(code);
  if (op === undefined) {
    throw new ProtocolError(
      `Cannot read a multi: it has an operation ${code}`,
      at,
    );
  }
  return op;
}

function until<T>(
  from: Reader,
  read: (header: { type: number }, at: number) => T,
): T[] {
  const items: T[] = [];
  for (;;) {
    const at = from.offset;
    const header = r.MultiHeader.read(from);
    if (header.done) return items;
    items.push(read(header, at));
  }
}

/** Every operation above, for tracing: what a number in a request header means. */
export const operations: readonly Operation[] = [
  ...partOperations,
  exists,
  getAcl,
  setAcl,
  sync,
  ping,
  getChildren2,
  multi,
  reconfig,
  checkWatches,
  removeWatches,
  multiRead,
  auth,
  sasl,
  setWatches,
  getEphemerals,
  getAllChildrenNumber,
  setWatches2,
  addWatch,
  whoAmI,
  closeSession,
];

/** The same, by number. */
export const operationByCode: ReadonlyMap<number, Operation> = new Map(
  operations.map((op) => [op.code, op]),
);
