// What is known to differ between 3.8.0 and 3.9.3, in that order: each rule excuses one thing and names it.
// Must not excuse what is not in here; knows nothing of the embedded server, which is never excused.
// Used by play.ts --excuse.

import { type Command, operationOf, type Request } from "./commands.ts";
import type { Heard } from "./normal.ts";
import type { Outcome } from "./player.ts";
import type { Excuse, Reason } from "./trace.ts";

const go = (why: string): Reason => ({ why, goesOn: true });
const stop = (why: string): Reason => ({ why, goesOn: false });

interface Header {
  zxid: string;
  err: number;
}

/** Requests that would change something if they could be read. */
const writes = new Set([
  "create",
  "create2",
  "createContainer",
  "createTTL",
  "delete",
  "setData",
  "setACL",
  "multi",
  "reconfig",
]);

/** Says why 3.8.0 and 3.9.3 answered differently; the first reason of those there are. */
export const versionsDiffer: Excuse = (trace, first, second) => {
  const command = trace.at(-1)!;
  const requests = command.do === "ask"
    ? command.requests
    : command.do === "hello"
    ? command.requests ?? []
    : [];
  const reasons: Reason[] = [];
  if (isShifted(first, second)) {
    const isLost = requests.some(({ cut, op }) =>
      cut !== undefined && writes.has(`${op}`)
    );
    if (isLost) return stop("a write that cannot be read: 3.8.0 counts it");
    if (requests.some(({ op }) => op === "check")) return checkAlone;
    const isNullAcl = requests.some(({ parts }) =>
      parts?.some(({ body }) => body?.acl === null)
    );
    if (isNullAcl) return stop("a null ACL in a multi: 3.9.3 cannot read it");
  }
  const isNull = requests.some(({ parts }) =>
    parts?.some(({ body }) => body?.path === null)
  );
  // 3.8.0 throws in the middle: it has taken a zxid, but shows it with the next
  // write only, and the -5 has the body of an empty multi.
  if (isNull && isSame(withoutZxids(first), withoutZxids(second))) {
    return go("a null path in a multi: 3.8.0 is confused");
  }
  for (const [on, heard] of first.entries()) {
    const other = [...second[on]];
    const own = on === command.on ? requests.map((one) => one) : [];
    for (const a of heard) {
      const isAnswer = a.what === "reply" ||
        a.what === "ping" && own[0]?.op === "ping";
      const request = isAnswer ? own.shift() : undefined;
      const b = other[0];
      if (b !== undefined && isSame(a, b)) {
        other.shift();
        continue;
      }
      const reason = a.what === "event" || b?.what === "event"
        ? ofEvents(trace, a, other)
        : ofReplies(trace, request, a, b);
      if (reason === undefined) return undefined;
      reasons.push(reason);
      if (!reason.goesOn) return reason;
      if (a.what !== "event") other.shift();
    }
    for (const b of other) {
      const reason = b.what === "event" && isMixed(trace, pathOf(b))
        ? mixed
        : undefined;
      if (reason === undefined) return undefined;
      reasons.push(reason);
    }
  }
  return reasons[0];
};

const checkAlone = stop("check alone is unknown, and hung up on");
const mixed = go("events of paths that addWatch was used on: modes replace");

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The same, and of multis that cannot be read without what they have got so far. */
function withoutZxids(outcome: Outcome): unknown {
  return outcome.map((heard) =>
    heard.map(({ header, body, size, ...rest }) => {
      const { err } = (header ?? {}) as Header;
      const isNothing = rest.op === "multi" && err === -5;
      return isNothing ? { ...rest, err } : { ...rest, err, body, size };
    })
  );
}

function isShifted(first: Outcome, second: Outcome): boolean {
  const last = (outcome: Outcome) =>
    (outcome.flat().findLast(({ what }) => what === "ping")?.header as Header)
      ?.zxid;
  return last(first) !== last(second);
}

function pathOf(heard: Heard): string {
  return (heard.body as { path: string }).path;
}

/** Takes out of `other` what stands for the event `a`, and events that only it has. */
function ofEvents(
  trace: readonly Command[],
  a: Heard,
  other: Heard[],
): Reason | undefined {
  while (other[0]?.what === "event" && isMixed(trace, pathOf(other[0]))) {
    if (a.what === "event" && isSame(a.body, other[0].body)) break;
    other.shift();
    if (a.what !== "event") {
      if (other[0]?.what === "event") continue;
      if (isSame(a, other[0])) return mixed;
    }
  }
  const b = other[0];
  if (a.what === "event" && b?.what === "event" && isSame(a.body, b.body)) {
    other.shift();
    return (a.header as Header).zxid === "-1"
      ? go("events carry a zxid")
      : undefined;
  }
  return a.what === "event" && isMixed(trace, pathOf(a)) ? mixed : undefined;
}

function ofReplies(
  trace: readonly Command[],
  request: Request | undefined,
  a: Heard,
  b: Heard | undefined,
): Reason | undefined {
  if (!request || b?.what !== "reply") return undefined;
  const name = operationOf(request)?.name;
  const [{ err: one }, { err: two }] = [a.header as Header, b.header as Header];
  const body = request.body as Record<string, unknown> | null;
  const isOfWatches = name === "removeWatches" || name === "checkWatches";
  if (isOfWatches && (body?.type === 4 || body?.type === 5) && one === -5) {
    const reason = "removeWatches and checkWatches know the types 4 and 5";
    return name === "removeWatches" && two === 0 ? stop(reason) : go(reason);
  }
  const isLost = one === -5 && !`${body?.path}`.startsWith("/");
  if (name === "checkWatches" && two === -121 && (one === 0 || isLost)) {
    // ZOOKEEPER-4471. With a path that does not begin with "/", -5 if there is a recursive watch anywhere.
    return go(
      "checkWatches sees watches of other connections and of paths above",
    );
  }
  if (isOfWatches && isMixed(trace, body?.path as string)) {
    const reason = "removeWatches and checkWatches tell modes apart";
    return name === "removeWatches" ? stop(reason) : go(reason);
  }
  if (name === "exists" && two === -102) {
    const reason = "exists needs READ";
    return body?.watch ? stop(reason) : go(reason);
  }
  if (name === "check" && two === -6) return checkAlone;
  if (name === "multi" && one === 0 && two === -5 && hasOddFlags(request)) {
    return go(
      "multi with flags that mean nothing: -5, not the error of a part",
    );
  }
  if (name === "multi" && one === 0 && two === 0) {
    const [x, y] = [a.body, b.body] as { type: number; err: number }[][];
    const isOf15 = x.every((part, i) =>
      isSame(part, y[i]) || part.type === 1 && y[i].type === 15 &&
        /^create./.test(`${request.parts![i].op}`)
    );
    if (isOf15) return go("create2 in a multi is answered as create2");
  }
  return undefined;
}

function hasOddFlags({ parts }: Request): boolean {
  return parts!.some(({ op, body }) => {
    if (!body || !("flags" in body)) return false;
    const isTtl = body.flags === 5 || body.flags === 6;
    const isKnown = Number(body.flags) >= 0 && Number(body.flags) <= 6;
    return !isKnown || isTtl !== (op === "createTTL");
  });
}

/** Whether a watch of addWatch has been on this path or above it: then 3.8.0 may have lost one for another. */
function isMixed(trace: readonly Command[], path: string): boolean {
  const isAbove = (other: unknown) =>
    other === path || other === "/" || `${path}/`.startsWith(`${other}/`);
  return trace.some((command) =>
    (command.do === "ask" || command.do === "hello") &&
    (command.requests ?? []).some(({ op, body }) =>
      op === "addWatch" && isAbove(body?.path) ||
      op === "setWatches2" && [
          ...(body?.persistentWatches as string[] | null) ?? [],
          ...(body?.persistentRecursiveWatches as string[] | null) ?? [],
        ].some(isAbove)
    )
  );
}
