// The deadline of a lease to the millisecond, on virtual time, with a client that is scripted.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Hold, Lease } from "../../lock/lease.ts";
import type { Client, SessionState, StateChange } from "../../protocol/api.ts";
import { MultiError, ServerError } from "../../protocol/errors.ts";
import { momentOf } from "../../protocol/environment.ts";
import { type Internals, keepInternals } from "../../protocol/internals.ts";
import { type Moment, SentTimes } from "../../protocol/moment.ts";
import type { Op, OpResult } from "../../protocol/api.ts";
import { VirtualTime } from "../protocol/virtual.ts";

const T = 12_000;
/** Of T, by the formula in lease.ts: the period, the error of the clock, and the gap for an unknown tick. */
const P = T / 6;
const eps = T / 50;
const gap = T / 4 + 2 * (T / 40);

interface Answer {
  resolve(done: { zxid: bigint; results: OpResult[] }): void;
  reject(error: Error): void;
}

/** A client that is connected at once, and whose heartbeats a test answers. */
class ScriptedClient {
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

class ScriptedHold implements Hold {
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
function held(path = "/a") {
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

describe("Lease.remaining", () => {
  it("begins with a timeout from the connect request on, less the clock's error", async () => {
    const { script, lease } = held();

    await script.time.pass(100);

    assertEquals(lease.remaining, T - eps - 100);
  });

  it("grows by the newest frame more than the gap before a confirmed heartbeat", async () => {
    const { script, lease } = held();
    await script.time.pass(1_000);
    script.send(); // At 1,000.
    await script.time.pass(gap);
    const since = momentOf(script.time);

    lease.committed(script.session, since); // Exactly the gap: not enough.
    const early = lease.remaining;
    await script.time.pass(1);
    lease.committed(script.session, momentOf(script.time));

    assertEquals(early, T - eps - 1_000 - gap);
    assertEquals(lease.remaining, T - eps - gap - 1);
  });

  it("does not grow by an answer alone, as a lease on pings would", async () => {
    const { script, lease } = held();
    await script.time.pass(1_000);

    script.send();
    lease.committed(script.session, momentOf(script.time));

    assertEquals(lease.remaining, T - eps - 1_000);
  });

  it("shortens itself after a silence: what left before it counts, not what follows (model 7b1, 7b5)", async () => {
    const { script, lease, hold } = held();
    await script.live(30_000);
    assert(lease.remaining > T - eps - gap - 2 * P);
    lease.remove(hold); // No heartbeat, and no other frame, for half a timeout.
    script.send();
    const last = momentOf(script.time);
    await script.time.pass(T / 2);

    script.send();
    lease.committed(script.session, momentOf(script.time));

    const silence = script.time.monotonic() - last.mono;
    assertEquals(silence, T / 2);
    assertEquals(lease.remaining, T - eps - silence);
  });

  it("keeps what it had over a reconnect, and gets the new connection's base", async () => {
    const { script, lease } = held();
    await script.live(4_000);
    const before = lease.remaining;

    script.disconnect();
    const away = lease.remaining;
    await script.time.pass(500);
    script.connect();

    assertEquals(away, before);
    assertEquals(lease.remaining, T - eps);
  });

  it("does not grow by a read-only server, which no leader stands behind", async () => {
    const { script, lease, hold } = held();
    script.disconnect();
    await script.time.pass(T / 2);

    script.connect("connected-read-only");

    assertEquals(lease.remaining, T - eps - T / 2);
    await script.time.pass(T / 2 - eps);
    assertEquals(hold.lost.length, 1);
  });

  it("does not mix frames of an earlier connection into the news of the new one", async () => {
    const { script, lease } = held();
    await script.live(4_000);
    script.disconnect();
    await script.time.pass(100);
    script.connect();
    const base = momentOf(script.time);
    await script.time.pass(1_000);

    lease.committed(script.session, momentOf(script.time));

    const ran = script.time.monotonic() - base.mono;
    assertEquals(lease.remaining, T - eps - ran);
  });

  it("counts with the smallest timeout that was granted", () => {
    const { script, lease } = held();
    assert(lease.remaining > 0);
    script.disconnect();

    script.session.timeout = T / 2;
    script.connect();
    const shrunk = lease.remaining;
    script.disconnect();
    script.session.timeout = T;
    script.connect(); // The leader may not have heard of the larger one.

    assertEquals([shrunk, lease.remaining], [
      T / 2 - T / 2 / 50,
      T / 2 - T / 2 / 50,
    ]);
  });

  it("is longer where the ensemble's tick is known to be short", async () => {
    const { script, lease } = held();
    lease.useTick(200);
    await script.time.pass(1_000);
    script.send();
    await script.time.pass(100 + 2 * (T / 40) + 1);

    lease.committed(script.session, momentOf(script.time));

    assertEquals(lease.remaining, T - eps - 100 - 2 * (T / 40) - 1);
  });

  it("assumes the largest tick that was told", async () => {
    const { script, lease } = held();
    for (const tick of [200, 4_000, 1_000]) lease.useTick(tick);
    const gap = 4_000 / 2 + 2 * (T / 40);
    await script.time.pass(1_000);
    script.send();

    await script.time.pass(gap);
    lease.committed(script.session, momentOf(script.time));
    const early = lease.remaining;
    await script.time.pass(1);
    lease.committed(script.session, momentOf(script.time));

    assertEquals(early, T - eps - 1_000 - gap);
    assertEquals(lease.remaining, T - eps - gap - 1);
  });

  it("runs out by the wall clock when the machine slept", () => {
    const { script, lease } = held();

    script.time.jump(3_600_000);

    assert(lease.remaining < 0);
  });

  it("runs out within a period after the machine slept, also without a connection", async () => {
    const { script, hold } = held();
    script.disconnect();
    await script.time.pass(P / 2);

    script.time.jump(3_600_000);
    await script.time.pass(P / 2);

    assertEquals(hold.lost.length, 1);
  });

  it("runs out at once if the process stood still between its look at the clock and its timer", async () => {
    const { script, lease } = held();
    const hold = new ScriptedHold("/b");
    const { time } = script;
    time.after = (ms, run) => {
      time.after = VirtualTime.prototype.after;
      time.jump(T);
      return time.after(ms, run);
    };

    lease.add(hold);
    await time.pass(1);

    assertEquals(hold.lost.length, 1);
  });

  it("does not grow when the wall clock is set back", async () => {
    const { script, lease } = held();
    await script.time.pass(1_000);

    script.time.jump(-3_600_000);

    assertEquals(lease.remaining, T - eps - 1_000);
  });
});

describe("Lease.lasting", () => {
  it("is true of a session that was idle, with pings, whenever the lock is taken", async () => {
    for (let phase = 0; phase < T / 3; phase += T / 30) {
      const script = new ScriptedClient();
      const lease = new Lease(script.client);
      for (let ping = 0; ping < 6; ping++) {
        await script.time.pass(T / 3);
        script.send();
      }
      await script.time.pass(phase);
      script.send(); // The create.

      lease.committed(script.session, momentOf(script.time));

      assert(lease.lasting, `${phase}`);
    }
  });

  it("is false while what remains would be over before news can come", async () => {
    const script = new ScriptedClient();
    const lease = new Lease(script.client);
    await script.time.pass(0.65 * T); // It stood still: not one frame left.
    script.send();

    lease.committed(script.session, momentOf(script.time));

    assert(lease.remaining > P);
    assertEquals(lease.lasting, false);
  });

  it("becomes true by a heartbeat as soon as that is useful, not before", async () => {
    const script = new ScriptedClient();
    const lease = new Lease(script.client);
    await script.time.pass(0.65 * T);
    script.send();
    const wait = lease.usefulIn;
    const lasting: boolean[] = [];

    for (const ms of [wait - 1, 1]) {
      await script.time.pass(ms);
      const beat = lease.renew([{ op: "check", path: "/a" }]);
      await script.confirm();
      await beat;
      lasting.push(lease.lasting);
    }

    assertEquals([wait, lasting], [gap + 1, [false, true]]);
  });
});

describe("Lease", () => {
  it("sends a heartbeat every sixth of the timeout, the first one period after the grant", async () => {
    const { script, hold } = held();

    await script.time.pass(P - 1);
    const early = script.beats.length;
    await script.time.pass(1);

    assertEquals([early, script.beats.length], [0, 1]);
    assertEquals(script.beats[0].ops, [{ op: "check", path: "/a" }]);
    assertEquals(script.beats[0].within, T / 4);
    assertEquals(hold.beats, 1);
    await script.confirm();
    await script.time.pass(P);
    assertEquals(script.beats.length, 1);
  });

  it("sends none, and sets no timer, without a hold", async () => {
    const { script, lease, hold } = held();

    lease.remove(hold);
    await script.time.pass(10 * T);

    assertEquals(script.beats.length, 0);
    assertEquals(script.time.pending, 0);
  });

  it("is in doubt when a heartbeat is not answered within a quarter of the timeout", async () => {
    const { script, lease, hold } = held();
    await script.time.pass(P + T / 4 - 1);
    const before = lease.doubtful;

    await script.time.pass(1);

    assertEquals([before, lease.doubtful], [false, true]);
    assertEquals(hold.refreshed, 1);
    await script.confirm();
    assertEquals([lease.doubtful, hold.refreshed], [false, 2]);
  });

  it("is in doubt from a lost connection until a heartbeat on the next is confirmed", async () => {
    const { script, lease } = held();
    script.disconnect();
    const away = lease.doubtful;

    script.connect(); // The heartbeat goes out in the same turn.

    assertEquals([away, lease.doubtful, script.beats.length], [true, true, 1]);
    await script.confirm();
    assertEquals(lease.doubtful, false);
  });

  it("sends nothing while it is disconnected", async () => {
    const { script } = held();
    script.disconnect();

    await script.time.pass(T / 2);

    assertEquals(script.beats.length, 0);
  });

  it("loses all holds at the deadline, by its own timer", async () => {
    const { script, hold } = held();
    script.disconnect();

    await script.time.pass(T - eps - 1);
    const before = hold.lost.length;
    await script.time.pass(1);

    assertEquals([before, hold.lost.length], [0, 1]);
    assertEquals(script.time.pending, 0);
  });

  it("loses all holds at the deadline also while a heartbeat is out and the connection stands", async () => {
    const { script, lease, hold } = held();
    const left = lease.remaining;
    await script.time.pass(P); // The heartbeat goes out, and is never answered.

    await script.time.pass(left - P - 1);
    const before = hold.lost.length;
    await script.time.pass(1);

    assertEquals([before, hold.lost.length, script.beats.length], [0, 1, 1]);
  });

  it("goes on with heartbeats after one was refused in doubt", async () => {
    const { script, lease } = held();
    script.disconnect();
    script.connect();
    const refusal = { number: -127, op: "multi", path: null, zxid: 1n };

    script.beats.shift()!.answer.reject(new ServerError(refusal));
    await script.time.pass(P);

    assertEquals([lease.doubtful, script.beats.length], [true, 1]);
    await script.confirm();
    assertEquals(lease.doubtful, false);
  });

  it("sends a heartbeat before its period is over when the deadline is near and it would help", async () => {
    const { script, lease, hold } = held();
    lease.remove(hold);
    // Silence, but for one frame in the middle of it.
    await script.time.pass(0.3 * T);
    script.send();
    await script.time.pass(0.3 * T);
    const stands = lease.remaining;
    lease.add(hold);

    await script.time.pass(1);

    assert(stands < P + P + T / 10);
    assertEquals(script.beats.length, 1);
    await script.confirm();
    assert(lease.remaining > stands + 0.2 * T);
  });

  it("keeps a twentieth of the timeout between heartbeats that are refused at once, however near the deadline is", async () => {
    const { script, hold } = held();
    const refusal = { number: -127, op: "multi", path: null, zxid: 1n };
    let beats = 0;

    for (let ms = 0; ms < T; ms += 10) {
      await script.time.pass(10);
      for (const { answer } of script.beats.splice(0)) {
        beats++;
        answer.reject(new ServerError(refusal));
      }
    }

    assertEquals(hold.lost.length, 1);
    assert(beats > 5 && beats <= 20, `${beats}`);
  });

  it("loses the hold whose check fails, and asks again for the others at once", async () => {
    const { script, lease, hold } = held("/a");
    const other = new ScriptedHold("/b", "/b-fence");
    lease.add(other);
    await script.time.pass(P);
    const asked = script.beats[0].ops.map(({ path }) => path);
    const results = asked.map((path) => ({
      op: "check",
      path,
      code: "Ok" as const,
      number: 0,
    }));

    script.beats.shift()!.answer.reject(new MultiError(0, results, 5n));
    await script.time.pass(0);

    assertEquals(asked, ["/a", "/b", "/b-fence"]);
    assertEquals([hold.lost.length, other.lost.length], [1, 0]);
    const again = script.beats[0].ops.map(({ path }) => path);
    assertEquals(again, ["/b", "/b-fence"]);
  });

  it("splits its heartbeat after 500 checks", async () => {
    const { script, lease } = held();
    for (let i = 1; i < 1_001; i++) lease.add(new ScriptedHold(`/${i}`));

    await script.time.pass(P);

    assertEquals(script.beats.map(({ ops }) => ops.length), [500, 500, 1]);
  });

  it("splits its heartbeat after 262,144 characters of paths", async () => {
    const { script, lease, hold } = held();
    lease.remove(hold);
    const long = "/".padEnd(100_000, "x");
    for (let i = 0; i < 5; i++) lease.add(new ScriptedHold(long + i));

    await script.time.pass(P);

    assertEquals(script.beats.map(({ ops }) => ops.length), [2, 2, 1]);
  });

  it("loses all holds when the session is over, with its reason", () => {
    const { script, hold } = held();
    const reason = new Error("over");

    script.end.abort(reason);

    assertEquals(hold.lost, [reason]);
  });

  it("asks for fresh news once, however many wait", async () => {
    const script = new ScriptedClient();
    const lease = new Lease(script.client);

    lease.freshen([{ op: "check", path: "/a" }]);
    lease.freshen([{ op: "check", path: "/b" }]);

    assertEquals(script.beats.length, 1);
    await script.confirm();
    lease.freshen([{ op: "check", path: "/b" }]); // Still fresh.
    assertEquals(script.beats.length, 0);
    await script.time.pass(P);
    lease.freshen([{ op: "check", path: "/b" }]);
    assertEquals(script.beats.length, 1);
  });
});
