// A lease whose client is a script: what it sends waits until a test answers it.
// Knows no server; time is virtual.
// Used by the tests of the lease.

import { type Hold, Lease } from "../../lock/lease.ts";
import type { Client, Op, OpResult } from "../../protocol/api.ts";
import { momentOf } from "../../protocol/environment.ts";
import { type Internals, keepInternals } from "../../protocol/internals.ts";
import { type Moment, SentTimes } from "../../protocol/moment.ts";
import type { SessionState, StateChange } from "../../protocol/news.ts";
import { VirtualTime } from "../protocol/virtual.ts";

export const T = 12_000;
/** Of T, by the formula in lease.ts: the period, the error of the clock, and the gap for an unknown tick. */
export const P = T / 6;
export const eps = T / 50;
export const gap = T / 4 + 2 * (T / 40);

interface Answer {
  resolve(done: { zxid: bigint; results: OpResult[] }): void;
  reject(error: Error): void;
}

/** A client that is connected at once, and whose heartbeats a test answers. */
export class ScriptedClient {
  readonly time = new VirtualTime();
  readonly sent = new SentTimes();
  readonly beats: { ops: readonly Op[]; within: number; answer: Answer }[] = [];
  readonly end = new AbortController();
  readonly session: Client["session"] & {
    state: SessionState;
    timeout: number;
  };
  attachedAt: Moment | undefined;
  #attached = () => {};
  #changed = (_: StateChange) => {};
  readonly client: Client;

  constructor() {
    this.session = {
      id: 1n,
      timeout: T,
      state: "connected",
      signal: this.end.signal,
    };
    const environment = this.time;
    this.client = {
      session: this.session,
      environment,
      on: (_: string, listener: never) => {
        this.#changed = listener;
        return () => {};
      },
    } as unknown as Client;
    const internals: Partial<Internals> = {
      attachedAt: () => this.attachedAt,
      sentBefore: (mono) => this.sent.before(mono),
      sentAfter: (mono) => this.sent.after(mono),
      onAttached: (run) => {
        this.#attached = run;
        return () => {};
      },
      multi: (ops, { answerWithin }) =>
        new Promise((resolve, reject) => {
          const answer = { resolve, reject };
          this.beats.push({ ops, within: answerWithin!, answer });
          this.sent.add(momentOf(this.time));
        }),
    };
    keepInternals(this.client, internals as Internals);
    this.connect();
  }

  /** A new connection: its connect request left now. */
  connect(state: SessionState = "connected"): void {
    this.sent.reset();
    this.attachedAt = momentOf(this.time);
    this.sent.add(this.attachedAt);
    this.session.state = state;
    this.#attached();
    this.#tell();
  }

  disconnect(): void {
    this.session.state = "disconnected";
    this.attachedAt = undefined;
    this.#tell();
  }

  /** A frame leaves, e.g. a ping. */
  send(): void {
    this.sent.add(momentOf(this.time));
  }

  /** Answers the oldest heartbeat that has none. */
  async confirm(): Promise<void> {
    this.beats.shift()!.answer.resolve({ zxid: 1n, results: [] });
    await this.time.pass(0);
  }

  /** Lets time pass; heartbeats are answered at once. */
  async live(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 10) {
      await this.time.pass(10);
      while (this.beats.length > 0) await this.confirm();
    }
  }

  #tell(): void {
    const session = this.session as Client["session"];
    this.#changed({ state: session.state, session });
  }
}

export class ScriptedHold implements Hold {
  readonly checks: readonly Op[];
  readonly lost: Error[] = [];
  refreshed = 0;
  beats = 0;

  constructor(...paths: string[]) {
    this.checks = paths.map((path) => ({ op: "check", path }));
  }

  lose(cause: Error): void {
    this.lost.push(cause);
  }

  refresh(): void {
    this.refreshed++;
  }

  beat(): void {
    this.beats++;
  }
}

/** A lease with one hold, and what is behind it. */
export function held(path = "/a") {
  const script = new ScriptedClient();
  const lease = new Lease(script.client);
  const hold = new ScriptedHold(path);
  hold.lose = (cause) => {
    hold.lost.push(cause);
    lease.remove(hold);
  };
  lease.add(hold);
  return { script, lease, hold };
}
