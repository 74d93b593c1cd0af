// A real ensemble that loses its majority and gets it back, for a client that may read meanwhile.
// Knows its servers by process, so it starts its own.

import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { SequentialLock } from "../../lock/mod.ts";
import {
  connect,
  ServerError,
  SessionExpiredError,
} from "../../protocol/mod.ts";
import { textOf, until } from "../suites/tools.ts";
import { startEnsemble } from "./ensemble.ts";

describe("A read-only client of an ensemble", () => {
  it("reads from a server that is alone, and writes when there is a leader again", async () => {
    await using ensemble = await startEnsemble({
      config: [
        "localSessionsEnabled=true",
        "localSessionsUpgradingEnabled=true",
      ],
      jvm: ["-Dreadonlymode.enabled=true"],
    });
    const { servers, nodes: [alone, ...others] } = ensemble;
    const before = await connect(servers);
    await before.create("/kept", "x");
    await before.sync("/kept");
    await before.close();
    await Promise.all(others.map((node) => node.kill()));
    const isReadOnly = async () => await alone.mode() === "read-only";
    await until("one is alone", isReadOnly);

    const options = { readOnly: true, sessionTimeout: 10_000 };
    const zk = await connect(servers, options);

    try {
      const { session } = zk;
      assertEquals(session.state, "connected-read-only");
      assertEquals(textOf((await zk.getData("/kept")).data), "x");
      const refused = await assertRejects(() => zk.create("/a"), ServerError);
      assertEquals(refused.code, "NotReadOnly");
      const waiting = new SequentialLock(zk, "/lock").acquire();

      await Promise.all(others.map((node) => node.restart()));

      const held = await waiting;
      assertEquals([zk.session.state, held.state], ["connected", "held"]);
      assertStrictEquals(session.signal.reason.name, SessionExpiredError.name);
      await held.release();
    } finally {
      await zk.close();
    }
  });
});
