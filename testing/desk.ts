// Requests of one connection, served in order: writes are handed on as they come, reads wait for the writes before them.
// Knows operations and their replies; no bytes, no handshake.
// Used by peer.ts. Source: CommitProcessor.

import { specialXids } from "../protocol/codes.ts";
import type { Reader } from "../protocol/jute.ts";
import * as ops from "../protocol/operations.ts";
import type { Backend, Outcome, RequestVerdict } from "./backend.ts";
import type { Peer } from "./peer.ts";
import { Refusal, unreadable, type Write, writeCodes } from "./plan.ts";
import { readRequest, Unreadable } from "./requests.ts";

/** A request that has a right to an answer. */
export interface Ask {
  xid: number;
  op: ops.Operation;
  verdict: RequestVerdict;
}

/** What is answered. */
export interface Reply {
  zxid: bigint;
  err: number;
  /** Of the operation's reply. With an error only a multi has one: what it got so far. */
  body?: unknown;
}

interface Place {
  ask: Ask;
  /** What is answered when it is this one's turn; undefined until that can be known. */
  reply: (() => Reply) | undefined;
}

/** Serves the requests of one peer. */
export class Desk {
  readonly #peer: Peer;
  readonly #backend: Backend;
  readonly #queue: Place[] = [];
  #isServing = false;

  constructor(peer: Peer, backend: Backend) {
    this.#peer = peer;
    this.#backend = backend;
  }

  /** Takes a request; answers come by answer() of the peer, in the order of the requests. */
  serve(ask: Ask, reader: Reader): void {
    const place: Place = { ask, reply: undefined };
    this.#queue.push(place);
    this.#begin(place, reader);
    this.#proceed();
  }

  #begin(place: Place, reader: Reader): void {
    const { op, verdict } = place.ask;
    if (typeof verdict === "number") {
      place.reply = () => this.#refused(verdict);
      return;
    }
    let request: unknown;
    try {
      request = readRequest(op, reader, this.#backend.profile);
    } catch (why) {
      if (!(why instanceof Unreadable)) throw why;
      if (why.isCounted) return this.#write(place, why);
      place.reply = () => this.#refused(why.number);
      return;
    }
    if (op.code === ops.multi.code) {
      return this.#multi(place, request as readonly ops.Part[]);
    }
    if (writeCodes.has(op.code)) {
      return this.#write(place, [{ code: op.code, request }]);
    }
    if (op.code === ops.closeSession.code) {
      return this.#backend.closeSession(this.#peer, this.#done(place));
    }
    if (op.code === ops.sync.code) {
      return this.#backend.sync(this.#peer, () => {
        place.reply = () => this.#ok(request);
        this.#proceed();
      });
    }
    place.reply = () => this.#read(op, request);
  }

  #multi(place: Place, parts: readonly ops.Part[]): void {
    // deno-lint-ignore no-explicit-any
    const isNull = parts.some(({ request }) => (request as any).path === null);
    if (isNull && this.#backend.profile.isMultiWithNullLost) {
      this.#backend.skip();
      place.reply = () => ({ ...this.#refused(unreadable.number), body: [] });
      return;
    }
    const isBad = isNull ||
      parts.some(({ operation: { code } }) => !writeCodes.has(code));
    if (isBad) return this.#write(place, unreadable);
    const writes = parts
      .map(({ operation: { code }, request }) => ({ code, request }));
    this.#write(place, writes, parts);
  }

  #write(
    place: Place,
    writes: Write[] | Refusal,
    parts?: readonly ops.Part[],
  ): void {
    this.#backend.write(this.#peer, writes, this.#done(place, parts));
  }

  /** Called back when a write is part of the history. */
  #done(
    place: Place,
    parts?: readonly ops.Part[],
  ): (outcome: Outcome) => void {
    return (outcome) => {
      place.reply = () => this.#wrote(parts, outcome);
      this.#proceed();
    };
  }

  #wrote(
    parts: readonly ops.Part[] | undefined,
    { transaction: { zxid, refused }, results }: Outcome,
  ): Reply {
    if (parts === undefined || refused?.isWhole) {
      if (refused) return { zxid, err: refused.number };
      return { zxid, err: 0, body: results[0] ?? null };
    }
    const { answers } = this.#backend;
    const body = refused
      ? answers.wroteNone(parts, refused)
      : answers.wroteAll(parts, results);
    return { zxid, err: 0, body };
  }

  #read({ code }: ops.Operation, request: unknown): Reply {
    if (code === ops.ping.code) return this.#ok(null);
    const { answers } = this.#backend;
    try {
      if (code !== ops.multiRead.code) {
        return this.#ok(answers.read(code, request, this.#peer));
      }
      const parts = request as readonly ops.Part[];
      const { zxid } = this.#backend;
      return { zxid, ...answers.readAll(parts, this.#peer) };
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      return this.#refused(refusal.number);
    }
  }

  #ok(body: unknown): Reply {
    return { zxid: this.#backend.zxid, err: 0, body };
  }

  #refused(err: number): Reply {
    return { zxid: this.#backend.zxid, err };
  }

  /** Answers as many as can be answered now. */
  #proceed(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    try {
      for (let place; (place = this.#queue[0])?.reply;) {
        this.#queue.shift();
        this.#answer(place);
      }
    } finally {
      this.#isServing = false;
    }
  }

  #answer({ ask, reply }: Place): void {
    const { op, verdict } = ask;
    const answer = reply!();
    // Outside of a multi, a check that holds trips a real server up when it writes the reply.
    if (op.code === ops.check.code && answer.err === 0) return;
    if (verdict === "cut-after") return this.#peer.reset();
    const isPing = op.code === ops.ping.code;
    const xid = isPing ? specialXids.ping : ask.xid;
    if (verdict !== "drop-reply") this.#peer.answer(xid, op, answer);
    if (op.code === ops.closeSession.code) this.#peer.finish();
  }
}
