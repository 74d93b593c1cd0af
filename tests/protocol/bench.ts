// A SessionMachine on the bench: a host that notes what it is told, a clock that is moved by hand, a server that is a script.
// Hangs up and wakes as connection.ts does, at once and to the millisecond.
// Used by the session tests.

import { assertEquals } from "@std/assert";
import type { Moment } from "../../protocol/moment.ts";
import type { SessionState } from "../../protocol/news.ts";
import type { Operation } from "../../protocol/operations.ts";
import type { Pending, Request } from "../../protocol/requests.ts";
import type { Credential, Host, SessionSettings } from "../../protocol/host.ts";
import { SessionMachine } from "../../protocol/session.ts";
import type { Watcher, WatchEvent } from "../../protocol/watches.ts";
import {
  answer,
  type Asked,
  type Grant,
  header,
  type Hello,
  operationOf,
  packetsIn,
  readHello,
  readRequest,
  welcome,
} from "./wire.ts";

/** What became of a request. */
export class Outcome<R = unknown> {
  readonly replies: R[] = [];
  readonly zxids: bigint[] = [];
  readonly errors: Error[] = [];
  pending!: Pending;

  /** How often it was settled: must be 1 in the end. */
  get settled(): number {
    return this.replies.length + this.errors.length;
  }

  /** Its state for comparison: "open", "resolved", or name and outcome of the error. */
  get state(): string {
    if (this.settled > 1) return `settled ${this.settled} times`;
    if (this.replies.length > 0) return "resolved";
    const [error] = this.errors;
    if (error === undefined) return "open";
    const { name, outcome } = error as Error & { outcome?: string };
    return outcome ? `${name} ${outcome}` : name;
  }
}

/** A request that was sent, and when. */
export type Sent = Asked & { at: number };

export class Bench {
  readonly session: SessionMachine;
  readonly settings: SessionSettings;
  mono: number;
  wall = 1_700_000_000_000;
  /** What the host was told. */
  readonly disconnects: Error[] = [];
  readonly states: SessionState[] = [];
  readonly causes: Array<Error | undefined> = [];
  readonly told: Array<{ watcher: Watcher; event: WatchEvent }> = [];
  /** What came, in order: "ended", "attached", states, events, for tests of order. */
  readonly log: string[] = [];
  readonly outcomes: Outcome<never>[] = [];
  readonly hellos: Hello[] = [];
  /** Every request that left, on all connections. */
  readonly sent: Sent[] = [];
  /** Number of writes. */
  writes = 0;
  /** What host.attached() does. */
  attached: () => void = () => {};
  /** When the session wants to be woken. */
  wake: number | undefined;
  #flush = false;
  #greeting = false;

  constructor(over: Partial<SessionSettings> = {}, mono = 1000) {
    this.mono = mono;
    this.settings = {
      timeout: 9000,
      readOnly: false,
      maxPacket: 1 << 20,
      credentials: [],
      ...over,
    };
    const host: Host = {
      flushSoon: () => void (this.#flush = true),
      wakeAt: (at) => {
        if (this.wake === undefined || at < this.wake) this.wake = at;
      },
      disconnect: (cause) => {
        this.disconnects.push(cause);
        this.log.push("disconnect");
        this.session.lost(cause);
      },
      changed: (cause) => {
        this.states.push(this.session.state);
        this.causes.push(cause);
        this.log.push(this.session.state);
      },
      ended: () => void this.log.push("ended"),
      attached: () => {
        this.log.push("attached");
        this.attached();
      },
      notify: (watchers, event) => {
        for (const watcher of watchers) {
          this.told.push({ watcher, event });
          this.log.push(`${event.type} ${event.path}`);
        }
      },
    };
    this.session = new SessionMachine(this.settings, host);
  }

  get now(): Moment {
    return { mono: this.mono, wall: this.wall };
  }

  /** The turn of the event loop ends: what is to be written leaves. Answers the requests in it. */
  turn(): Sent[] {
    if (!this.#flush) return [];
    this.#flush = false;
    const bytes = this.session.flush(this.now);
    if (bytes === null) return [];
    this.writes++;
    const packets = packetsIn(bytes);
    if (this.#greeting) {
      this.#greeting = false;
      this.hellos.push(readHello(packets.shift()!));
    }
    const sent = packets.map((p) => ({ ...readRequest(p), at: this.mono }));
    this.sent.push(...sent);
    return sent;
  }

  /** A connection stands; the connect request leaves. */
  open(unsupported: Set<number> = new Set()): Hello {
    this.#greeting = true;
    this.session.opened(unsupported);
    this.turn();
    return this.hellos.at(-1)!;
  }

  /** The server grants the session. Answers what leaves then. */
  grant(grant: Grant = {}): Sent[] {
    this.receive(welcome(grant));
    return this.turn();
  }

  /** A connection, granted. */
  connect(grant: Grant = {}, unsupported?: Set<number>): Sent[] {
    this.open(unsupported);
    return this.grant(grant);
  }

  /** Bytes come in, as one chunk each. */
  receive(...chunks: Uint8Array[]): void {
    for (const chunk of chunks) this.session.received(chunk, this.now);
  }

  /** The network takes the connection away. */
  drop(cause = new Error("reset")): void {
    this.session.lost(cause);
  }

  /** Asks something, without ending the turn. */
  ask<Q, R>(
    op: Operation<Q, R>,
    body: Q,
    extra: Partial<Request> = {},
  ): Outcome<R> {
    const outcome = new Outcome<R>();
    const path = (body as { path?: string } | null)?.path ?? null;
    const request: Request = {
      op: op as unknown as Operation,
      body,
      path,
      resolve(reply, zxid) {
        outcome.replies.push(reply as R);
        outcome.zxids.push(zxid);
      },
      reject: (error) => void outcome.errors.push(error),
      ...extra,
    };
    this.outcomes.push(outcome as Outcome<never>);
    outcome.pending = this.session.request(request);
    return outcome;
  }

  /** Answers a request as a server would. */
  reply(to: Pick<Sent, "xid" | "type">, body: unknown = null, zxid = 1n): void {
    const { reply } = operationOf.get(to.type)!;
    this.receive(answer(to.xid, zxid, reply, body));
  }

  /** Refuses a request. */
  refuse(to: Pick<Sent, "xid">, err: number, zxid = 1n): void {
    this.receive(header(to.xid, zxid, err));
  }

  /** Time passes; the session is woken whenever it asked for it. Answers what left meanwhile. */
  pass(ms: number): Sent[] {
    const end = this.mono + ms;
    const sent: Sent[] = this.turn();
    for (let ticks = 0; this.wake !== undefined && this.wake <= end; ticks++) {
      if (ticks > 1000) throw new Error(`woken without end at ${this.mono}`);
      this.#move(Math.max(this.wake, this.mono));
      sent.push(...this.tick());
    }
    this.#move(end);
    return sent;
  }

  /** Time passes, and nobody is woken: a stall of the event loop. */
  stall(ms: number): void {
    this.#move(this.mono + ms);
  }

  /** The timer goes off now. */
  tick(): Sent[] {
    this.wake = undefined;
    this.session.tick(this.now);
    return this.turn();
  }

  #move(mono: number): void {
    this.wall += mono - this.mono;
    this.mono = mono;
  }
}

/** A credential that notes what became of it. */
export function credentialOf(
  scheme: string,
  essential: boolean,
): Credential & { news: Array<Error | undefined> } {
  const news: Array<Error | undefined> = [];
  const auth = new TextEncoder().encode("secret");
  return { scheme, auth, essential, news, settle: (e) => void news.push(e) };
}

/** Operations of requests, for comparison: `create /a`. */
export function names(sent: readonly Asked[]): string[] {
  return sent.map(({ op, body }) => body?.path ? `${op} ${body.path}` : op);
}

/** Fails unless the session, attached so far, gives up its connection in so many ms, and not one earlier. */
export function assertGivesUpAfter(bench: Bench, ms: number): void {
  bench.pass(ms - 1);
  const before = bench.disconnects.length;
  bench.pass(1);
  assertEquals([before, bench.disconnects.length], [0, 1]);
}
