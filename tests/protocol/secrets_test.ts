// What is overwritten in packets before anybody may print them.
// Pure.

import { assertEquals, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Writer } from "../../protocol/jute.ts";
import {
  AuthPacket,
  ConnectRequest,
  ConnectResponse,
  ReplyHeader,
  RequestHeader,
  SaslToken,
} from "../../protocol/records.ts";
import { withoutSecrets } from "../../protocol/secrets.ts";

const secret = new TextEncoder().encode("0123456789abcdef");
const stars = new TextEncoder().encode("*".repeat(16));

function packet(write: (to: Writer) => void): Uint8Array {
  const to = new Writer();
  write(to);
  return to.copy();
}

function hello(passwd: Uint8Array): Uint8Array {
  const rest = { protocolVersion: 0, lastZxidSeen: 7n, timeOut: 1 };
  return packet((to) =>
    ConnectRequest.write(to, { ...rest, sessionId: 5n, passwd, readOnly: true })
  );
}

function welcome(passwd: Uint8Array): Uint8Array {
  const rest = { protocolVersion: 0, timeOut: 1, readOnly: true };
  return packet((to) =>
    ConnectResponse.write(to, { ...rest, sessionId: 5n, passwd })
  );
}

function auth(secret: Uint8Array): Uint8Array {
  return packet((to) => {
    RequestHeader.write(to, { xid: -4, type: 100 });
    AuthPacket.write(to, { type: 0, scheme: "digest", auth: secret });
  });
}

function sasl(token: Uint8Array): Uint8Array {
  return packet((to) => {
    RequestHeader.write(to, { xid: 1, type: 102 });
    SaslToken.write(to, { token });
  });
}

function proof(text: string): Uint8Array {
  return packet((to) => {
    ReplyHeader.write(to, { xid: 2, zxid: 0n, err: 0 });
    SaslToken.write(to, { token: new TextEncoder().encode(text) });
  });
}

describe("withoutSecrets()", () => {
  const cases = [
    ["sent", "connect", hello],
    ["received", "connect", welcome],
    ["sent", "auth", auth],
    ["sent", "sasl", sasl],
  ] as const;
  for (const [direction, op, make] of cases) {
    it(`overwrites the secret of a ${op} that is ${direction}, and nothing else`, () => {
      const whole = make(secret);

      const shown = withoutSecrets(direction, op, whole);

      assertEquals(shown, make(stars));
      assertEquals(whole, make(secret));
    });

    it(`survives a ${op} that is ${direction} and cut off anywhere`, () => {
      const whole = make(secret);

      for (let length = 0; length < whole.length; length++) {
        const shown = withoutSecrets(direction, op, whole.slice(0, length));

        assertEquals(shown.length, length);
      }
    });

    it(`survives a ${op} that is ${direction} and has lengths that cannot be`, () => {
      const whole = make(secret);

      for (let at = 0; at + 4 <= whole.length; at++) {
        for (const length of [-1, -(2 ** 31), 2 ** 31 - 1]) {
          const bad = whole.slice();
          new DataView(bad.buffer).setInt32(at, length);

          assertEquals(
            withoutSecrets(direction, op, bad).length,
            whole.length,
          );
        }
      }
    });
  }

  it("overwrites the proof of a server", () => {
    const shown = withoutSecrets("received", null, proof("rspauth=0123"));

    assertEquals(shown, proof("************"));
  });

  it("leaves everything else as it is", () => {
    const whole = proof("realm=x");

    const shown = [
      withoutSecrets("received", null, whole),
      withoutSecrets("sent", "create", whole),
      withoutSecrets("sent", null, whole),
    ];

    for (const each of shown) assertStrictEquals(each, whole);
  });
});
