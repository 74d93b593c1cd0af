// Requests of one connection, served in order: writes are handed on as they come, reads wait for the writes before them.
// Knows operations and their replies; no bytes, no handshake.
// Used by peer.ts. Source: CommitProcessor.

import { errorNumbers as errors, specialXids } from "../protocol/codes.ts";
import type { Reader } from "../protocol/jute.ts";
import * as ops from "../protocol/operations.ts";
import type { Backend, Outcome, RequestVerdict } from "./backend.ts";
import type { Peer } from "./peer.ts";
import { Refusal, type Write, writeCodes } from "./plan.ts";

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
  /** Of the operation's reply; only without an error. */
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
    const isWrite = writeCodes.has(op.code) || op.code === ops.multi.code;
    if (typeof verdict === "number") {
      place.reply = () => this.#refused(verdict);
      return;
    }
    let request: unknown;
    try {
      request = op.request.read(reader);
    } catch {
      const refusal = new Refusal(errors.MarshallingError);
      if (isWrite) return this.#write(place, refusal);
      place.reply = () => this.#refused(refusal.number);
      return;
    }
    if (isWrite) {
      const writes = this.#writes(op, request);
      // Not one of its parts is at fault: it is answered as a whole.
      if (writes instanceof Refusal) return this.#write(place, writes);
      return this.#write(place, writes, request);
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

  /** What is written, or why it cannot be. */
  #writes(op: ops.Operation, request: unknown): Write[] | Refusal {
    if (op.code !== ops.multi.code) return [{ code: op.code, request }];
    const parts = request as readonly ops.Part[];
    const { version } = this.#backend.profile;
    const isBad = parts.some(({ operation: { code, since } }) =>
      !writeCodes.has(code) || since > version
    );
    if (isBad) return new Refusal(errors.MarshallingError);
    return parts.map(({ operation: { code }, request }) => ({ code, request }));
  }

  #write(place: Place, writes: Write[] | Refusal, request?: unknown): void {
    this.#backend.write(this.#peer, writes, this.#done(place, request));
  }

  /** Called back when a write is part of the history. */
  #done(place: Place, request?: unknown): (outcome: Outcome) => void {
    return (outcome) => {
      place.reply = () => this.#wrote(place.ask.op, request, outcome);
      this.#proceed();
    };
  }

  #wrote(
    { code }: ops.Operation,
    request: unknown,
    { transaction: { zxid, refused }, results }: Outcome,
  ): Reply {
    if (code === ops.multi.code && request !== undefined) {
      const { answers } = this.#backend;
      const parts = request as readonly ops.Part[];
      const body = refused
        ? answers.wroteNone(parts, refused)
        : answers.wroteAll(parts, results);
      return { zxid, err: 0, body };
    }
    if (refused) return { zxid, err: refused.number };
    return { zxid, err: 0, body: results[0] ?? null };
  }

  #read({ code }: ops.Operation, request: unknown): Reply {
    if (code === ops.ping.code) return this.#ok(null);
    const { answers } = this.#backend;
    try {
      if (code !== ops.multiRead.code) {
        return this.#ok(answers.read(code, request, this.#peer));
      }
      const parts = request as readonly ops.Part[];
      const isMixed = parts.some(({ operation: { code } }) =>
        writeCodes.has(code)
      );
      if (isMixed) return this.#refused(errors.MarshallingError);
      return this.#ok(answers.readAll(parts, this.#peer));
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
    for (let place; (place = this.#queue[0])?.reply;) {
      this.#queue.shift();
      this.#answer(place);
    }
    this.#isServing = false;
  }

  #answer({ ask, reply }: Place): void {
    const { op, verdict } = ask;
    const answer = reply!();
    if (verdict === "cut-after") return this.#peer.reset();
    const isPing = op.code === ops.ping.code;
    const xid = isPing ? specialXids.ping : ask.xid;
    if (verdict !== "drop-reply") this.#peer.answer(xid, op, answer);
    if (op.code === ops.closeSession.code) this.#peer.finish();
  }
}
