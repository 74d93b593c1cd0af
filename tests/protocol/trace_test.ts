// What a tracer is shown: headers of packets, both ways.
// Pure; that every packet gets there is tested with onPacket in client_call_test.ts.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { writeHello } from "../../protocol/handshake.ts";
import { RequestHeader } from "../../protocol/records.ts";
import { packetsOf } from "../../protocol/trace.ts";
import { event, framed, header, hex, joined, welcome } from "./wire.ts";

function hello(password: Uint8Array): Uint8Array {
  return framed((to) =>
    writeHello(to, {
      lastZxid: 0n,
      timeout: 1,
      sessionId: 0n,
      password,
      readOnly: false,
    })
  );
}

function request(xid: number, type: number): Uint8Array {
  return framed((to) => RequestHeader.write(to, { xid, type }));
}

/** Number and operation of each packet. */
function seen(
  direction: "sent" | "received",
  bytes: Uint8Array,
): Array<[number | null, string | null]> {
  return packetsOf(direction, bytes).map(({ xid, op }) => [xid, op]);
}

describe("packetsOf()", () => {
  it("takes what is sent together apart and names the operations", () => {
    const sent = joined(
      hello(new Uint8Array(16)),
      request(1, 4),
      request(-2, 11),
      request(2, -11),
      request(3, 999),
    );

    const packets = seen("sent", sent);

    assertEquals(packets, [
      [null, "connect"],
      [1, "getData"],
      [-2, "ping"],
      [2, "closeSession"],
      [3, null],
    ]);
  });

  it("names what comes in where it can", () => {
    const received = [welcome(), event(1, "/a"), header(7, 1n), header(-2, 1n)];

    const packets = received.flatMap((frame) =>
      seen("received", frame.subarray(4))
    );

    assertEquals(packets, [
      [null, "connect"],
      [-1, "event"],
      [7, null],
      [-2, null],
    ]);
  });

  it("shows a packet that is too short for a header", () => {
    const packets = packetsOf("received", hex("0001"));

    assertEquals(packets, [
      { direction: "received", xid: null, op: null, bytes: hex("0001") },
    ]);
  });

  it("hands out copies: the session reads into the same memory again", () => {
    const bytes = header(7, 1n).subarray(4);

    const [packet] = packetsOf("received", bytes);
    bytes.fill(0);

    assertEquals(packet.bytes, header(7, 1n).subarray(4));
  });

  it("hands out copies of what is sent, too", () => {
    const bytes = request(7, 4);

    const [packet] = packetsOf("sent", bytes);
    bytes.fill(0);

    assertEquals(packet.bytes, request(7, 4).subarray(4));
  });

  it("knows a connect request whatever the length of its password", () => {
    const packets = seen("sent", hello(new Uint8Array(20)));

    assertEquals(packets, [[null, "connect"]]);
  });
});
