// withLock(): from nothing to a lock and back, and what that costs.
// Knows no version.
// Part of lock_suite.ts.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe } from "@std/testing/bdd";
import { LockLostError, SequentialLock, withLock } from "../../lock/mod.ts";
import { ConnectionLossError } from "../../protocol/mod.ts";
import type { Target } from "../targets.ts";
import { Flights, tester, until } from "./tools.ts";

export function coldSuite(target: Target): void {
  describe("withLock()", () => {
    flightTests(target);
    endTests(target);
    refusalTests(target);
  });
}

function flightTests(target: Target): void {
  const test = tester(target);

  test("is one flight to the lock and one to leave", async ({ zk, root }) => {
    await zk.create(`${root}/lock`);
    const { transport, writes } = new Flights(target);

    await withLock(target.servers, `${root}/lock`, () => {}, { transport });

    assertEquals(writes, [
      ["connect", "create", "getChildren"],
      ["delete", "closeSession"],
    ]);
  });

  test("makes the directory of a lock that is new", async ({ root }) => {
    const { transport, servers } = target;

    const token = await withLock(
      servers,
      `${root}/a/b`,
      (held) => held.token,
      { transport },
    );

    assert(token > 0n);
  });

  test("waits its turn", async ({ zk, root }) => {
    const { transport, servers } = target;
    const held = await new SequentialLock(zk, `${root}/lock`).acquire();
    const tokens = [held.token];
    const onQueued = (ahead: number) => {
      assertEquals(ahead, 1);
      void held.release();
    };

    await withLock(servers, `${root}/lock`, ({ token }) => {
      tokens.push(token);
    }, { transport, onQueued });

    assertEquals(tokens.length, 2);
    assert(tokens[0] < tokens[1]);
  });
}

function endTests(target: Target): void {
  const test = tester(target);

  test("answers what the work does, and leaves neither znode nor session", async ({ zk, root }) => {
    const { transport, servers } = target;
    let [session, path] = [0n, ""];

    const answer = await withLock(servers, `${root}/lock`, (held, client) => {
      session = client.session.id;
      path = held.path;
      return 42;
    }, { transport });

    assertEquals(answer, 42);
    assertEquals(await zk.exists(path), null);
    assert(session !== 0n);
    if (target.embedded) {
      assert(!(await target.embedded.sessions).includes(session));
    }
  });

  test("rejects with what the work throws, and has released by then", async ({ zk, root }) => {
    const { transport, servers } = target;
    const mistake = new Error("mistake");

    const error = await assertRejects(() =>
      withLock(servers, `${root}/lock`, () => {
        throw mistake;
      }, { transport })
    );

    assertEquals(error, mistake);
    assertEquals(await zk.getChildren(`${root}/lock`), []);
  });

  test("rejects with a LockLostError if somebody deleted the znode meanwhile", async ({ zk, root }) => {
    const { transport, servers } = target;

    await assertRejects(
      () =>
        withLock(servers, `${root}/lock`, ({ path }) => zk.delete(path), {
          transport,
        }),
      LockLostError,
    );
  });
}

function refusalTests(target: Target): void {
  const test = tester(target);
  const never = () => {
    throw new Error("it worked");
  };

  test("gives up in time, and leaves the queue", async ({ zk, root }) => {
    const { transport, servers } = target;
    const lock = new SequentialLock(zk, `${root}/lock`);
    const held = await lock.acquire();

    const error = await assertRejects(() =>
      withLock(servers, lock.path, never, { transport, timeout: 50 })
    );

    assertEquals(error.name, "TimeoutError");
    await until(
      "it left",
      async () => (await lock.contenders()).length === 1,
    );
    await held.release();
  });

  test("rejects with the signal's reason, before anything is sent if it has aborted", async ({ root }) => {
    const { transport, writes } = new Flights(target);
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);

    const error = await assertRejects(() =>
      withLock(target.servers, `${root}/lock`, never, { transport, signal })
    );

    assertEquals([error, writes], [reason, []]);
  });

  test("rejects like connect() if no server can be reached", async ({ root }) => {
    const transport = () => Promise.reject(new Error("no way"));

    await assertRejects(
      () =>
        withLock("zk1:2181", `${root}/lock`, never, {
          transport,
          connectTimeout: 20,
        }),
      ConnectionLossError,
      "Cannot connect within 20 ms: no way",
    );
  });
}
