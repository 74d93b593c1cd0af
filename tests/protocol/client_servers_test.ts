// Which servers a client goes to: away from a read-only one, and by updateServers().
// Embedded servers in memory, by name; virtual time.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Client, ConnectOptions } from "../../protocol/api.ts";
import { connect } from "../../protocol/client.ts";
import { ClientClosedError } from "../../protocol/errors.ts";
import type { SessionState } from "../../protocol/news.ts";
import type { Transport } from "../../protocol/transport/mod.ts";
import { VirtualClock } from "../../testing/clock.ts";
import { TestServer } from "../../testing/server.ts";

/** What a test gets: two servers that know nothing of each other, and names that lead to them. */
interface Place {
  clock: VirtualClock;
  a: TestServer;
  b: TestServer;
  /** Which server is behind a name; names without one are refused. */
  routes: Map<string, TestServer>;
  /** Names that were dialled, in order. */
  dials: string[];
  connected(servers: string, options?: ConnectOptions): Promise<Client>;
}

function inPlace(run: (place: Place) => Promise<void>): () => Promise<void> {
  return async () => {
    const clock = new VirtualClock();
    const start = () => TestServer.start({ environment: clock, listen: false });
    const [a, b] = await Promise.all([start(), start()]);
    const routes = new Map([["a", a], ["b", b]]);
    const dials: string[] = [];
    const transport: Transport = (address, handlers) => {
      dials.push(address.host);
      const server = routes.get(address.host);
      return server === undefined
        ? Promise.reject(new Error("refused"))
        : server.transport(address, handlers);
    };
    const clients: Client[] = [];
    try {
      await run({
        clock,
        a,
        b,
        routes,
        dials,
        async connected(servers, options = {}) {
          const all = { environment: clock, transport, sessionTimeout: 9000 };
          const client = await clock.until(
            connect(servers, { ...all, ...options }),
          );
          clients.push(client);
          return client;
        },
      });
    } finally {
      for (const client of clients) await clock.until(client.close());
      await clock.until(Promise.all([a.close(), b.close()]));
    }
    await clock.pass(0);
    assertEquals(clock.pending, 0, "timers left behind");
  };
}

function statesOf(client: Client): SessionState[] {
  const states: SessionState[] = [];
  client.on("state", ({ state }) => states.push(state));
  return states;
}

describe("A read-only client", () => {
  it(
    "moves to a server that can write within 200 ms of its answer, with a new session",
    inPlace(async ({ clock, a, b, routes, dials, connected }) => {
      a.reception = "read-only-session";
      routes.delete("b");
      const client = await connected("a,b", { readOnly: true });
      assertEquals(client.session.state, "connected-read-only");
      const states = statesOf(client);
      const { session } = client;
      await clock.pass(110);
      routes.set("b", b);
      dials.length = 0;

      await clock.pass(210);

      assertEquals(client.session.state, "connected");
      assert(session.signal.aborted);
      // The question, the session that b never had, and the one it gave.
      assertEquals(dials, ["b", "b", "b"]);
      assertEquals(states, ["disconnected", "expired", "connected"]);
    }),
  );

  it(
    "stays, and asks less and less often, while all others are read-only or away",
    inPlace(async ({ clock, a, b, dials, connected }) => {
      a.reception = b.reception = "read-only-session";
      const client = await connected("a,b,c", { readOnly: true });
      const { session } = client;
      dials.length = 0;

      await clock.pass(60_000);

      assertEquals(client.session, session);
      assertEquals(session.state, "connected-read-only");
      // After 0.1, 0.3, 0.7, 1.5, 3.1, 6.3, 12.7, 22.7, 32.7, 42.7, 52.7 s.
      assertEquals(dials.length, 22);
    }),
  );

  it(
    "asks nobody any more when it is closed",
    inPlace(async ({ clock, a, b, dials, connected }) => {
      a.reception = b.reception = "read-only-session";
      const client = await connected("a,b", { readOnly: true });
      await clock.until(client.close());
      dials.length = 0;

      await clock.pass(30_000);

      assertEquals(dials, []);
    }),
  );

  it(
    "does not look for another server where the one at hand can write",
    inPlace(async ({ clock, dials, connected }) => {
      await connected("a,b", { readOnly: true });
      dials.length = 0;

      await clock.pass(30_000);

      assertEquals(dials, []);
    }),
  );
});

describe("Client.updateServers()", () => {
  it(
    "moves the session to a new server at once, if its own is not among them",
    inPlace(async ({ clock, a, routes, dials, connected }) => {
      const client = await connected("a");
      routes.set("new", a);
      const { id } = client.session;
      const states = statesOf(client);

      client.updateServers("new,other");
      await clock.pass(0);

      assertEquals([client.session.id, states], [
        id,
        ["disconnected", "connected"],
      ]);
      assert(dials.length > 1 && dials.at(-1) === "new", `${dials}`);
    }),
  );

  it(
    "stays where it is, if that is still a server",
    inPlace(async ({ clock, dials, connected }) => {
      const client = await connected("a");
      const states = statesOf(client);

      client.updateServers(["b", "a:2181"]);
      await clock.pass(5_000);

      assertEquals([states, dials], [[], ["a"]]);
    }),
  );

  it(
    "goes to the new ones when the connection is lost",
    inPlace(async ({ clock, a, routes, dials, connected }) => {
      const client = await connected("a");
      client.updateServers("a,x");
      routes.delete("a");
      routes.set("x", a);

      a.cut();
      await clock.pass(200);

      assertEquals(client.session.state, "connected");
      assertEquals(dials.at(-1), "x");
    }),
  );

  it(
    "ends a pause between tries",
    inPlace(async ({ clock, a, routes, connected }) => {
      const client = await connected("a");
      routes.delete("a");
      a.cut();
      await clock.pass(3_000);
      routes.set("x", a);

      client.updateServers("x");
      await clock.pass(0);

      assertEquals(client.session.state, "connected");
    }),
  );

  it(
    "keeps the chroot, and refuses another",
    inPlace(async ({ connected }) => {
      const client = await connected("a/app");

      client.updateServers("a,b");
      client.updateServers("a,b/app");

      assertThrows(
        () => client.updateServers("a/other"),
        TypeError,
        'Cannot change the chroot from "/app" to "/other"',
      );
    }),
  );

  it(
    "throws a TypeError for what are no servers, and changes nothing",
    inPlace(async ({ clock, dials, connected }) => {
      const client = await connected("a");

      assertThrows(() => client.updateServers("b:x"), TypeError, "not a port");

      await clock.pass(1_000);
      assertEquals(dials, ["a"]);
    }),
  );

  it(
    "throws once the client is closed",
    inPlace(async ({ clock, connected }) => {
      const client = await connected("a");
      await clock.until(client.close());

      assertThrows(() => client.updateServers("b"), ClientClosedError);
    }),
  );
});
