// SessionMachine, a session that no server speaks to for 4T/3: over, without anybody saying so.
// The clock of the bench is moved by hand; T is 9,000 ms, so that its thirds are whole.

import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { SessionExpiredError } from "../../protocol/errors.ts";
import { Bench } from "./bench.ts";
import { header, seeded } from "./wire.ts";

const T = 9000;

/** Attached at `bench.mono`, in the millisecond in which the connect request left. */
function attached(over: ConstructorParameters<typeof Bench>[0] = {}): Bench {
  const bench = new Bench({ timeout: T, ...over });
  bench.connect({ timeOut: T });
  return bench;
}

describe("SessionMachine, local expiry", () => {
  it("comes 4T/3 after the last byte, not a millisecond earlier, where no server can be reached (ZOOKEEPER-4508)", () => {
    const bench = attached();
    bench.pass(1000);
    bench.receive(header(-2, 1n));
    bench.drop();

    bench.pass(4 * T / 3 - 1);
    const before = bench.session.state;
    bench.pass(1);

    assertEquals([before, bench.session.state], ["disconnected", "expired"]);
    assertInstanceOf(bench.session.signal.reason, SessionExpiredError);
  });

  it("comes 4T/3 after the last byte when the peer was silent before", () => {
    const bench = attached();

    bench.pass(4 * T / 3 - 1);
    const before = bench.session.state;
    bench.pass(1);

    assertEquals([before, bench.session.state], ["disconnected", "expired"]);
  });

  it("comes although one server after the other accepts and hangs up", () => {
    const bench = attached();
    bench.drop();

    for (let i = 0; i < 12; i++) {
      bench.pass(1000);
      if (bench.session.signal.aborted) break;
      bench.open();
      bench.drop();
    }

    assertEquals(bench.session.state, "expired");
  });

  it("comes within a handshake that nobody answers", () => {
    const bench = attached();
    bench.drop();
    bench.open();

    bench.pass(4 * T / 3);

    assertEquals(bench.session.state, "expired");
  });

  it("comes by the wall clock when the machine slept", () => {
    const bench = attached();
    bench.drop();
    bench.wall += 4 * T / 3;

    bench.tick();

    assertEquals(bench.session.state, "expired");
  });

  it("comes whatever the fraction of a millisecond at which it is woken", () => {
    const random = seeded(9);
    const missed: number[] = [];

    for (let i = 0; i < 500; i++) {
      const bench = new Bench({ timeout: T }, random() * 10 ** (1 + i % 9));
      bench.connect({ timeOut: [4000, 9000, 10_000, 30_000][i % 4] });
      bench.wake = undefined;
      bench.drop();
      bench.mono = bench.wake!;
      bench.tick();
      if (!bench.session.signal.aborted && bench.wake === undefined) {
        missed.push(bench.mono);
      }
    }

    assertEquals(
      missed.length,
      0,
      `neither expired nor to be woken at ${missed.slice(0, 3)}…`,
    );
  });

  it("does not come to a session that never began", () => {
    const bench = new Bench({ timeout: T });
    bench.open();

    bench.pass(10 * T);
    bench.tick();

    assertEquals([bench.session.state, bench.session.signal.aborted], [
      "connecting",
      false,
    ]);
  });

  it("does not come once a server took the session again", () => {
    const bench = attached();
    bench.drop();
    bench.pass(T);
    bench.connect({ timeOut: T });

    bench.pass(T / 3);

    assertEquals(bench.session.state, "connected");
  });

  it("does not come by a timer that goes off early", () => {
    const bench = attached();
    bench.drop();
    bench.stall(100);

    bench.tick();

    assertEquals(bench.session.state, "disconnected");
    assert(
      bench.wake !== undefined,
      "nobody will look again: the session never expires",
    );
  });
});
