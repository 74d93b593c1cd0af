// Locks at the end of their numbers, where the order cannot be told any more (safety F1).

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { SequenceExhaustedError } from "../../lock/errors.ts";
import { SequentialLock } from "../../lock/sequential_lock.ts";
import { inScene, type Scene } from "./embedded.ts";

const last = 2 ** 31 - 1;

/** A client, and a directory whose next number is this. */
async function counting(scene: Scene, next: number) {
  const { client, warnings } = await scene.connected();
  await scene.clock.until(client.create("/l"));
  scene.server.setCounter("/l", next);
  return { client, warnings, lock: new SequentialLock(client, "/l") };
}

describe("SequentialLock.acquire()", () => {
  for (const next of [last, -last - 1, -12]) {
    it(
      `refuses the number ${next}, and leaves no znode behind`,
      inScene(async (scene) => {
        const { lock } = await counting(scene, next);

        const error = await assertRejects(
          () => scene.clock.until(lock.acquire()),
          SequenceExhaustedError,
        );

        assertEquals([error.path, error.sequence], ["/l", next]);
        await scene.clock.pass(100);
        assertEquals(scene.server.paths(), ["/l"]);
      }),
    );
  }

  for (const place of ["_c_a-lock-", "_c_z-lock-"]) {
    it(
      `refuses a number that somebody else has, too (${place}; kazoo#730)`,
      inScene(async (scene) => {
        const { client, lock } = await counting(scene, 5);
        const other = `/l/${place}0000000005`;
        await scene.clock.until(client.create(other));
        scene.server.setCounter("/l", 5);

        const error = await assertRejects(
          () => scene.clock.until(lock.acquire()),
          SequenceExhaustedError,
        );

        assertEquals(error.sequence, 5);
        await scene.clock.pass(100);
        assertEquals(scene.server.paths(), ["/l", other]);
      }),
    );
  }

  it(
    "grants the last number before that, with a warning",
    inScene(async (scene) => {
      const { lock, warnings } = await counting(scene, last - 1);

      const held = await scene.clock.until(lock.acquire());

      assert(held.path.endsWith("2147483646"));
      assertEquals(warnings, ["sequence-health"]);
      await scene.clock.until(held.release());
    }),
  );
});

describe("A SequentialLock that is released past half of its numbers", () => {
  /** Takes the lock once, so that its directory is of this client's making; then once more, with a high number. */
  async function used(
    { server, clock, connected }: Scene,
    {
      next = 2 ** 30 + 1,
      between = () => Promise.resolve() as Promise<unknown>,
    },
  ) {
    const { client } = await connected();
    const lock = new SequentialLock(client, "/l");
    await clock.until((await clock.until(lock.acquire())).release());
    await clock.until(between());
    server.setCounter("/l", next);
    await clock.until((await clock.until(lock.acquire())).release());
    await clock.pass(100);
    return { paths: server.paths(), lock };
  }

  it(
    "deletes the directory it made, so that they start again",
    inScene(async (scene) => {
      const { paths, lock } = await used(scene, {});

      const again = await scene.clock.until(lock.acquire());

      assertEquals(paths, []);
      assert(again.path.endsWith("lock-0000000000"));
      await scene.clock.until(again.release());
    }),
  );

  it(
    "leaves it while there are numbers enough",
    inScene(async (scene) => {
      const { paths } = await used(scene, { next: 2 ** 30 });

      assertEquals(paths, ["/l"]);
    }),
  );

  it(
    "leaves it if it has data",
    inScene(async (scene) => {
      const { client } = await scene.connected();
      const between = () => client.setData("/l", "somebody's");

      const { paths } = await used(scene, { between });

      assertEquals(paths, ["/l"]);
    }),
  );

  it(
    "leaves it if somebody waits",
    inScene(async (scene) => {
      const { client } = await scene.connected();
      const between = () => client.create("/l/note");

      const { paths } = await used(scene, { between });

      assertEquals(paths, ["/l", "/l/note"]);
    }),
  );

  it(
    "leaves one that somebody else made",
    inScene(async (scene) => {
      const { lock } = await counting(scene, 2 ** 30 + 1);

      const held = await scene.clock.until(lock.acquire());
      await scene.clock.until(held.release());

      await scene.clock.pass(100);
      assertEquals(scene.server.paths(), ["/l"]);
    }),
  );
});
