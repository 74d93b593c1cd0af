// SessionMachine and time: pings, dead peers, stalls, to the millisecond and without waiting.
// The clock of the bench is moved by hand; T is 9,000 ms, so that its thirds are whole.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import * as ops from "../../protocol/operations.ts";
import { assertGivesUpAfter, Bench, names } from "./bench.ts";
import { event, header, seeded, statOf } from "./wire.ts";

const T = 9000;

/** Attached at `bench.mono`, in the millisecond in which the connect request left. */
function attached(over: ConstructorParameters<typeof Bench>[0] = {}): Bench {
  const bench = new Bench({ timeout: T, ...over });
  bench.connect({ timeOut: T });
  return bench;
}

/** Times of pings after `start`. */
function pings(bench: Bench, start: number): number[] {
  return bench.sent.filter(({ op }) => op === "ping").map(({ at }) =>
    at - start
  );
}

describe("SessionMachine, pings", () => {
  it("leave every T/3 after the last frame sent", () => {
    const bench = attached();
    const start = bench.mono;

    for (let i = 0; i < 5; i++) {
      bench.pass(T / 3);
      bench.receive(header(-2, 1n));
    }

    assertEquals(pings(bench, start), [3000, 6000, 9000, 12_000, 15_000]);
  });

  it("leave every T/3 also while events pour in (kazoo#633)", () => {
    const bench = attached();
    const start = bench.mono;

    for (let i = 0; i < 200; i++) {
      bench.pass(100);
      bench.receive(event(4, "/busy"));
    }

    assertEquals(pings(bench, start), [
      3000,
      6000,
      9000,
      12_000,
      15_000,
      18_000,
    ]);
  });

  it("are not put off by credentials, which do not re-arm the session on the server (measured on 3.8.0)", () => {
    const bench = attached();
    const start = bench.mono;

    for (let i = 0; i < 10; i++) {
      bench.pass(1000);
      bench.session.authenticate({
        scheme: "digest",
        auth: new Uint8Array(3),
        essential: false,
      });
      bench.turn();
      bench.receive(header(-4, 0n));
    }

    assertEquals(pings(bench, start), [3000, 6000, 9000]);
    const asked = bench.session.pulse.sentBefore(start + 3000);
    assertEquals(asked?.mono, start);
  });

  it("are put off by every request that leaves", () => {
    const bench = attached();
    const start = bench.mono;
    bench.pass(2000);
    const asked = bench.ask(ops.sync, { path: "/" });
    const [sent] = bench.turn();
    bench.reply(sent, { path: "/" });

    bench.pass(2999);
    const before = pings(bench, start);
    bench.pass(1);

    assertEquals([before, pings(bench, start), asked.state], [
      [],
      [5000],
      "resolved",
    ]);
  });

  it("follow the timeout that was granted, not the one asked for", () => {
    const bench = new Bench({ timeout: 600_000 });
    bench.connect({ timeOut: 900 });
    const start = bench.mono;

    bench.pass(300);

    assertEquals(pings(bench, start), [300]);
  });

  it("leave within T/3 of the connect request when the server took long to answer it", () => {
    const bench = new Bench({ timeout: T });
    bench.open();
    const start = bench.mono;
    bench.stall(4000);

    bench.grant({ timeOut: T });
    bench.pass(1);

    // The server counts from the connect request: it is overdue already.
    assertEquals(
      pings(bench, start).length,
      1,
      `next frame at ${bench.wake! - start}`,
    );
  });

  it("leave at the moment the session asked to be woken, whatever the fraction of a millisecond", () => {
    const random = seeded(7);
    const late: number[] = [];

    for (let i = 0; i < 500; i++) {
      const bench = new Bench({ timeout: T }, random() * 10 ** (1 + i % 9));
      bench.connect({ timeOut: [4000, 9000, 10_000, 30_000][i % 4] });
      const asked = bench.wake!;
      bench.stall(asked - bench.mono);
      bench.mono = asked;
      if (bench.tick().length === 0) late.push(asked);
    }

    assertEquals(late.length, 0, `no ping at ${late.slice(0, 3)}…`);
  });
});

describe("SessionMachine, a dead peer", () => {
  it("is given up after 2T/3 without a byte, not a millisecond earlier (node-zookeeper-client#20)", () => {
    const bench = attached();

    bench.pass(2 * T / 3 - 1);
    const before = bench.disconnects.length;
    bench.pass(1);

    assertEquals([before, bench.disconnects.length, bench.session.state], [
      0,
      1,
      "disconnected",
    ]);
    assertEquals(
      bench.disconnects[0].message,
      "Lost the connection: nothing heard for 2/3 of 9000 ms",
    );
  });

  it("is counted from the last byte, be it part of a packet", () => {
    const bench = attached();
    bench.pass(5000);
    bench.receive(header(-2, 1n).subarray(0, 1));

    assertGivesUpAfter(bench, 2 * T / 3);
  });

  it("is given up by the wall clock alone when the machine slept", () => {
    const bench = attached();
    bench.pass(100);
    bench.wall += 3_600_000;

    // One second look, since what came in meanwhile may not be read yet.
    bench.tick();
    bench.pass(2000);

    assertEquals(bench.disconnects.length, 1);
  });

  it("is given up whatever the fraction of a millisecond, without being woken in a circle", () => {
    const random = seeded(8);
    const early: number[] = [];

    for (let i = 0; i < 500; i++) {
      const bench = new Bench({ timeout: T }, random() * 10 ** (1 + i % 9));
      const timeout = [4000, 9000, 10_000, 30_000][i % 4];
      bench.connect({ timeOut: timeout });
      const heard = bench.mono;
      bench.stall(timeout / 3 + 1);
      bench.tick();
      bench.mono = heard + 2 / 3 * timeout;
      bench.tick();
      if (bench.disconnects.length === 0 && bench.wake! <= bench.mono) {
        early.push(heard);
      }
    }

    assertEquals(
      early.length,
      0,
      `woken at once, again and again, at ${early.slice(0, 3)}…`,
    );
  });

  it("is not given up while a reply trickles in for longer than T", () => {
    const bench = attached();
    const asked = bench.ask(ops.getChildren, { path: "/large", watch: false });
    bench.turn();
    const reply = new Uint8Array(100).fill(0);
    reply[2] = 2;

    for (let i = 0; i < 20; i++) {
      bench.receive(reply.subarray(i * 4, i * 4 + 4));
      bench.pass(1000);
    }

    assertEquals([bench.disconnects, asked.state], [[], "open"]);
  });
});

describe("SessionMachine, a stall of the event loop", () => {
  it("past 2T/3 is excused once: a ping leaves, and input that was waiting saves the connection", () => {
    const bench = attached();
    bench.stall(T);

    const sent = bench.tick();
    bench.receive(header(-2, 1n));
    bench.pass(T / 3 - 1);

    assertEquals([names(sent), bench.disconnects], [["ping"], []]);
  });

  it("past 2T/3 with nothing waiting gives the peer up after a tenth of T more, at most a second", () => {
    const bench = attached();
    bench.stall(T);
    bench.tick();

    assertGivesUpAfter(bench, 900);
  });

  it("is excused when it is the wall clock that jumped", () => {
    const bench = attached();
    bench.pass(1000);
    bench.wall += 60_000;

    const sent = bench.tick();
    bench.receive(header(-2, 1n));
    bench.pass(1000);

    assertEquals([names(sent), bench.disconnects], [["ping"], []]);
  });

  it("is not excused when the wall clock was set back: that changes nothing", () => {
    const bench = attached();
    bench.wall -= 3_600_000;

    assertGivesUpAfter(bench, 2 * T / 3);
  });

  it("does not excuse the next silence", () => {
    const bench = attached();
    bench.stall(T);
    bench.tick();
    bench.receive(header(-2, 1n));

    assertGivesUpAfter(bench, 2 * T / 3);
  });
});

describe("SessionMachine, when frames left", () => {
  it("attachedAt is when the connect request left, once the session is granted", () => {
    const bench = new Bench();
    bench.open();
    const moment = bench.now;
    bench.stall(300);

    const before = bench.session.pulse.attachedAt;
    bench.grant();

    assertEquals([before, bench.session.pulse.attachedAt], [undefined, moment]);
  });

  it("attachedAt is undefined while there is no connection", () => {
    const bench = attached();

    bench.drop();

    assertEquals(bench.session.pulse.attachedAt, undefined);
  });

  it("sentBefore() looks back for a whole timeout, however many frames left", () => {
    const bench = attached();
    for (let i = 0; i < T; i += 2) {
      const asked = bench.ask(ops.sync, { path: "/" });
      const [sent] = bench.turn();
      bench.reply(sent, { path: "/" });
      bench.session.cancel(asked.pending);
      bench.pass(2);
    }
    const asked = bench.mono - T / 2;

    const found = bench.session.pulse.sentBefore(asked)!.mono;

    assert(found < asked && found > asked - T / 32, `${asked - found}`);
  });

  it("sentBefore() knows the frames of this connection only, strictly before the time asked", () => {
    const bench = attached();
    bench.pass(1000);
    bench.drop();
    bench.pass(50);
    bench.connect({ timeOut: T });
    const hello = bench.mono;
    bench.pass(500);
    bench.ask(ops.exists, { path: "/", watch: false });
    const [sent] = bench.turn();
    bench.reply(sent, { stat: statOf() });
    const { pulse } = bench.session;

    const found = [hello, hello + 1, hello + 500, hello + 501].map((mono) =>
      pulse.sentBefore(mono)?.mono
    );

    assertEquals(found, [undefined, hello, hello, hello + 500]);
  });
});
