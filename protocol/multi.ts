// Operations of a multi as users write them, and as they go over the wire.
// Pure: knows no sessions.
// Used by client.ts and questions.ts.

import type { CallOptions, Op, OpResult, ReadOp, ReadResult } from "./api.ts";
import {
  aclOf,
  bytesOf,
  fullPath,
  isSequential,
  type Scope,
  ttlOf,
  versionOf,
} from "./arguments.ts";
import { createFlags, errorName, numberOf } from "./codes.ts";
import {
  type FailedOp,
  MultiError,
  ProtocolError,
  ServerError,
} from "./errors.ts";
import * as ops from "./operations.ts";
import type { Marks } from "./internals.ts";
import { stripChroot } from "./path.ts";
import type { Stat } from "./znode.ts";
import { type Ask, ask } from "./requests.ts";

/** Operation and request of a create in any mode; `plain` is the operation for modes without one of their own. */
export function createPart(
  scope: Scope,
  op: Omit<Op & { op: "create" }, "op">,
  plain: ops.Operation = ops.create as ops.Operation,
): ops.Part {
  const mode = op.mode ?? "persistent";
  const flags = numberOf(createFlags, mode, "mode");
  const request = {
    path: fullPath(scope, op.path, isSequential(mode)),
    data: bytesOf(op.data),
    acl: aclOf(op.acl ?? scope.acl),
    flags,
  };
  if (mode === "container") {
    return { operation: ops.createContainer as ops.Operation, request };
  }
  if (mode.endsWith("ttl")) {
    const ttl = ttlOf(op.ttl);
    return {
      operation: ops.createTtl as ops.Operation,
      request: { ...request, ttl },
    };
  }
  if (op.ttl !== undefined) {
    throw new TypeError(`Cannot create: a ttl needs a mode with one: ${mode}`);
  }
  return { operation: plain, request };
}

/** The wire form of one operation of a multi. */
export function writePart(scope: Scope, op: Op): ops.Part {
  switch (op.op) {
    case "create":
      return createPart(scope, op);
    case "delete":
    case "check": {
      const request = {
        path: fullPath(scope, op.path),
        version: versionOf(op.version),
      };
      const operation = op.op === "check" ? ops.check : ops.remove;
      return { operation: operation as ops.Operation, request };
    }
    case "setData": {
      const request = {
        path: fullPath(scope, op.path),
        data: bytesOf(op.data),
        version: versionOf(op.version),
      };
      return { operation: ops.setData as ops.Operation, request };
    }
    default:
      throw new TypeError(
        `Cannot do a multi: unknown operation: ${(op as { op: string }).op}`,
      );
  }
}

/**
 * Reads the results of a multi. A failed one comes with header error 0 like any
 * other; what went wrong stands in the results. Throws a MultiError for it.
 */
export function readResults(
  asked: readonly Pick<Op, "op" | "path">[],
  results: readonly ops.PartResult[],
  zxid: bigint,
  inward: (path: string) => string,
): OpResult[] {
  checkCount(asked, results);
  const index = results.findIndex((result) => result.err !== 0);
  if (index >= 0) {
    const failed = results.map(({ err }, i): FailedOp => ({
      op: asked[i].op,
      path: asked[i].path,
      code: err === 0 ? "Ok" : errorName(err),
      number: err,
    }));
    throw new MultiError(index, failed, zxid);
  }
  return results.map(({ type, reply }, i) => {
    const op = asked[i].op;
    if (kindOf[type] !== op) throw mismatch(op, type);
    const { path, stat } = (reply ?? {}) as { path: string; stat: Stat };
    if (op === "create") {
      return stat
        ? { op, path: inward(path), stat }
        : { op, path: inward(path) };
    }
    return op === "setData" ? { op, stat } : { op };
  });
}

/** Reads the results of a multiRead. */
export function readReads(
  asked: readonly ReadOp[],
  results: readonly ops.PartResult[],
): ReadResult[] {
  checkCount(asked, results);
  return results.map(({ type, err, reply }, i): ReadResult => {
    const { op, path } = asked[i];
    if (err !== 0) {
      const error = new ServerError({ number: err, op, path, zxid: null });
      return { op: "error", error };
    }
    if (kindOf[type] !== op) throw mismatch(op, type);
    return { op, ...(reply as object) } as ReadResult;
  });
}

/** What a multi asks. */
export function multi(
  scope: Scope,
  list: readonly Op[],
  { signal, ...marks }: CallOptions & Marks,
): Ask<{ zxid: bigint; results: OpResult[] }> {
  const inward = (path: string) => stripChroot(scope.chroot, path);
  const asked = list.map(({ op, path }) => ({ op, path }));
  return ask({
    op: ops.multi,
    body: list.map((op) => writePart(scope, op)),
    signal,
    ...marks,
    map: (results, zxid) => ({
      zxid,
      results: readResults(asked, results, zxid, inward),
    }),
  });
}

/** What a multiRead asks. */
export function multiRead(
  scope: Scope,
  reads: readonly ReadOp[],
  { signal }: CallOptions,
): Ask<ReadResult[]> {
  const body = reads.map(({ op, path }): ops.Part => {
    numberOf({ getData: 1, getChildren: 1 }, op, "read");
    const operation = op === "getChildren" ? ops.getChildren : ops.getData;
    const request = { path: fullPath(scope, path), watch: false };
    return { operation: operation as ops.Operation, request };
  });
  const asked = reads.map(({ op, path }) => ({ op, path }));
  const map = (results: readonly ops.PartResult[]) => readReads(asked, results);
  return ask({ op: ops.multiRead, body, signal, map });
}

const kindOf: Record<number, Op["op"] | ReadOp["op"]> = {
  [ops.create.code]: "create",
  [ops.create2.code]: "create",
  [ops.createContainer.code]: "create",
  [ops.createTtl.code]: "create",
  [ops.remove.code]: "delete",
  [ops.setData.code]: "setData",
  [ops.check.code]: "check",
  [ops.getData.code]: "getData",
  [ops.getChildren.code]: "getChildren",
};

function checkCount(
  asked: readonly unknown[],
  results: readonly unknown[],
): void {
  if (asked.length === results.length) return;
  throw new ProtocolError(
    `Cannot read a multi: ${results.length} results for ${asked.length} operations`,
    0,
  );
}

function mismatch(asked: string, type: number): ProtocolError {
  return new ProtocolError(
    `Cannot read a multi: a result of type ${type} for ${asked}`,
    0,
  );
}
