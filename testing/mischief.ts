// Which requests are not served as they should be, and how connections are met.
// Knows requests and their fates; no sockets, no time.
// Used by server.ts.

import { errorNumbers } from "../protocol/codes.ts";
import { Writer } from "../protocol/jute.ts";
import { ReplyHeader } from "../protocol/records.ts";
import type { Hello, Onlooker, RequestVerdict } from "./backend.ts";
import { operationByCode } from "../protocol/operations.ts";
import { withoutSecrets } from "../protocol/secrets.ts";
import { checkOperation } from "./checks.ts";
import type { Engine } from "./engine.ts";
import type { Peer } from "./peer.ts";
import { writeCodes } from "./plan.ts";
import { Rulebook } from "./rulebook.ts";
import type {
  Reception,
  RequestFate,
  RequestRule,
  SeenRequest,
} from "./server_api.ts";

/** So many requests are kept, and at times a tenth more. */
const mostRequests = 100_000;

/** Looks at every request, and interferes if told to. */
export class Mischief implements Onlooker {
  rule: RequestRule | undefined;
  reception: Reception = "normal";
  requests: SeenRequest[] = [];
  /** What the rule threw first. */
  failure: { cause: unknown } | undefined;
  readonly #counts = new Map<string, number>();
  readonly #engine: Engine;
  readonly #faults = new Rulebook<SeenRequest, RequestFate>("server");
  #seen = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
    engine.isReadOnly = () => this.reception.startsWith("read-only");
  }

  count(op?: string): number {
    if (op !== undefined) return this.#counts.get(op) ?? 0;
    let count = 0;
    for (const each of this.#counts.values()) count += each;
    return count;
  }

  /** Forgets what was asked. */
  clear(): void {
    this.requests = [];
    this.#counts.clear();
  }

  /** The fate of the next request of an operation. Resolves when it has met it. */
  next(what: string, op: string, fate: RequestFate): Promise<SeenRequest> {
    checkOperation(what, op);
    verdictOf(fate);
    return this.#faults.once(
      `${what} ${op}`,
      (seen) => seen.op === op ? fate : undefined,
    );
  }

  /** No more of it. */
  heal(why: string): void {
    this.rule = undefined;
    this.reception = "normal";
    this.#faults.giveUp(why);
  }

  asked(peer: Peer, op: string, xid: number, body: Uint8Array): RequestVerdict {
    const { session } = peer;
    const bytes = withoutSecrets("sent", op, body.slice());
    const seen = { index: this.#seen++, op, xid, session, bytes };
    this.#keep(seen);
    try {
      const fate = this.rule?.(seen) ?? this.#faults.judge(seen);
      return verdictOf(fate ?? this.#usual(op));
    } catch (cause) {
      this.failure ??= { cause };
      return "cut-before";
    }
  }

  #keep(seen: SeenRequest): void {
    this.#counts.set(seen.op, this.count(seen.op) + 1);
    this.requests.push(seen);
    // Not one by one: to take the first of so many away moves all others.
    const surplus = this.requests.length - mostRequests;
    if (surplus >= mostRequests / 10) this.requests.splice(0, surplus);
  }

  /** What becomes of a request that nobody has plans for. */
  #usual(op: string): RequestFate {
    const isRefused = this.reception === "read-only-session" &&
      changing.has(op);
    return isRefused ? "NotReadOnly" : "serve";
  }

  greet(peer: Peer, hello: Hello): boolean {
    if (this.reception === "normal") return false;
    if (this.reception === "hang-up") peer.finish();
    if (this.reception === "read-only") {
      peer.send(readOnlyRefusal(this.#engine.zxid));
    }
    if (this.reception === "read-only-session") {
      this.#engine.helloReadOnly(peer, hello);
    }
    if (this.reception === "other-session") {
      this.#engine.hello(peer, { ...hello, sessionId: 0n });
    }
    return true;
  }
}

/** A bare header, where a client expects an answer to its handshake. */
function readOnlyRefusal(zxid: bigint): Uint8Array {
  const to = new Writer();
  to.int(16);
  ReplyHeader.write(to, { xid: 0, zxid, err: errorNumbers.NotReadOnly });
  return to.copy();
}

const verdicts = ["serve", "cut-before", "cut-after", "drop-reply", "ignore"];

function verdictOf(fate: RequestFate): RequestVerdict {
  if (typeof fate === "number" || verdicts.includes(fate)) {
    return fate as RequestVerdict;
  }
  const number = errorNumbers[fate as keyof typeof errorNumbers];
  if (number !== undefined) return number;
  throw new TypeError(`Cannot answer with ${fate}: there is no such error`);
}

/** What a read-only server refuses. */
const changing: ReadonlySet<string> = new Set([
  "multi",
  "sync",
  ...[...writeCodes].map((code) => operationByCode.get(code)!.name),
]);
