// Sessions that end behind the client's back: what holders and waiters are told, and what they do.
// Knows where versions differ: nowhere.
// Part of lock_suite.ts.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { describe } from "@std/testing/bdd";
import { LockLostError } from "../../lock/mod.ts";
import { SessionExpiredError } from "../../protocol/mod.ts";
import { expireSession } from "../../testing/mod.ts";
import type { Target } from "../targets.ts";
import {
  abortOf,
  type Kind,
  queueFor,
  warningsOf,
} from "./lock_suite_tools.ts";
import { tester, until, within } from "./tools.ts";

export function losingSuite(target: Target, Lock: Kind): void {
  const { servers } = target;
  const test = tester(target);

  describe(`${Lock.name}, when the session is over:`, () => {
    test("a holder is told, and the same client can lock again", async ({ zk, root }) => {
      const lock = new Lock(zk, `${root}/lock`);
      const held = await lock.acquire();

      await expireSession(zk, servers);

      const reason = await abortOf(held.signal);
      assertInstanceOf(reason, LockLostError);
      assertInstanceOf(reason.cause, SessionExpiredError);
      assertEquals([reason.path, reason.token], [held.path, held.token]);
      assertThrows(() => held.assertHeld(), LockLostError);
      assertEquals([held.state, await held.release()], ["lost", false]);
      const next = await within("it locks again", lock.acquire());
      assert(next.token > held.token);
      await next.release();
    });

    test("whoever waits behind a holder is granted the lock", async ({ zk, root, open }) => {
      const other = await open();
      const held = await new Lock(other, `${root}/lock`).acquire();
      const waiter = await queueFor(new Lock(zk, `${root}/lock`));

      await expireSession(other, servers);

      const next = await within("it is granted", waiter.acquired);
      assert(next.token > held.token);
      await abortOf(held.signal);
      await next.release();
    });

    test("a waiter enters again, with a warning", async ({ zk, root, open }) => {
      const held = await new Lock(zk, `${root}/lock`).acquire();
      const other = await open();
      const warnings = warningsOf(other);
      const waiter = await queueFor(new Lock(other, `${root}/lock`));

      await expireSession(other, servers);
      await until("it is queued again", () => waiter.ahead.length === 2);
      await held.release();

      const next = await within("it is granted", waiter.acquired);
      assertEquals([waiter.ahead, warnings], [[1, 1], ["requeued"]]);
      await next.release();
    });

    test("a waiter rejects, if that is what it wants", async ({ zk, root, open }) => {
      const held = await new Lock(zk, `${root}/lock`).acquire();
      const other = await open();
      const lock = new Lock(other, `${root}/lock`, { onSessionLoss: "reject" });
      const waiter = await queueFor(lock);

      await expireSession(other, servers);

      const waited = within("it rejects", waiter.acquired);
      await assertRejects(() => waited, SessionExpiredError);
      await held.release();
    });
  });
}
