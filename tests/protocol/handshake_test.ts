// The first packet each way: what we ask for, and everything a server was seen to answer.
// Pure; recorded bytes where there are any (reference, 5.1 to 5.6).

import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ProtocolError } from "../../protocol/errors.ts";
import {
  noPassword,
  type Welcome,
  writeHello,
} from "../../protocol/handshake.ts";
import {
  bytes,
  framed,
  hex,
  joined,
  password,
  read,
  readHello,
  seeded,
  sessionId,
  unknownSession,
  welcome,
} from "./wire.ts";

describe("writeHello()", () => {
  it("asks for a new session with 16 zero bytes: null hangs 3.4 for ever", () => {
    const frame = framed((to) =>
      writeHello(to, {
        lastZxid: 0n,
        timeout: 10_000,
        sessionId: 0n,
        password: noPassword,
        readOnly: false,
      })
    );

    assertEquals(
      frame,
      hex(
        "0000002d000000000000000000000000000027100000000000000000000000100000000000000000000000000000000000",
      ),
    );
  });

  it("asks for the same session with its password and the newest zxid seen (rust-zookeeper#39)", () => {
    const frame = framed((to) =>
      writeHello(to, {
        lastZxid: 0x359n,
        timeout: 10_000,
        sessionId,
        password,
        readOnly: true,
      })
    );

    assertEquals(readHello(frame.subarray(4)), {
      protocolVersion: 0,
      lastZxidSeen: 0x359n,
      timeOut: 10_000,
      sessionId,
      passwd: password,
      readOnly: true,
    });
  });
});

describe("readWelcome()", () => {
  const attached: Welcome & { kind: "attached" } = {
    kind: "attached",
    sessionId,
    password,
    timeout: 9000,
    readOnly: false,
  };

  it("reads a new session", () => {
    const answer = read(welcome());

    assertEquals(answer, attached);
  });

  it("reads the same session again", () => {
    const answer = read(welcome(), sessionId);

    assertEquals(answer, attached);
  });

  it("takes an answer of 36 bytes, without the byte for read-only (rust-zookeeper 0.6.4)", () => {
    const frame = welcome({ readOnly: "left out" });

    const answer = read(frame);

    assertEquals([frame.length - 4, answer], [36, attached]);
  });

  it("reads the byte for read-only", () => {
    const answer = read(welcome({ readOnly: true }));

    assertEquals(answer, { ...attached, readOnly: true });
  });

  it("tolerates bytes behind the last field", () => {
    const answer = read(joined(welcome(), hex("00010203")));

    assertEquals(answer, attached);
  });

  for (
    const [what, passwd] of [["17 bytes", hex("02".repeat(17))], [
      "20 bytes",
      hex("01".repeat(20)),
    ]] as const
  ) {
    it(`keeps a password of ${what} as it is`, () => {
      const answer = read(welcome({ passwd }));

      assertEquals(answer, { ...attached, password: passwd });
    });
  }

  it("refuses an answer with a null password: it is shorter than any real one", () => {
    assertThrows(() => read(welcome({ passwd: null })), ProtocolError);
  });

  for (const timeOut of [0, -1, -(2 ** 31)]) {
    it(`reads a timeout of ${timeOut} as expired, the only sign on the wire`, () => {
      const answer = read(welcome({ timeOut }), sessionId);

      assertEquals(answer, { kind: "expired" });
    });
  }

  it("reads what a server says to a wrong password or an unknown session as expired", () => {
    const answer = read(unknownSession(), sessionId);

    assertEquals(answer, { kind: "expired" });
  });

  it("reads another session than the one asked for as expired (ClickHouse#116690)", () => {
    const answer = read(welcome({ sessionId: sessionId + 1n }), sessionId);

    assertEquals(answer, { kind: "expired" });
  });

  it("takes the largest timeout there is", () => {
    const answer = read(welcome({ timeOut: 2 ** 31 - 1 }));

    assertEquals(answer, { ...attached, timeout: 2 ** 31 - 1 });
  });

  it("refuses a session with id 0", () => {
    const answer = read(welcome({ sessionId: 0n }));

    assertEquals(answer, {
      kind: "refused",
      why: "the server answered session id 0",
    });
  });

  it("reads the bare header of a read-only server as a refusal that may pass (recorded from 3.8.0)", () => {
    const recorded = hex("00000010000000000000000100000196ffffff89");

    const answer = read(recorded);

    assertEquals(answer, {
      kind: "refused",
      why: "the server answered error -119",
    });
  });

  for (const size of [0, 1, 15, 17, 35]) {
    it(`throws a ProtocolError for an answer of ${size} bytes`, () => {
      const frame = joined(hex("00000000"), new Uint8Array(size));

      assertThrows(() => read(frame), ProtocolError, `it has ${size} bytes`);
    });
  }

  it("throws a ProtocolError for text of the right length", () => {
    const text = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".padEnd(
      60,
    );

    assertThrows(
      () => read(joined(hex("00000000"), bytes(text))),
      ProtocolError,
    );
  });

  it("reads random bytes as an answer or a ProtocolError", () => {
    const random = seeded(56);
    const others: unknown[] = [];

    for (let i = 0; i < 3000; i++) {
      const frame = Uint8Array.from(
        { length: 4 + random() * 60 },
        () => random() < 0.6 ? 0 : random() * 256,
      );
      try {
        read(frame, i % 2 ? sessionId : 0n);
      } catch (error) {
        if (!(error instanceof ProtocolError)) others.push(error);
      }
    }

    assertEquals(others, []);
  });
});
