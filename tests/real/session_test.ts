// Sessions and the servers behind them: killed, restarted, frozen, down for too long, cut off from the others.
// Knows its servers by process, so it starts its own.
// Losing only the connection is in suites/client_suite_away.ts.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { SequentialLock } from "../../lock/mod.ts";
import {
  type Client,
  type connect,
  ConnectionLossError,
  type ConnectOptions,
  type Transport,
} from "../../protocol/mod.ts";
import { pickTransport } from "../../protocol/transport/mod.ts";
import { restartSuite } from "../suites/restart_suite.ts";
import {
  all,
  changeAll,
  newRoot,
  watchAll,
  withClients,
} from "../suites/session_tools.ts";
import { assertRefused, until, within } from "../suites/tools.ts";
import { type Ensemble, startEnsemble } from "./ensemble.ts";
import { type RealServer, startServer } from "./server.ts";

restartSuite(() => startServer());

/** Remembers the port it dialled last. */
class Compass {
  port = 0;
  readonly transport: Transport = (address, handlers) => {
    this.port = address.port;
    return pickTransport(address, handlers);
  };
}

interface Placed {
  zk: Client;
  /** The server it is connected to. */
  node: RealServer;
}

/** A client that knows the whole ensemble and is connected to a node of this kind. */
async function openAt(
  ensemble: Ensemble,
  kind: "leader" | "follower",
  open: typeof connect,
  options: ConnectOptions = {},
): Promise<Placed> {
  const leader = await ensemble.leader();
  for (;;) {
    const compass = new Compass();
    const { transport } = compass;
    const zk = await open(ensemble.servers, { ...options, transport });
    const node = ensemble.nodes.find(({ port }) => port === compass.port)!;
    if ((node === leader) === (kind === "leader")) return { zk, node };
    await zk.close();
  }
}

/** Runs with three servers, all well again afterwards. */
async function withEnsemble(
  use: (ensemble: Ensemble, open: typeof connect) => Promise<void>,
): Promise<void> {
  try {
    await withClients((open) => use(shared, open));
  } finally {
    for (const node of shared.nodes) {
      node.thaw();
      if (await node.mode() === null) await node.restart();
    }
  }
}

/** Not of one test, for whose leak check it would not do; ends with the process. */
const shared = await startEnsemble();

describe("A session of an ensemble", () => {
  // A busy machine may take long to start a node, or to elect a leader.
  const sessionTimeout = 60_000;

  it("is on another node when its follower is killed", async () => {
    await withEnsemble(async (ensemble, open) => {
      const { zk, node } = await openAt(ensemble, "follower", open, {
        sessionTimeout,
      });
      const { id } = zk.session;
      const root = await newRoot(zk);

      await node.kill();

      // After 10 ms where nothing else runs (measured); Curator pauses for up to a second.
      assert(await zk.exists(root));
      assertEquals(zk.session.id, id);
    });
  });

  for (const kind of ["follower", "leader"] as const) {
    it(`survives that its ${kind} is killed, with ephemeral znodes and every watch`, async () => {
      await withEnsemble(async (ensemble, open) => {
        const { zk, node } = await openAt(ensemble, kind, open, {
          sessionTimeout,
        });
        const { session } = zk;
        const { id } = session;
        const root = await newRoot(zk);
        const ear = await watchAll(zk, root);
        await zk.create(`${root}/e`, "", { mode: "ephemeral" });

        await node.kill();
        const other = await open(ensemble.servers, { sessionTimeout });
        // Reads are asked again by themselves, as often as it takes.
        await zk.sync(root);
        await other.sync(root);
        await changeAll(other, root);

        assertEquals((await ear.hears(all.length)).sort(), all);
        assertStrictEquals(zk.session, session);
        const { ephemeralOwner } = (await zk.exists(`${root}/e`))!;
        assertEquals([session.id, ephemeralOwner], [id, id]);
      });
    });
  }

  // node-zookeeper-client#20, kazoo#66: a connection that is half open was kept for ever.
  it("leaves a follower that is frozen after 2/3 of its timeout", async () => {
    await withEnsemble(async (ensemble, open) => {
      const { zk, node } = await openAt(ensemble, "follower", open, {
        sessionTimeout: 9_000,
      });
      const { id } = zk.session;
      const root = await newRoot(zk);
      const start = performance.now();

      await node.freeze();
      assert(await zk.exists(root));

      const waited = performance.now() - start;
      assert(waited > 5_500, `${waited} ms`);
      assertEquals(zk.session.id, id);
    });
  });

  it("of a new client begins although two nodes are gone and come back", async () => {
    await withEnsemble(async (ensemble, open) => {
      const [first, second] = ensemble.nodes;
      await Promise.all([first.kill(), second.kill()]);

      const opening = open(ensemble.servers, { sessionTimeout });
      await Promise.all([first.restart(), second.restart()]);

      assert(await (await opening).exists("/"));
    });
  });
});

describe("ConnectOptions.readOnly", () => {
  it("takes a server without a quorum for reading; locks and writes wait for better", async () => {
    const ensemble = await startEnsemble({
      jvm: ["-Dreadonlymode.enabled=true"],
      // Only these let a session begin without a quorum, and take part when there is one.
      config: [
        "localSessionsEnabled=true",
        "localSessionsUpgradingEnabled=true",
      ],
    });
    try {
      await withClients(async (open) => {
        const writer = await open(ensemble.servers);
        const root = await newRoot(writer);
        await writer.sync(root);
        const [node, ...others] = ensemble.nodes;
        await Promise.all(others.map((other) => other.kill()));
        const isReadOnly = async () => await node.mode(500) === "read-only";
        await until("it is read-only", isReadOnly);

        const zk = await open(node.servers, { readOnly: true });
        assertEquals(zk.session.state, "connected-read-only");
        // One after the other: such a server's refusals overtake its answers (measured).
        assert(await zk.exists(root));
        const error = await assertRefused(
          () => zk.create(`${root}/a`),
          "NotReadOnly",
        );
        assertEquals(error.number, -119);
        await assertRefused(() => zk.sync(root), "NotReadOnly");
        await assertRejects(
          () => open(node.servers, { connectTimeout: 500 }),
          ConnectionLossError,
        );

        const acquiring = new SequentialLock(zk, `${root}/lock`).acquire();
        acquiring.catch(() => {}); // Awaited below, unless something fails before.
        await Promise.all(others.map((other) => other.restart()));
        const held = await within("it is locked", acquiring);
        assertEquals(held.state, "held");
        await held.release();
      });
    } finally {
      await ensemble[Symbol.asyncDispose]();
    }
  });
});
