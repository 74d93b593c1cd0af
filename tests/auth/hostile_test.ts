// Servers that are not to be trusted with SASL: each way to cheat is a typed error, and nothing hangs.
// The servers are scripts in memory: one answer to each token.

import { assertEquals, assertInstanceOf } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  AuthFailedError,
  connect,
  ConnectionLossError,
  ProtocolError,
  type Transport,
} from "../../mod.ts";
import { SaslToken } from "../../protocol/records.ts";
import { answer, header, welcome } from "../protocol/wire.ts";

const good = 'realm="r",nonce="n",charset=utf-8,algorithm=md5-sess';

/** A reply with a token. */
function reply(xid: number, token: string | null): Uint8Array {
  const bytes = token === null ? null : new TextEncoder().encode(token);
  return answer(xid, 0n, SaslToken, { token: bytes });
}

/** A server that answers what it is sent with these, one after the other. */
class Script {
  dialled = 0;
  readonly #answers: readonly Uint8Array[];

  constructor(...answers: Uint8Array[]) {
    this.#answers = answers;
  }

  readonly transport: Transport = (_, { data, close }) => {
    this.dialled++;
    const rest = [welcome(), ...this.#answers];
    return Promise.resolve({
      write() {
        const next = rest.shift();
        if (next !== undefined) queueMicrotask(() => data(next));
      },
      close: () => close(),
    });
  };
}

/** The error of connect(), and how often it dialled. */
async function outcome(script: Script): Promise<[unknown, number]> {
  const sasl = { user: "anna", password: "secret" };
  const { transport } = script;
  try {
    const zk = await connect("zk", { sasl, transport, connectTimeout: 300 });
    await zk.close();
    return [undefined, script.dialled];
  } catch (error) {
    return [error, script.dialled];
  }
}

describe("A server that", () => {
  const refused: Array<[string, Uint8Array[]]> = [
    ["sends no nonce", [reply(1, good.replace('nonce="n"', "x=y"))]],
    ["sends a challenge that cannot be read", [reply(1, '",=,"=')]],
    ["sends a challenge of 8 MB", [reply(1, "x".repeat(8 << 20))]],
    ["sends an empty challenge", [reply(1, "")]],
    ["demands encryption", [reply(1, `${good},qop="auth-conf"`)]],
    ["has no SASL", [reply(1, null)]],
    ["refuses the proof", [reply(1, good), header(2, 0n, -115)]],
    ["goes on without the proof", [reply(1, good), reply(2, null)]],
    ["proves nothing", [reply(1, good), reply(2, "")]],
    ["proves another password", [
      reply(1, good),
      reply(2, "rspauth=0123456789abcdef0123456789abcdef"),
    ]],
    ["challenges again and again", [reply(1, good), reply(2, good)]],
  ];
  for (const [what, answers] of refused) {
    it(`${what} is given up at once, with an AuthFailedError`, async () => {
      const [error, dialled] = await outcome(new Script(...answers));

      assertInstanceOf(error, AuthFailedError);
      assertEquals([error.scheme, dialled], ["sasl", 1]);
    });
  }

  const huge = new Uint8Array([0x7f, 0xff, 0xff, 0xff]);
  const overrun = reply(1, good);
  new DataView(overrun.buffer).setInt32(20, 1 << 20);
  const garbage: Array<[string, Uint8Array[]]> = [
    ["answers with another number", [reply(7, good)]],
    ["answers with no token", [header(1, 0n)]],
    ["sends a length that cannot be", [huge]],
    ["sends a token that is longer than its packet", [overrun]],
    ["sends an event in place of the challenge", [header(-1, 0n)]],
  ];
  for (const [what, answers] of garbage) {
    it(`${what} is left for another, until connect() gives up and says why`, async () => {
      const [error] = await outcome(new Script(...answers));

      assertInstanceOf(error, ConnectionLossError);
      assertInstanceOf(error.cause, ProtocolError);
    });
  }

  it("never answers is given up when the time of connect() is up", async () => {
    const [error] = await outcome(new Script());

    assertInstanceOf(error, ConnectionLossError);
  });
});
