// What a test of connect() happens in: an ensemble, clients that are closed behind it, nothing left behind.
// Fails a test that leaves a timer, a connection or a rejection that nobody caught.
// Used by the tests of connect() and of the client.

import { assertEquals } from "@std/assert";
import process from "node:process";
import type { Client, ConnectOptions } from "../../protocol/api.ts";
import { connect } from "../../protocol/client.ts";
import { FakeEnsemble, type VirtualTime } from "./virtual.ts";

/** What a test gets. */
export interface World {
  ensemble: FakeEnsemble;
  time: VirtualTime;
  /** Connects, with a timeout of 9,000 ms; the client is closed after the test. */
  connected(options?: ConnectOptions, servers?: string): Promise<Client>;
}

/** A test in a world of its own, with so many servers. */
export function inWorld(
  servers: number,
  run: (world: World) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const ensemble = new FakeEnsemble(servers);
    const { time } = ensemble;
    const clients: Client[] = [];
    const rejections = watchRejections();
    try {
      await run({
        ensemble,
        time,
        async connected(options = {}, names = ensemble.names) {
          const world = { ...ensemble.world, ...options };
          const client = await time.until(
            connect(names, { sessionTimeout: 9000, ...world }),
          );
          clients.push(client);
          return client;
        },
      });
    } finally {
      for (const client of clients) await time.until(client.close());
      await new Promise((resolve) => setTimeout(resolve));
      rejections.stop();
    }
    assertEquals(rejections.found, [], "rejections that nobody caught");
    assertEquals(
      [time.pending, ensemble.open],
      [0, 0],
      "timers and connections left behind",
    );
  };
}

function watchRejections(): { found: unknown[]; stop: () => void } {
  const found: unknown[] = [];
  const listener = (reason: unknown) => void found.push(reason);
  process.on("unhandledRejection", listener);
  return {
    found,
    stop: () => void process.off("unhandledRejection", listener),
  };
}
