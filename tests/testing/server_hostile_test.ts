// TestServer among clients that send what no client should: it never fails, nobody else notices, and memory is bounded.
// On virtual time and in memory.

import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import process from "node:process";
import * as ops from "../../protocol/operations.ts";
import * as r from "../../protocol/records.ts";
import { Random } from "../../testing/random.ts";
import { bytes, framed, hex, joined } from "../protocol/wire.ts";
import { frames } from "./golden_play.ts";
import { helloFrame, type Raw, requestFrame, Stage } from "./raw.ts";

function int(value: number): Uint8Array {
  const four = new Uint8Array(4);
  new DataView(four.buffer).setInt32(0, value);
  return four;
}

/** A request of this operation whose body is whatever it is. */
function request(type: number, ...body: Uint8Array[]): Uint8Array {
  return framed((to) => {
    r.RequestHeader.write(to, { xid: 1, type });
    for (const byte of joined(...body)) to.byte(byte);
  });
}

/** Throws unless a well-behaved client is served. */
async function assertServing(stage: Stage): Promise<void> {
  const raw = await stage.attached();
  assertEquals(await raw.ask(ops.exists, { path: "/", watch: false }), 0);
  raw.close();
}

async function errorsOf(raw: Raw, frame: Uint8Array): Promise<unknown[]> {
  const answers = await raw.say(frame);
  return answers.map((answer) => new DataView(answer.buffer).getInt32(16));
}

describe("TestServer, before the handshake", () => {
  const openings: [what: string, bytes: Uint8Array][] = [
    ["a length of -1", int(-1)],
    ["a length of -5", int(-5)],
    ["the least length there is", int(-(2 ** 31))],
    ["the greatest", int(2 ** 31 - 1)],
    ["one byte more than it takes", int(0x10_0000)],
    ["an empty packet", int(0)],
    ["a packet of three bytes", joined(int(3), new Uint8Array(3))],
    ["a hello of 43 bytes", joined(int(43), helloFrame().subarray(4, 47))],
    [
      "a hello whose password is longer than it",
      helloFrame().map((byte, i) => i === 31 ? 200 : byte),
    ],
    ["an old web browser", bytes("GET / HTTP/1.1\r\n\r\n")],
    ["a TLS hello", hex("1603010200010001fc0303")],
  ];

  for (const [what, opening] of openings) {
    it(`hangs up without a word on ${what}`, async () => {
      await using stage = await Stage.start();
      const raw = await stage.raw();

      await raw.say(opening);

      assertEquals([raw.text(), raw.isClosed], ["", true]);
      await assertServing(stage);
    });
  }

  it("takes a hello of any age: bytes behind it do not matter", async () => {
    await using stage = await Stage.start();
    const raw = await stage.raw();
    const longer = joined(helloFrame().subarray(4), new Uint8Array(100));

    const answers = await raw.say(int(longer.length), longer);

    assertEquals([answers.length, raw.isClosed], [1, false]);
  });

  it("waits for what comes in single bytes", async () => {
    await using stage = await Stage.start();
    const raw = await stage.raw();
    const ping = requestFrame(-2, ops.ping, null);

    const answers = await raw.say(
      ...[...joined(helloFrame(), ping)].map((byte) => Uint8Array.of(byte)),
    );

    assertEquals(answers.map(({ length }) => length), [41, 20]);
  });
});

describe("TestServer, after the handshake", () => {
  const ends: [what: string, bytes: Uint8Array][] = [
    ["a length of -5", int(-5)],
    ["a length that is too much", int(0x10_0000)],
    ["an empty packet", int(0)],
    ["half a header", joined(int(7), new Uint8Array(7))],
    ["half an authentication", request(100, int(0), int(6), bytes("dig"))],
  ];
  for (const [what, nonsense] of ends) {
    it(`hangs up on ${what}, behind the answers to what came before`, async () => {
      await using stage = await Stage.start();
      const raw = await stage.attached();

      const answers = await raw.say(
        joined(requestFrame(-2, ops.ping, null), nonsense),
      );

      assertEquals([answers.length, raw.isClosed], [1, true]);
      await assertServing(stage);
    });
  }

  for (const type of [0, -10, -1, 10, 20, 999, 2 ** 31 - 1, -(2 ** 31)]) {
    it(`answers -6 to an operation ${type} and hangs up`, async () => {
      await using stage = await Stage.start();
      const raw = await stage.attached();

      const errors = await errorsOf(raw, request(type));

      assertEquals([errors, raw.isClosed], [[-6], true]);
      await assertServing(stage);
    });
  }

  const unreadable: [what: string, frame: Uint8Array][] = [
    ["a path longer than its packet", request(4, int(80), bytes("abc"))],
    ["a path of negative length", request(4, int(-2))],
    ["a create without its end", request(1, int(2), bytes("/a"), int(1))],
    [
      "a list of 2^31-1",
      request(1, int(2), bytes("/a"), int(0), int(2 ** 31 - 1)),
    ],
    ["a list of -2", request(101, new Uint8Array(8), int(-2))],
    ["a multi without an end", request(14)],
    [
      "a multi of an operation that is none",
      request(14, int(99), Uint8Array.of(0), int(-1)),
    ],
    ["a multi in a multi", request(14, int(14), Uint8Array.of(0), int(-1))],
    [
      "a multiRead without an end",
      request(22, int(4), Uint8Array.of(0), int(-1)),
    ],
  ];
  for (const [what, frame] of unreadable) {
    it(`answers -5 to ${what} and goes on`, async () => {
      await using stage = await Stage.start();
      const raw = await stage.attached();

      const errors = await errorsOf(raw, frame);

      assertEquals([errors, raw.isClosed], [[-5], false]);
      await assertServing(stage);
    });
  }

  it("does not mind bytes behind a request", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();

    const errors = await errorsOf(
      raw,
      request(3, int(1), bytes("/"), Uint8Array.of(0, 1, 2, 3)),
    );

    assertEquals(errors, [0]);
  });

  it("takes a request of exactly the limit, and none above", async () => {
    await using stage = await Stage.start({ maxPacket: 1000 });
    const raw = await stage.attached();
    const create = (size: number) => {
      const acl = [{ perms: 31, scheme: "world", id: "anyone" }];
      const data = new Uint8Array(size);
      return raw.ask(ops.create, { path: `/${size}`, data, acl, flags: 0 });
    };
    // All but the data, with a path of four characters.
    const overhead = 51;

    const results = [
      await create(1000 - overhead),
      await create(1001 - overhead),
    ];

    assertEquals(results, [0, "closed"]);
  });

  it("what is said behind a hang-up is not heard", async () => {
    await using stage = await Stage.start();
    const raw = await stage.attached();
    const acl = [{ perms: 31, scheme: "world", id: "anyone" }];
    const create = { path: "/late", data: null, acl, flags: 0 };

    await raw.say(
      joined(request(999), requestFrame(2, ops.create, create)),
      requestFrame(3, ops.create, create),
    );

    assertEquals(stage.server.paths(), []);
  });
});

describe("TestServer, among noise", () => {
  const recorded = frames.filter(({ direction }) => direction[0] === "c")
    .map((frame) => hex(frame.hex));

  it("survives every recorded request in single bytes", async () => {
    await using stage = await Stage.start();

    for (const frame of recorded) {
      const raw = await stage.attached();
      await raw.say(...[...frame].map((byte) => Uint8Array.of(byte)));
      raw.close();
    }

    await assertServing(stage);
  });

  it("survives 3000 recorded requests with bytes changed, cut and repeated", async () => {
    const random = new Random(1, "noise");
    await using stage = await Stage.start();

    for (let round = 0; round < 3000; round++) {
      const frame = random.pick(recorded).slice();
      const isGreeted = random.chance(0.8);
      for (let i = random.between(1, 4); i > 0; i--) {
        const at = random.between(4, Math.max(4, frame.length - 1));
        frame[at] = random.pick([
          0,
          1,
          0x7f,
          0x80,
          0xff,
          random.between(0, 255),
        ]);
      }
      const raw = await (isGreeted ? stage.attached() : stage.raw());
      const piece = frame.subarray(0, random.between(1, frame.length));
      raw.socket.write(random.chance(0.7) ? frame : piece);
      raw.socket.write(random.chance(0.3) ? frame : piece);
      await stage.clock.pass(0);
      raw.close();
      if (round % 100 === 0) await stage.clock.pass(20_000);
    }

    await stage.clock.pass(20_000);
    await assertServing(stage);
    await stage.clock.pass(20_000);
    assertEquals([stage.server.connections, stage.server.watches()], [0, 0]);
  });

  it("keeps no memory for what a length promises", async () => {
    await using stage = await Stage.start();
    const before = process.memoryUsage().arrayBuffers;

    for (let i = 0; i < 500; i++) {
      const raw = await stage.attached();
      await raw.say(joined(int(0xfffff), new Uint8Array(10)));
    }

    const grown = process.memoryUsage().arrayBuffers - before;
    assert(grown < 50e6, `500 connections keep ${grown} bytes`);
    assertEquals(stage.server.connections, 500);
  });
});
