// SessionMachine and `answerWithin`: a server that keeps the connection alive but does not answer in time.
// The time runs once everything before the request is answered, and only in silence; T is 9,000 ms.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import * as ops from "../../protocol/operations.ts";
import { assertGivesUpAfter, Bench, type Outcome, type Sent } from "./bench.ts";
import { answer, header, statOf } from "./wire.ts";

const T = 9000;
const within = 2000;

function attached(): Bench {
  const bench = new Bench({ timeout: T });
  bench.connect({ timeOut: T });
  return bench;
}

/** A heartbeat: it goes out again on the next connection, and may take two seconds. */
function heartbeat(bench: Bench): Outcome {
  return bench.ask(ops.multi, [], { answerWithin: within, resend: () => {} });
}

describe("SessionMachine, a request with answerWithin", () => {
  it("gives the connection up when it is not answered in time, to the millisecond", () => {
    const bench = attached();
    heartbeat(bench);
    bench.turn();

    assertGivesUpAfter(bench, within);
    assertEquals(
      bench.disconnects[0].message,
      "Lost the connection: the server answers, but commits nothing",
    );
  });

  it("is satisfied by its reply, a refusal too", () => {
    const bench = attached();
    const [first, second] = [heartbeat(bench), heartbeat(bench)];
    const sent = bench.turn();
    bench.stall(within - 1);
    bench.reply(sent[0], []);
    bench.refuse(sent[1], -101);

    bench.pass(within);

    assertEquals([first.state, second.state, bench.disconnects], [
      "resolved",
      "ServerError",
      [],
    ]);
  });

  it("is not satisfied by pongs: a follower that is cut off answers those by itself", () => {
    const bench = attached();
    heartbeat(bench);
    bench.turn();

    for (let i = 0; i < 20; i++) {
      bench.pass(within / 20);
      bench.receive(header(-2, 1n));
    }

    assertEquals(bench.disconnects.length, 1);
  });

  it("has its whole time from the reply before, whatever is asked before it", () => {
    const bench = attached();
    bench.ask(ops.getChildren, { path: "/large", watch: false });
    heartbeat(bench);
    const [listing] = bench.turn();
    bench.pass(within - 1);
    bench.reply(listing, { children: [] });

    assertGivesUpAfter(bench, within);
  });

  it("is not held up for ever by a request before it that is not answered", () => {
    const bench = attached();
    bench.ask(ops.setData, { path: "/a", data: null, version: -1 });
    bench.turn();
    bench.pass(within / 2);
    heartbeat(bench);
    bench.turn();

    assertGivesUpAfter(bench, within);
  });

  it("waits for the watches to be restored first", () => {
    const { bench } = restoring();

    bench.pass(within + 500);

    assertEquals(bench.disconnects, []);
  });

  it("has its whole time after the watches were restored", () => {
    const { bench } = restoring();
    bench.pass(within - 1);
    bench.receive(header(-8, 1n));

    assertGivesUpAfter(bench, within);
  });

  it("is not forgotten when a connection was lost while watches were being restored", () => {
    const { bench } = restoring();
    bench.drop();
    bench.connect({ timeOut: T });
    bench.receive(header(-8, 1n));

    bench.pass(within);

    assertEquals(bench.disconnects.length, 1);
  });

  it("is put off while the bytes of a large reply come in", () => {
    const bench = attached();
    const asked = bench.ask(ops.getChildren, { path: "/", watch: false }, {
      answerWithin: within,
    });
    const [sent] = bench.turn();
    const children = Array.from({ length: 200 }, (_, i) => `n${i}`);
    const reply = answer(sent.xid, 1n, ops.getChildren.reply, { children });

    for (let at = 0; at < reply.length; at += 100) {
      bench.receive(reply.subarray(at, at + 100));
      bench.pass(within - 1);
    }

    assertEquals([asked.state, bench.disconnects], ["resolved", []]);
  });

  it("is late when the bytes of a reply stop coming", () => {
    const bench = attached();
    heartbeat(bench);
    bench.turn();
    bench.pass(1000);
    bench.receive(header(1, 1n).subarray(0, 9));

    assertGivesUpAfter(bench, within);
  });

  it("starts again when it is sent again on the next connection", () => {
    const bench = attached();
    heartbeat(bench);
    bench.turn();
    bench.pass(1500);
    bench.drop();
    bench.connect({ timeOut: T });

    assertGivesUpAfter(bench, within);
  });

  it("is not late at once on the next connection, although it left the last long ago", () => {
    const bench = attached();
    const asked = heartbeat(bench);
    bench.turn();
    bench.drop();
    bench.stall(within + 1);

    bench.connect({ timeOut: T });

    assertEquals(
      [asked.state, bench.session.state, bench.disconnects],
      ["open", "connected", []],
    );
  });

  it("counts from when it left, not from when it was asked for without a connection", () => {
    const bench = new Bench({ timeout: T });
    heartbeat(bench);
    bench.stall(60_000);
    bench.connect({ timeOut: T });

    assertGivesUpAfter(bench, within);
  });

  it("is excused once by a stall of the event loop: the answer may be waiting", () => {
    const bench = attached();
    const asked = heartbeat(bench);
    const [sent] = bench.turn();
    bench.stall(within + 500);

    bench.tick();
    bench.reply(sent, []);
    bench.pass(1000);

    assertEquals([asked.state, bench.disconnects], ["resolved", []]);
  });

  it("is excused by a stall also when it came to the head of the line only lately", () => {
    const bench = attached();
    bench.ask(ops.sync, { path: "/" });
    const asked = heartbeat(bench);
    const [sync, beat] = bench.turn();
    bench.pass(500);
    bench.reply(sync, { path: "/" });
    bench.stall(within + 200);

    bench.tick();
    bench.reply(beat, []);

    assertEquals([asked.state, bench.disconnects], ["resolved", []]);
  });

  it("is late after the excuse of a stall when only pongs came", () => {
    const bench = attached();
    heartbeat(bench);
    bench.turn();
    bench.stall(within + 500);
    bench.tick();

    bench.receive(header(-2, 1n));
    bench.pass(T / 3);

    assertEquals(bench.disconnects.length, 1);
  });
});

/** Attached again with a watch to restore and a heartbeat behind it, both sent. */
function restoring(): { bench: Bench; sent: Sent[] } {
  const bench = attached();
  const watch = { watcher: () => {}, path: "/a", kind: () => "data" as const };
  bench.ask(ops.exists, { path: "/a", watch: true }, { watch });
  const [exists] = bench.turn();
  bench.reply(exists, { stat: statOf() });
  bench.drop();
  bench.attached = () => void heartbeat(bench);
  return { bench, sent: bench.connect({ timeOut: T }) };
}
