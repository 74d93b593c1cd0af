// Clients in random worlds: servers that refuse, hang, cut, forget sessions; and calls all the while.
// Whatever happens, every call ends, with a typed error or a result, and the client comes back (CURATOR-525, -724).

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Client } from "../../protocol/api.ts";
import {
  ConnectionLossError,
  SessionExpiredError,
} from "../../protocol/errors.ts";
import type { FakeEnsemble } from "./virtual.ts";
import { seeded } from "./wire.ts";
import { inWorld } from "./world.ts";

const calls: Array<(client: Client, signal: AbortSignal) => Promise<unknown>> =
  [
    (c) => c.create("/a", "x"),
    (c) => c.delete("/a"),
    (c) => c.getChildren("/"),
    (c) => c.exists("/a", { watch: () => {} }),
    (c) => c.multi([]),
    (c) => c.ping(),
    (c) => c.addAuth({ scheme: "digest", auth: "a:b" }),
    (c, signal) => c.sync("/", { signal }),
    (c, signal) => c.getData("/a", { signal }),
    (c) => c.ensurePath("/a/b/c"),
  ];

const gaveUp = new Error("gave up");

/** Something goes wrong, or well again. */
function trouble(ensemble: FakeEnsemble, random: () => number): void {
  const server = ensemble
    .servers[Math.floor(random() * ensemble.servers.length)];
  const what = random();
  if (what < 0.3) ensemble.lines.findLast(({ open }) => open)?.cut();
  else if (what < 0.4) server.reception = "refuse";
  else if (what < 0.5) server.reception = "hang";
  else if (what < 0.6) server.speaks = !server.speaks;
  else if (what < 0.7) server.latency = 1 + random() * 800;
  else if (what < 0.75) ensemble.sessions.clear();
  else heal(ensemble);
}

function heal(ensemble: FakeEnsemble): void {
  for (const server of ensemble.servers) {
    server.reception = "accept";
    server.speaks = true;
    server.latency = 1;
  }
}

/** One life; answers what was not as it should be. */
async function life(
  seed: number,
  client: Client,
  ensemble: FakeEnsemble,
): Promise<string[]> {
  const random = seeded(seed);
  const wrong: string[] = [];
  let open = 0;
  for (let step = 0; step < 40; step++) {
    const stop = new AbortController();
    const call = calls[Math.floor(random() * calls.length)];
    open++;
    call(client, stop.signal).then(() => open--, (error) => {
      open--;
      const typed = error === gaveUp || error instanceof ConnectionLossError ||
        error instanceof SessionExpiredError;
      if (!typed) wrong.push(`seed ${seed}: ${error}`);
    });
    if (random() < 0.3) trouble(ensemble, random);
    await ensemble.time.pass(random() ** 3 * 2500);
    if (random() < 0.3) stop.abort(gaveUp);
  }
  heal(ensemble);
  await ensemble.time.pass(30_000);
  if (open > 0) wrong.push(`seed ${seed}: ${open} calls never ended`);
  if (client.session.state !== "connected") {
    wrong.push(`seed ${seed}: ${client.session.state} in the end`);
  }
  return wrong;
}

describe("A client", () => {
  it(
    "ends every call and is connected again in 150 random worlds",
    inWorld(3, async ({ ensemble, connected }) => {
      const wrong: string[] = [];

      for (let seed = 0; seed < 150; seed++) {
        // One of two is asked before it has a session.
        const eager = seed % 2 === 1;
        const client = await connected({ eager, connectTimeout: 1e9 });
        wrong.push(...await life(seed, client, ensemble));
        await ensemble.time.until(client.close());
      }

      assertEquals(wrong, []);
    }),
  );
});
