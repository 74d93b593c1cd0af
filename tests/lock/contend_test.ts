// A SequentialLock against a server that misbehaves, on virtual time.

import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { SequentialLock } from "../../lock/sequential_lock.ts";
import type { HeldLock } from "../../lock/held_lock.ts";
import type { Warning } from "../../protocol/news.ts";
import { ServerError } from "../../protocol/errors.ts";
import { inWorld } from "../protocol/world.ts";
import { DirectoryServer, type Spoil } from "./directory_server.ts";

/** Spoils the first `times` requests of one operation. */
function first(op: string, times: number, how: ReturnType<Spoil>): Spoil {
  let left = times;
  return (asked) => asked.op === op && left-- > 0 ? how : undefined;
}

/** The first of these that has something to say. */
function both(...spoils: Spoil[]): Spoil {
  return (asked) => {
    for (const spoil of spoils) {
      const how = spoil(asked);
      if (how !== undefined) return how;
    }
    return undefined;
  };
}

describe("SequentialLock.acquire()", () => {
  for (const op of ["sync", "getChildren", "exists"]) {
    it(
      `finds its znode also if ${op} is throttled while it looks`,
      inWorld(1, async ({ ensemble, time, connected }) => {
        const server = new DirectoryServer(ensemble);
        const client = await connected();
        server.spoil = both(first("create", 1, "cut"), first(op, 2, -127));

        const held = await time.until(
          new SequentialLock(client, "/l").acquire(),
        );

        assertEquals([...server.znodes.keys()].map((n) => `/l/${n}`), [
          held.path,
        ]);
        assertEquals(await time.until(held.release()), true);
      }),
    );
  }

  it(
    "warns of a znode it cannot find because the server refuses to tell",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const server = new DirectoryServer(ensemble);
      const client = await connected();
      const warnings: Warning[] = [];
      client.on("warning", (warning) => warnings.push(warning));
      let cut = false;
      server.spoil = ({ op }) => {
        if (op === "create") return cut = true, "cut";
        return cut && op === "sync" ? -102 : undefined;
      };

      await assertRejects(
        () => time.until(new SequentialLock(client, "/l").acquire()),
        ServerError,
        "NoAuth",
      );

      assertEquals(warnings.map(({ kind }) => kind), ["orphan"]);
    }),
  );

  it(
    "waits out a server that puts creation, listing and look-up off",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const server = new DirectoryServer(ensemble);
      const client = await connected();
      server.enter();
      server.spoil = both(
        first("create", 1, -127),
        first("getChildren", 1, -127),
        first("getData", 1, -127),
      );
      let ahead = -1;
      const acquired = new SequentialLock(client, "/l").acquire({
        onQueued: (n) => void (ahead = n),
      });
      await time.pass(3_000);
      assertEquals(ahead, 1);
      server.znodes.delete([...server.znodes.keys()][0]);
      ensemble.server.line.cut(); // No watches here: a reconnect looks again.

      const held = await time.until(acquired);

      await time.until(held.release());
    }),
  );

  it(
    "enters again when its directory is deleted with everything in it",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const server = new DirectoryServer(ensemble);
      const client = await connected();
      const warnings: Warning[] = [];
      client.on("warning", (warning) => warnings.push(warning));
      server.enter();
      const acquired = new SequentialLock(client, "/l").acquire();
      await time.pass(100);
      server.znodes.clear();
      server.exists = false;
      server.spoil = ({ op }) => {
        if (op.startsWith("createContainer")) server.exists = true;
        return undefined;
      };
      ensemble.server.line.cut();

      const held = await time.until(acquired);

      assertEquals(warnings.map(({ kind }) => kind), ["requeued"]);
      await time.until(held.release());
    }),
  );

  it(
    "that is given up without a connection is never asked for",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const server = new DirectoryServer(ensemble);
      const client = await connected();
      ensemble.server.reception = "refuse";
      ensemble.server.line.cut();
      const lock = new SequentialLock(client, "/l");
      const given = Array.from(
        { length: 50 },
        () => lock.acquire({ timeout: 10 }).catch((error) => error.name),
      );

      const names = await time.until(Promise.all(given));
      ensemble.server.reception = "accept";
      await time.until(client.sync("/"));

      assertEquals(new Set(names), new Set(["TimeoutError"]));
      assertEquals(server.asked, ["sync"]);
    }),
  );

  it(
    "with a timeout of 0 ends also if the server never answers",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const server = new DirectoryServer(ensemble);
      const client = await connected();
      server.spoil = () => "silence";

      const error = await assertRejects(
        () =>
          time.until(
            new SequentialLock(client, "/l").acquire({ timeout: 0 }),
            9_000 / 4 + 10,
          ),
        DOMException,
      );

      assertEquals(error.name, "TimeoutError");
    }),
  );

  it(
    "warns once when it waits behind a znode that no known client made",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const server = new DirectoryServer(ensemble);
      const client = await connected();
      const warnings: Warning[] = [];
      client.on("warning", (warning) => warnings.push(warning));
      const stranger = server.enter("config-");
      const stop = new AbortController();
      const acquired = new SequentialLock(client, "/l")
        .acquire({ signal: stop.signal });

      await time.pass(100);
      ensemble.server.line.cut(); // It looks again.
      await time.pass(1_000);
      stop.abort(new Error("enough"));

      await assertRejects(() => acquired, Error, "enough");
      const told = warnings.map(({ kind, path }) => `${kind} ${path}`);
      assertEquals(told, [`foreign-contender /l/${stranger}`]);
      await time.pass(100);
      assertEquals([...server.znodes.keys()], [stranger]);
    }),
  );
});

describe("HeldLock.release()", () => {
  for (const where of ["signal", "onState"] as const) {
    it(
      `called again out of ${where} answers the same, and deletes once`,
      inWorld(1, async ({ ensemble, time, connected }) => {
        const server = new DirectoryServer(ensemble);
        const client = await connected();
        const inner: Promise<boolean>[] = [];
        const again = () => void inner.push(held.release());
        const held: HeldLock = await time.until(
          new SequentialLock(client, "/l").acquire({
            onState: where === "onState" ? again : undefined,
          }),
        );
        if (where === "signal") held.signal.addEventListener("abort", again);

        const outer = await time.until(held.release());

        assertEquals([outer, ...await Promise.all(inner)], [true, true]);
        assertEquals(server.asked.filter((op) => op === "delete").length, 1);
      }),
    );
  }

  it(
    "that is refused after it stopped waiting becomes a warning",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const server = new DirectoryServer(ensemble);
      const client = await connected();
      const warnings: Warning[] = [];
      client.on("warning", (warning) => warnings.push(warning));
      const held = await time.until(new SequentialLock(client, "/l").acquire());
      ensemble.server.reception = "refuse";
      ensemble.server.line.cut();
      server.spoil = ({ op }) => op === "delete" ? -102 : undefined;

      const released = await time.until(held.release());
      ensemble.server.reception = "accept";
      await time.pass(3_000);

      assertEquals(released, true);
      assertEquals(warnings.map(({ kind }) => kind), ["orphan"]);
      assertInstanceOf(warnings[0].cause, ServerError);
    }),
  );
});

describe("SequentialLock.run()", () => {
  it(
    "answers what the work did, also if the znode cannot be deleted",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const server = new DirectoryServer(ensemble);
      const client = await connected();
      server.spoil = ({ op }) => op === "delete" ? -102 : undefined;

      const value = await time.until(
        new SequentialLock(client, "/l").run(() => 42),
      );

      assertEquals(value, 42);
    }),
  );
});
