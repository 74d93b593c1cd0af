// connect(): whom it tries, for how long, how it gives up, and what a peer costs that is no ZooKeeper server.
// Servers in memory, virtual time: see virtual.ts.

import {
  assert,
  assertEquals,
  assertGreater,
  assertLess,
  assertRejects,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { AuthFailedError, ConnectionLossError } from "../../protocol/errors.ts";
import type { Transport } from "../../protocol/transport/mod.ts";
import { bytes, header, unknownSession, welcome } from "./wire.ts";
import { inWorld } from "./world.ts";

describe("connect()", () => {
  it(
    "resolves with a client whose session is that of the server",
    inWorld(1, async ({ connected, ensemble }) => {
      ensemble.server.timeout = 4000;

      const client = await connected({ sessionTimeout: 60_000 });

      const { id, timeout, state, signal } = client.session;
      assertEquals(
        [ensemble.sessions.has(id), timeout, state, signal.aborted],
        [
          true,
          4000,
          "connected",
          false,
        ],
      );
    }),
  );

  it(
    "asks every server before it tries one again",
    inWorld(4, async ({ connected, ensemble }) => {
      for (const server of ensemble.servers) server.reception = "refuse";
      const failed = assertRejects(() => connected(), ConnectionLossError);

      await failed;

      const first = ensemble.dials.slice(0, 4).map(({ name }) => name);
      assertEquals(first.sort(), ["zk0", "zk1", "zk2", "zk3"]);
    }),
  );

  it(
    "tries the first circle without pauses and then waits 10 to 50 ms, growing to a second, never the same",
    inWorld(1, async ({ connected, ensemble }) => {
      ensemble.server.reception = "refuse";

      await assertRejects(
        () => connected({ connectTimeout: 60_000 }),
        ConnectionLossError,
      );

      const gaps = ensemble.dials.slice(1).map(({ at }, i) =>
        at - ensemble.dials[i].at - ensemble.server.latency
      );
      assert(gaps[0] >= 10 && gaps[0] <= 51, `${gaps[0]}`);
      assert(
        gaps.slice(10).every((gap) => gap >= 400 && gap <= 1001),
        `${gaps}`,
      );
      assertGreater(new Set(gaps.slice(12)).size, 10);
    }),
  );

  it(
    "finds the one server that is well among those that refuse, hang, keep silent or are unknown (ZOOKEEPER-2614)",
    inWorld(4, async ({ connected, ensemble }) => {
      ensemble.servers[0].reception = "refuse";
      ensemble.servers[1].reception = "hang";
      ensemble.servers[2].speaks = false;

      await connected({}, `${ensemble.names},nosuch.invalid`);

      assertEquals(ensemble.servers[3].lines.length, 1);
    }),
  );

  for (const reception of ["hang", "silent"] as const) {
    it(
      `gives each of three servers a third of a third of the timeout in the first circle, where all ${
        reception === "hang" ? "hang" : "keep silent"
      } (CURATOR-36)`,
      inWorld(3, async ({ connected, ensemble }) => {
        for (const server of ensemble.servers) {
          if (reception === "hang") server.reception = "hang";
          else server.speaks = false;
        }

        await assertRejects(
          () => connected({ connectTimeout: 9000 }),
          ConnectionLossError,
        );

        const gaps = ensemble.dials.slice(1).map(({ at }, i) =>
          at - ensemble.dials[i].at
        );
        assertEquals(gaps.slice(0, 2).map((gap) => Math.abs(gap - 1000) < 5), [
          true,
          true,
        ], `${gaps}`);
        assertLess(
          ensemble.dials[3].at - ensemble.dials[0].at,
          3100,
          "one round takes longer than T/3",
        );
      }),
    );
  }

  it(
    "gives a server more time in later circles: all may just be slow",
    inWorld(1, async ({ connected, ensemble }) => {
      ensemble.server.latency = 3500;

      const client = await connected({ connectTimeout: 60_000 });

      assertEquals(client.session.state, "connected");
      ensemble.server.latency = 1;
    }),
  );

  it(
    "gives a server that starts, which refuses and then swallows a handshake, no more than a third of the timeout",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const { server } = ensemble;
      const client = await connected({ sessionTimeout: 9000 });
      const { id } = client.session;
      server.reception = "refuse";
      server.line.cut();
      await time.pass(3000);
      server.speaks = false;
      server.reception = "accept";
      await time.pass(1100);
      assertEquals(ensemble.open, 1);

      server.speaks = true;
      await time.pass(3000 + 1100);

      const { session } = client;
      assertEquals([session.state, session.id], ["connected", id]);
    }),
  );

  it(
    "rejects at once if the runtime permits none of the servers, but not if one of them",
    inWorld(2, async ({ connected, ensemble, time }) => {
      const denied = new Error('Requires net access to "zk0:2181"');
      denied.name = "NotCapable";
      const none: Transport = () => Promise.reject(denied);
      const some: Transport = (address, handlers) =>
        address.host === "zk0"
          ? Promise.reject(denied)
          : ensemble.transport(address, handlers);

      const since = time.monotonic();
      const error = await assertRejects(
        () => connected({ transport: none }),
        ConnectionLossError,
        "Cannot connect: no permission: Requires net access",
      );

      assertEquals([error.cause, time.monotonic()], [denied, since]);
      await connected({ transport: some });
    }),
  );

  it(
    "rejects at once if the runtime does not permit to look up a name, as Deno has it",
    inWorld(1, async ({ connected, time }) => {
      const denied = Object.assign(
        new Error("getaddrinfo EPERM zk0"),
        { code: "EPERM", syscall: "getaddrinfo" },
      );
      const transport: Transport = () => Promise.reject(denied);
      const since = time.monotonic();

      const error = await assertRejects(
        () => connected({ transport }),
        ConnectionLossError,
        "Cannot connect: no permission: getaddrinfo EPERM zk0",
      );

      assertEquals([error.cause, time.monotonic()], [denied, since]);
    }),
  );

  it(
    "says of every server why not, when time is up",
    inWorld(2, async ({ connected, ensemble }) => {
      for (const server of ensemble.servers) server.reception = "refuse";

      const error = await assertRejects(
        () => connected({ connectTimeout: 1000 }),
        ConnectionLossError,
        "Cannot connect within 1000 ms: zk",
      );

      const names = error.message.match(/zk\d refused the connection/g)!;
      assertEquals(names.sort(), [
        "zk0 refused the connection",
        "zk1 refused the connection",
      ]);
    }),
  );

  it(
    "gives the transport up by its signal, and closes a connection that comes all the same",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const signals: AbortSignal[] = [];
      let closed = 0;
      const stubborn: Transport = (address, handlers) => {
        signals.push(address.signal);
        if (signals.length > 1) return ensemble.transport(address, handlers);
        const socket = { write() {}, close: () => void closed++ };
        return new Promise((resolve) =>
          time.later(5000, () => resolve(socket))
        );
      };

      await connected({ transport: stubborn, connectTimeout: 20_000 });
      await time.pass(6000);

      assertEquals([signals[0].aborted, signals[1].aborted, closed], [
        true,
        false,
        1,
      ]);
    }),
  );

  it(
    "gives up after connectTimeout with the last reason, and leaves nothing behind",
    inWorld(1, async ({ connected, ensemble, time }) => {
      ensemble.server.reception = "refuse";
      const start = time.monotonic();

      const error = await assertRejects(
        () => connected({ connectTimeout: 300 }),
        ConnectionLossError,
      );

      assertEquals([time.monotonic() - start, error.outcome], [
        300,
        "not-sent",
      ]);
      assertEquals(
        error.message,
        "Cannot connect within 300 ms: zk0 refused the connection",
      );
      await time.pass(60_000);
      assertLess(ensemble.dials.at(-1)!.at, start + 301);
    }),
  );

  it(
    "gives up after sessionTimeout where no connectTimeout is given",
    inWorld(1, async ({ connected, ensemble, time }) => {
      ensemble.server.reception = "hang";
      const start = time.monotonic();

      await assertRejects(
        () => connected({ sessionTimeout: 1234 }),
        ConnectionLossError,
      );

      assertEquals(time.monotonic() - start, 1234);
    }),
  );

  it(
    "rejects with the reason of its signal and leaves nothing behind",
    inWorld(1, async ({ connected, ensemble, time }) => {
      ensemble.server.reception = "hang";
      const stop = new AbortController();
      const reason = new Error("enough");
      time.later(50, () => stop.abort(reason));

      const error = await assertRejects(() =>
        connected({ signal: stop.signal })
      );

      assertEquals(error, reason);
    }),
  );

  it(
    "rejects at once, without any traffic, when its signal is aborted already",
    inWorld(1, async ({ connected, ensemble }) => {
      const reason = new Error("enough");

      const error = await assertRejects(() =>
        connected({ signal: AbortSignal.abort(reason) })
      );

      assertEquals([error, ensemble.dials], [reason, []]);
    }),
  );

  it(
    "rejects with an AuthFailedError when a credential is refused",
    inWorld(1, async ({ connected, ensemble }) => {
      ensemble.server.answer = (asked, line) => {
        if (asked.op !== "auth") return ensemble.answer(asked);
        line.send(header(asked.xid, 0n, -115));
        line.finish();
        return null;
      };

      const outcome = connected({ auth: [{ scheme: "nosuch", auth: "x" }] });
      const error = await assertRejects(() => outcome, AuthFailedError);

      assertEquals(error.scheme, "nosuch");
    }),
  );

  it(
    "resolves on a read-only server where that is wanted",
    inWorld(1, async ({ ensemble, connected }) => {
      ensemble.server.greet = (line) => line.send(welcome({ readOnly: true }));

      const client = await connected({ readOnly: true });

      assertEquals(
        [client.session.state, ensemble.server.line.hello!.readOnly],
        ["connected-read-only", true],
      );
    }),
  );

  it(
    "shows its credentials before anything else",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected({
        auth: [{ scheme: "digest", auth: "me:secret" }],
      });

      await time.until(client.sync("/"));

      assertEquals(ensemble.server.asked, ["auth", "sync"]);
    }),
  );
});

describe("A peer that is no ZooKeeper server", () => {
  const banners: Array<[string, Uint8Array]> = [
    ["HTTP", bytes("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")],
    ["a TLS alert", Uint8Array.of(0x15, 3, 3, 0, 2, 2, 40)],
    [
      "a four-letter answer",
      bytes("This ZooKeeper instance is not currently serving requests\n"),
    ],
    ["SSH", bytes("SSH-2.0-OpenSSH_9.6\r\n")],
    ["an empty packet", new Uint8Array(4)],
    ["a refusal of 16 bytes", header(0, 1n, -119)],
    ["no timeout", unknownSession()],
  ];
  for (const [what, banner] of banners) {
    it(
      `that answers ${what} is left for the next server at once`,
      inWorld(2, async ({ connected, ensemble, time }) => {
        for (const server of ensemble.servers) {
          server.greet = (line) => line.send(banner);
        }
        const start = time.monotonic();
        time.later(3, () => {
          for (const server of ensemble.servers) {
            server.greet = (line, hello) => ensemble.greet(line, hello);
          }
        });

        await connected();

        assertEquals(ensemble.dials.length, 2);
        assertLess(time.monotonic() - start, 20);
      }),
    );
  }

  it(
    "that speaks first is left for the next server too",
    inWorld(2, async ({ connected, ensemble, time }) => {
      ensemble.servers[0].banner = ensemble.servers[1].banner = bytes(
        "SSH-2.0-OpenSSH_9.6\r\n",
      );
      time.later(
        1,
        () => ensemble.servers.forEach((server) => (server.banner = undefined)),
      );

      await connected();

      assertLess(ensemble.dials.length, 3);
    }),
  );

  it(
    "that hangs up at once costs no more than growing pauses (node-zookeeper-client#80)",
    inWorld(1, async ({ connected, ensemble }) => {
      ensemble.server.greet = (line) => line.cut();

      await assertRejects(
        () => connected({ connectTimeout: 9000 }),
        ConnectionLossError,
      );

      assertLess(ensemble.dials.length, 40);
    }),
  );

  it(
    "that accepts and drops the session 100 times costs growing pauses, and the session lives",
    inWorld(1, async ({ connected, ensemble, time }) => {
      const client = await connected();
      const { id } = client.session;
      ensemble.server.greet = (line, hello) => {
        ensemble.greet(line, hello);
        line.finish();
      };

      await time.pass(9000);
      ensemble.server.greet = (line, hello) => ensemble.greet(line, hello);
      await time.pass(2000);

      assertEquals([client.session.id, client.session.state], [
        id,
        "connected",
      ]);
      assertLess(ensemble.dials.length, 60);
    }),
  );
});
