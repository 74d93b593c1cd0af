// The embedded server against what real servers (3.4.13, 3.8.0, 3.9.3) were recorded to answer: byte for byte.
// What it does not answer as they did stands in one table, with the reason, and must need to stand there.
// Transaction ids, times, sessions and passwords are replaced, if they vary consistently; lists without an order are put in order.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Reader, Writer } from "../../protocol/jute.ts";
import * as r from "../../protocol/records.ts";
import { framed } from "../protocol/wire.ts";
import { hexOf, Translation } from "./golden_compare.ts";
import { frames, play } from "./golden_play.ts";

/** Frames that the embedded server does not send, by name and with the reason. */
const exceptions: Record<string, string> = {
  "fourLetterWord.srvr.reply":
    "the build, the latencies and the counts of that very run; words_test.ts looks at the lines",
};

const recorded = [["3.4.13", 65], ["3.8.0", 95], ["3.9.3", 84]] as const;

describe("golden frames of servers", () => {
  for (const [version, count] of recorded) {
    it(`TestServer answers ${version}'s requests with its ${count} frames, but for the exceptions`, async () => {
      const { same, different } = await play(version);

      const wanted = frames.map(({ name }) => name)
        .filter((name, i) => isFrom(version, i) && name in exceptions);
      assertEquals(different, wanted);
      assertEquals(same.length + different.length, count);
    });
  }

  it("the counts above and the requests are all 461 frames", () => {
    const requests = frames.filter(({ direction }) =>
      direction === "client->server"
    );

    const answers = recorded.reduce((sum, [, count]) => sum + count, 0);

    assertEquals([answers, requests.length, frames.length], [244, 217, 461]);
  });

  it("the exceptions are frames that were recorded", () => {
    const names = new Set(frames.map(({ name }) => name));

    const unknown = Object.keys(exceptions).filter((name) => !names.has(name));

    assertEquals(unknown, []);
  });
});

function isFrom(version: string, index: number): boolean {
  const { direction, serverVersion } = frames[index];
  return direction === "server->client" && serverVersion === version;
}

describe("Translation", () => {
  const asked = framed((to) => r.RequestHeader.write(to, { xid: 1, type: 1 }));
  const reply = (zxid: bigint, err = -101) =>
    framed((to) => r.ReplyHeader.write(to, { xid: 1, zxid, err }));
  const same = (translation: Translation, ours: bigint, recorded: bigint) => {
    const wanted = reply(recorded);
    return translation.answer(reply(ours), wanted, asked) === hexOf(wanted);
  };

  it("takes zxids that are higher by the same amount", () => {
    const translation = new Translation();

    const verdicts = [[1n, 801n], [3n, 803n], [1n, 801n]].map(([a, b]) =>
      same(translation, a, b)
    );

    assertEquals(verdicts, [true, true, true]);
  });

  it("refuses a zxid that is higher by another amount, or stands for none", () => {
    const translation = new Translation();
    same(translation, 1n, 801n);

    const verdicts = [[2n, 803n], [2n, 0n], [0n, 802n], [-1n, 802n]].map((
      [a, b],
    ) => same(translation, a, b));

    assertEquals(verdicts, [false, false, false, false]);
  });

  it("refuses another error, another length and a session that changes its id", () => {
    const translation = new Translation();
    const wanted = reply(801n);
    const longer = framed((to) => {
      r.ReplyHeader.write(to, { xid: 1, zxid: 1n, err: -101 });
      to.int(0);
    });
    const hello = (sessionId: bigint) =>
      framed((to) => r.ConnectResponse.write(to, welcome(sessionId)));

    const verdicts = [
      translation.answer(reply(1n, -102), wanted, asked) === hexOf(wanted),
      translation.answer(longer, wanted, asked) === hexOf(wanted),
      translation.answer(hello(7n), hello(70n)) === hexOf(hello(70n)),
      translation.answer(hello(7n), hello(71n)) === hexOf(hello(71n)),
      translation.answer(hello(8n), hello(70n)) === hexOf(hello(70n)),
    ];

    assertEquals(verdicts, [false, false, true, false, false]);
  });

  it("sends a recorded session as ours", () => {
    const translation = new Translation();
    const [ours, theirs] = [welcome(7n), welcome(70n)].map((answer) =>
      framed((to) => r.ConnectResponse.write(to, answer))
    );
    translation.answer(ours, theirs);
    const writer = new Writer();
    writer.int(45);
    r.ConnectRequest.write(writer, { ...welcome(70n), lastZxidSeen: 0n });

    const sent = translation.request(writer.copy());

    const { sessionId } = r.ConnectRequest.read(new Reader(sent.subarray(4)));
    assertEquals(sessionId, 7n);
  });
});

function welcome(sessionId: bigint) {
  return {
    protocolVersion: 0,
    timeOut: 1,
    sessionId,
    passwd: new Uint8Array(16),
    readOnly: false,
  };
}
