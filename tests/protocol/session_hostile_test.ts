// SessionMachine against servers that break the protocol, say no, or send rubbish: the connection goes, the session stays.
// Every request is settled at most once, and never by a reply that was not its own.

import {
  assertEquals,
  assertInstanceOf,
  assertStringIncludes,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFileSync } from "node:fs";
import {
  ProtocolError,
  type ServerError,
  ZooKeeperError,
} from "../../protocol/errors.ts";
import * as ops from "../../protocol/operations.ts";
import { Bench, names } from "./bench.ts";
import {
  answer,
  bytes,
  event,
  header,
  hex,
  joined,
  seeded,
  statOf,
  welcome,
} from "./wire.ts";

/** Connected, with two reads, a write and a marked write in flight. */
function busy(): { bench: Bench; states: () => string[] } {
  const bench = new Bench();
  bench.connect();
  bench.ask(ops.getData, { path: "/a", watch: false });
  bench.ask(ops.sync, { path: "/b" });
  bench.ask(ops.setData, { path: "/c", data: null, version: -1 });
  bench.ask(ops.remove, { path: "/d", version: -1 }, { resend: () => {} });
  bench.turn();
  return { bench, states: () => bench.outcomes.map(({ state }) => state) };
}

describe("SessionMachine, a reply that matches nothing", () => {
  const cases: Array<[string, Uint8Array]> = [
    ["with a number never used", header(77, 1n)],
    ["of the second request before the first", header(2, 1n)],
    ["with number 0", header(0, 1n)],
    ["with a reserved number nobody uses", header(-3, 1n)],
  ];
  for (const [what, frame] of cases) {
    it(`${what} costs the connection, not the session`, () => {
      const { bench } = busy();

      bench.receive(frame);

      assertInstanceOf(bench.disconnects[0], ProtocolError);
      assertEquals([bench.disconnects.length, bench.session.state], [
        1,
        "disconnected",
      ]);
    });
  }

  it("leaves reads and marked requests to the next connection, and writes unknown: none is to blame", () => {
    const { bench, states } = busy();

    bench.receive(header(77, 1n));
    const sent = bench.connect();

    assertEquals(states(), [
      "open",
      "open",
      "ConnectionLossError unknown",
      "open",
    ]);
    assertEquals(names(sent), ["delete /d", "getData /a", "sync /b"]);
  });

  it("twice the same costs the connection and settles its request once", () => {
    const { bench, states } = busy();
    const reply = answer(1, 1n, ops.getData.reply, {
      data: null,
      stat: statOf(),
    });

    bench.receive(reply, reply);

    assertEquals([bench.disconnects.length, states()[0]], [1, "resolved"]);
  });

  it("where nothing was asked costs the connection", () => {
    const bench = new Bench();
    bench.connect();

    bench.receive(header(1, 1n));

    assertEquals(bench.disconnects.map(({ message }) => message), [
      "Cannot match reply 1: nothing was asked",
    ]);
  });

  it("is the last that is read of its chunk", () => {
    const { bench, states } = busy();

    bench.receive(
      joined(
        header(77, 1n),
        answer(1, 1n, ops.getData.reply, { data: null, stat: statOf() }),
        event(3, "/a"),
      ),
    );

    assertEquals([bench.disconnects.length, bench.told], [1, []]);
    assertEquals(states().includes("resolved"), false);
  });
});

describe("SessionMachine, a reply that cannot be read", () => {
  const cases: Array<[string, Uint8Array]> = [
    ["that is cut off", header(1, 1n)],
    [
      "with a buffer of 2^31-1 bytes",
      answer(1, 1n, ops.addWatch.reply, { err: 2 ** 31 - 1 }),
    ],
    [
      "with a buffer of -2 bytes",
      answer(1, 1n, ops.addWatch.reply, { err: -2 }),
    ],
  ];
  for (const [what, frame] of cases) {
    it(`${what} rejects its request alone, and costs the connection (node-zookeeper-client#23)`, () => {
      const { bench, states } = busy();

      bench.receive(frame);
      const sent = bench.connect();

      assertEquals(states(), [
        "ProtocolError",
        "open",
        "ConnectionLossError unknown",
        "open",
      ]);
      assertEquals(names(sent), ["delete /d", "sync /b"]);
    });
  }

  it("of a marked request leaves it to the next connection", () => {
    const bench = new Bench();
    bench.connect();
    const asked = bench.ask(ops.create2, {
      path: "/a",
      data: null,
      acl: [],
      flags: 0,
    }, { resend: () => {} });
    const [sent] = bench.turn();

    bench.receive(header(sent.xid, 1n));
    const [again] = bench.connect();
    bench.reply(again, { path: "/a", stat: statOf() });

    assertEquals([names([again]), asked.state], [["create2 /a"], "resolved"]);
  });

  it("is not asked for again in a circle when the packet is too large (ZOOKEEPER-3593)", () => {
    const bench = new Bench({ maxPacket: 1000 });
    bench.connect();
    const asked = bench.ask(ops.getChildren, { path: "/large", watch: false });
    bench.turn();

    bench.receive(hex("00100000"));
    const sent = bench.connect();

    assertEquals([sent, asked.state], [[], "ProtocolError"]);
    assertStringIncludes(asked.errors[0].message, "the limit is 1000");
  });

  it("settles once a request whose resolve() finds that the reply makes no sense", () => {
    const bench = new Bench();
    bench.connect();
    const calls: string[] = [];
    bench.ask(ops.sync, { path: "/" }, {
      resolve() {
        calls.push("resolve");
        throw new ProtocolError("Cannot read: it makes no sense", 0);
      },
      reject: () => void calls.push("reject"),
    });
    const [sent] = bench.turn();

    bench.reply(sent, { path: "/" });

    // requests.ts: exactly one of resolve and reject is called, once.
    assertEquals([calls, bench.disconnects.length], [["resolve"], 1]);
  });
});

describe("SessionMachine, packets that are no replies", () => {
  const cases: Array<[string, Uint8Array]> = [
    ["an empty packet", hex("00000000")],
    ["a header cut off", hex("00000003000000")],
    ["a negative length", hex("fffffffb")],
    ["a length of 2^31-1", hex("7fffffff")],
    [
      "an event cut off",
      joined(hex("00000014ffffffffffffffffffffffff0000000000000001")),
    ],
    ["HTTP", bytes("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ];
  for (const [what, frame] of cases) {
    it(`${what} costs the connection, not the session`, () => {
      const { bench } = busy();

      bench.receive(frame);

      assertEquals([
        bench.disconnects.map(({ name }) => name),
        bench.session.state,
      ], [["ProtocolError"], "disconnected"]);
    });
  }

  for (const [what, frame] of cases) {
    it(`${what} in place of the welcome leads to the next server`, () => {
      const bench = new Bench();
      bench.open();

      bench.receive(frame);

      assertEquals([bench.disconnects.length, bench.session.state], [
        1,
        "connecting",
      ]);
    });
  }
});

describe("SessionMachine, what a server answers about itself", () => {
  it("-6 is remembered for this server: the next such request is rejected without being sent", () => {
    const bench = new Bench();
    const unsupported = new Set<number>();
    bench.connect({}, unsupported);
    const first = bench.ask(ops.whoAmI, null);
    const [sent] = bench.turn();
    bench.refuse(sent, -6, -1n);

    const second = bench.ask(ops.whoAmI, null);
    const none = bench.turn();

    const messages = [first, second].map(({ errors }) => errors[0].message);
    assertEquals([none, [...unsupported]], [[], [107]]);
    assertEquals(
      messages,
      Array(2).fill(
        "Cannot whoAmI: the server does not support it, or not as it is set up; it came with ZooKeeper 3.7",
      ),
    );
    assertEquals((second.errors[0] as ServerError).code, "Unimplemented");
  });

  it("-6 is not held against another server", () => {
    const bench = new Bench();
    bench.connect({}, new Set([107]));
    bench.drop();
    bench.ask(ops.whoAmI, null);

    const sent = bench.connect({}, new Set());

    assertEquals(names(sent), ["whoAmI"]);
  });

  it("-6 is known when a request that waited is about to be sent", () => {
    const bench = new Bench();
    const asked = bench.ask(ops.create2, {
      path: "/a",
      data: null,
      acl: [],
      flags: 0,
    });
    const other = bench.ask(ops.sync, { path: "/" });

    const sent = bench.connect({}, new Set([15]));

    assertEquals([names(sent), asked.state, other.state], [
      ["sync /"],
      "ServerError",
      "open",
    ]);
  });

  it("-118 drops the connection and keeps the session: reads go out again, writes are unknown", () => {
    const { bench, states } = busy();

    bench.receive(header(1, 5n, -118));
    const sent = bench.connect();

    assertEquals(states(), [
      "open",
      "open",
      "ConnectionLossError unknown",
      "open",
    ]);
    assertEquals([names(sent), bench.session.state], [[
      "delete /d",
      "getData /a",
      "sync /b",
    ], "connected"]);
  });

  it("-112 ends the session: everything in flight is unknown", () => {
    const { bench, states } = busy();

    bench.receive(header(1, 5n, -112));

    assertEquals(states(), Array(4).fill("SessionExpiredError unknown"));
    assertEquals(bench.session.state, "expired");
  });
});

describe("SessionMachine against 10,000 mutated frames", () => {
  it("neither throws nor settles a request twice nor with an untyped error", () => {
    const file = new URL("../vectors/golden-frames.json", import.meta.url);
    const golden: Array<{ direction: string; hex: string }> = JSON.parse(
      readFileSync(file, "utf8"),
    );
    const replies = golden.filter(({ direction }) =>
      direction === "server->client"
    ).map((f) => hex(f.hex));
    const random = seeded(71);
    const wrong: string[] = [];

    for (let round = 0; round < 500; round++) {
      const bench = new Bench();
      bench.connect();
      for (let i = 0; i < 5; i++) {
        const body = { path: "/a", watch: false };
        if (i % 3 === 0) bench.ask(ops.getData, body);
        else if (i % 3 === 1) bench.ask(ops.getChildren, body);
        else bench.ask(ops.exists, body);
        bench.ask(ops.multi, []);
      }
      bench.turn();
      for (let i = 0; i < 20; i++) {
        const frame = replies[Math.floor(random() * replies.length)].slice();
        // Half get the number of the request that is next, so that they are read to the end.
        if (random() < 0.5 && frame.length > 8) {
          new DataView(frame.buffer).setInt32(4, 1 + i % 10);
        }
        for (let n = random() * 3; n > 1; n--) {
          frame[Math.floor(random() * frame.length)] = random() * 256;
        }
        const cut = random() < 0.2
          ? Math.floor(random() * frame.length)
          : frame.length;
        bench.receive(frame.subarray(0, cut));
        if (!bench.session.ready && !bench.session.signal.aborted) {
          bench.connect();
        }
      }
      const fine = bench.outcomes.every(({ settled, errors }) =>
        settled <= 1 && errors.every((error) => error instanceof ZooKeeperError)
      );
      if (
        !fine ||
        bench.disconnects.some((error) => !(error instanceof ZooKeeperError))
      ) wrong.push(`round ${round}`);
    }

    assertEquals(wrong, []);
  });

  it("in place of a welcome neither throws nor invents a session without a timeout", () => {
    const random = seeded(72);
    const wrong: string[] = [];

    for (let round = 0; round < 3000; round++) {
      const bench = new Bench();
      bench.open();
      const frame = welcome().slice();
      for (let n = random() * 4; n > 0; n--) {
        frame[Math.floor(random() * frame.length)] = random() * 256;
      }
      bench.receive(frame);
      const { id, timeout, ready } = bench.session;
      if (ready && (id === 0n || timeout <= 0)) wrong.push(`round ${round}`);
    }

    assertEquals(wrong, []);
  });
});
