// A single call: signals that give it up, round trip, version, tracing, life of the process.
// A server in memory, virtual time: see virtual.ts.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Packet } from "../../protocol/api.ts";
import { ConnectionLossError } from "../../protocol/errors.ts";
import type { FakeEnsemble } from "./virtual.ts";
import { bytes, header } from "./wire.ts";
import { inWorld } from "./world.ts";

/** A signal that counts who listens. */
function countedSignal(): { stop: AbortController; listeners: () => number } {
  const stop = new AbortController();
  const { signal } = stop;
  const listening = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listening.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listening.delete(args[1]);
    remove(...args);
  };
  return { stop, listeners: () => listening.size };
}

describe("Client, the signal of a call", () => {
  it(
    "that is aborted already rejects with its reason, and nothing is sent",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const reason = new Error("enough");

      const error = await assertRejects(() =>
        client.create("/a", "", { signal: AbortSignal.abort(reason) })
      );
      await time.pass(10);

      assertEquals([error, ensemble.server.asked], [reason, []]);
    }),
  );

  it(
    "gives up a call that waits for a connection: it is never sent",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.line.cut();
      const { stop } = countedSignal();
      const reason = new Error("enough");

      const call = assertRejects(() =>
        client.create("/a", "", { signal: stop.signal })
      );
      stop.abort(reason);
      await time.until(client.sync("/"));

      assertStrictEquals(await call, reason);
      assertEquals(ensemble.server.asked, ["sync"]);
    }),
  );

  it(
    "gives up a call in flight, whose reply is dropped in its turn",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const stop = new AbortController();
      const reason = new Error("enough");

      const call = assertRejects(() =>
        client.getData("/a", { signal: stop.signal })
      );
      const other = client.exists("/b");
      await null;
      stop.abort(reason);
      await time.until(other);

      assertStrictEquals(await call, reason);
      assertEquals([ensemble.server.asked, ensemble.dials.length], [[
        "getData",
        "exists",
      ], 1]);
    }),
  );

  it(
    "is let go of when the call is settled, however it ends (CURATOR-14)",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const { stop, listeners } = countedSignal();
      const { signal } = stop;

      for (let i = 0; i < 100; i++) {
        await time.until(client.sync("/", { signal }));
      }
      const during = client.exists("/a", { signal });
      const one = listeners();
      await time.until(during);
      await assertRejects(() => client.create("a", "", { signal }), TypeError);
      ensemble.server.answer = () => null;
      const lost = assertRejects(
        () => client.create("/a", "", { signal }),
        ConnectionLossError,
      );
      await time.pass(5);
      ensemble.server.line.cut();
      await lost;
      ensemble.server.answer = (asked) => ensemble.answer(asked);

      assertEquals([one, listeners()], [1, 0]);
    }),
  );

  it(
    "is let go of when the server is known not to support the call",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const { stop, listeners } = countedSignal();
      const { signal } = stop;
      ensemble.server.answer = ({ xid }) => header(xid, -1n, -6);
      const call = () =>
        assertRejects(() => time.until(client.whoAmI({ signal })));

      await call();
      await call();
      ensemble.server.answer = (asked) => ensemble.answer(asked);

      assertEquals([listeners(), ensemble.server.asked], [0, ["whoAmI"]]);
    }),
  );

  it(
    "that aborts after the reply changes nothing",
    inWorld(1, async ({ time, connected }) => {
      const client = await connected();
      const stop = new AbortController();

      const { path } = await time.until(
        client.create("/a", "", { signal: stop.signal }),
      );
      stop.abort();

      assertEquals([path, client.session.state], ["/a", "connected"]);
    }),
  );
});

describe("Client.ping()", () => {
  it(
    "answers the round trip in ms",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.latency = 40;

      const ms = await time.until(client.ping());

      assertEquals(ms, 40);
    }),
  );

  it(
    "does not count the time until there is a connection",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.line.cut();
      ensemble.server.latency = 40;

      const ms = await time.until(client.ping());

      assertEquals(ms, 40);
    }),
  );
});

describe("Client.serverVersion()", () => {
  /** The next connection gets this text for whatever it writes, and then the end. */
  function answerText(ensemble: FakeEnsemble, text: string): void {
    ensemble.server.speaks = false;
    ensemble.server.banner = bytes(text);
    const { accept } = { accept: ensemble.server.lines.length };
    ensemble.time.later(2, () => ensemble.server.lines[accept].finish());
  }

  for (
    const [text, version] of [
      [
        "Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC\nMode: standalone\n",
        "3.8.0",
      ],
      ["Zookeeper version: 3.9.3, built on 2024\n", "3.9.3"],
      ["srvr is not executed because it is not in the whitelist.\n", null],
      ["", null],
    ] as const
  ) {
    it(
      `answers ${version} for ${
        JSON.stringify(text.slice(0, 24))
      }…, asked by srvr on a connection of its own`,
      inWorld(1, async ({ ensemble, time, connected }) => {
        const client = await connected();
        answerText(ensemble, text);

        const found = await time.until(client.serverVersion());
        ensemble.server.speaks = true;

        const [main, side] = ensemble.server.lines;
        assertEquals([
          found,
          side.writes.map((b) => new TextDecoder().decode(b)),
          main.open,
          side.open,
        ], [version, ["srvr"], true, false]);
      }),
    );
  }

  it(
    "rejects after T/3 when the server keeps silent",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.speaks = false;
      const start = time.monotonic();

      const error = await assertRejects(
        () => time.until(client.serverVersion()),
        ConnectionLossError,
      );
      ensemble.server.speaks = true;

      assertEquals([error.message, time.monotonic() - start], [
        "Cannot ask zk0:2181 for srvr: no answer within 3000 ms",
        3000,
      ]);
    }),
  );

  it(
    "rejects after T/3 when the server cannot be reached a second time, and at once by its signal",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.reception = "hang";
      const stop = new AbortController();
      const reason = new Error("enough");
      time.later(10, () => stop.abort(reason));

      const call = client.serverVersion({ signal: stop.signal });
      const first = await assertRejects(() => time.until(call));
      const start = time.monotonic();
      await assertRejects(
        () => time.until(client.serverVersion()),
        ConnectionLossError,
      );
      ensemble.server.reception = "accept";

      assertEquals([first, time.monotonic() - start], [reason, 3000]);
    }),
  );

  it(
    "rejects without a connection: it would ask another server",
    inWorld(1, async ({ ensemble, connected }) => {
      const client = await connected();
      ensemble.server.line.cut();

      await assertRejects(() => client.serverVersion(), ConnectionLossError);
    }),
  );
});

describe("onPacket", () => {
  it(
    "is shown every packet that goes or comes, with what it is",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const packets: Packet[] = [];
      const client = await connected({
        onPacket: (packet) => packets.push(packet),
      });
      const events: unknown[] = [];

      await time.until(
        Promise.all([
          client.sync("/"),
          client.exists("/", { watch: (e) => events.push(e) }),
        ]),
      );

      assertEquals(
        packets.map(({ direction, xid, op }) => [direction, xid, op]),
        [
          ["sent", null, "connect"],
          ["received", null, "connect"],
          ["sent", 1, "sync"],
          ["sent", 2, "exists"],
          ["received", 1, null],
          ["received", 2, null],
        ],
      );
      const [line] = ensemble.lines;
      assertEquals(packets[0].bytes, line.writes[0].subarray(4));
    }),
  );
});

describe("Client.ref() and unref()", () => {
  for (const reception of ["hang", "refuse"] as const) {
    it(
      `reach the timers that are set already while a server does ${reception}`,
      inWorld(1, async ({ ensemble, time, connected }) => {
        const kept = new Set<{ keepAlive: boolean }>();
        const dialled: (boolean | undefined)[] = [];
        const client = await connected({
          environment: {
            monotonic: () => time.monotonic(),
            wall: () => time.wall(),
            random: (b) => time.random(b),
            after(ms, run, keepAlive = true) {
              const timer = { keepAlive };
              kept.add(timer);
              const cancel = time.after(ms, () => {
                kept.delete(timer);
                run();
              });
              return () => {
                kept.delete(timer);
                cancel();
              };
            },
          },
          transport: (address, handlers) => {
            dialled.push(address.keepAlive);
            return ensemble.transport(address, handlers);
          },
        });
        const alive = () => [...kept].map(({ keepAlive }) => keepAlive);
        ensemble.server.reception = reception;
        ensemble.server.line.cut();
        await time.pass(20);
        const before = alive();

        client.unref();
        const unref = alive();
        client.ref();

        assertEquals(before.length, 2); // The next try, and the session's end.
        assertEquals(unref, [false, false]);
        assertEquals(alive(), [true, true]);
        client.unref();
        ensemble.server.reception = "accept";
        await time.pass(9000);
        assertEquals(client.session.state, "connected");
        assertEquals([dialled[0], dialled.at(-1)], [true, false]);
      }),
    );
  }

  it(
    "are passed on to timers and sockets, of this and the next connection",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const kept: boolean[] = [], sockets: string[] = [];
      const client = await connected({
        environment: {
          monotonic: () => time.monotonic(),
          wall: () => time.wall(),
          random: (b) => time.random(b),
          after(ms, run, keepAlive) {
            kept.push(keepAlive ?? true);
            return time.after(ms, run);
          },
        },
        transport: async (address, handlers) => ({
          ...await ensemble.transport(address, handlers),
          ref: () => void sockets.push("ref"),
          unref: () => void sockets.push("unref"),
        }),
      });
      const before = kept.splice(0);

      client.unref();
      ensemble.server.line.cut();
      await time.pass(500);
      const after = kept.splice(0);
      client.ref();

      assert(
        before.every((keep) => keep) && after.every((keep) => !keep),
        `${before} ${after}`,
      );
      assertEquals([sockets, kept], [["unref", "unref", "ref"], [true]]);
    }),
  );
});
