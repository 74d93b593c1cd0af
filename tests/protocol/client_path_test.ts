// Client.ensurePath() and create() with parents: everything above is made, and doing so twice does no harm.
// A server in memory that knows of znodes, virtual time: see virtual.ts.

import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ServerError } from "../../protocol/errors.ts";
import type { FakeEnsemble } from "./virtual.ts";
import { header } from "./wire.ts";
import { inWorld } from "./world.ts";

describe("Client.ensurePath()", () => {
  /** Lets the server know of znodes: creates fail as on a real one. */
  function tree(
    ensemble: FakeEnsemble,
    known: Set<string>,
    forbidden = new Set<string>(),
  ): void {
    ensemble.server.answer = (asked) => {
      const path = asked.body?.path ?? "";
      const parent = path.slice(0, path.lastIndexOf("/"));
      const refuse = (err: number) => header(asked.xid, 5n, err);
      if (asked.op === "exists" && !known.has(path)) return refuse(-101);
      if (asked.op !== "create") return ensemble.answer(asked);
      if (parent !== "" && !known.has(parent)) return refuse(-101);
      if (forbidden.has(path)) return refuse(-102);
      if (known.has(path)) return refuse(-110);
      known.add(path);
      return ensemble.answer(asked);
    };
  }

  it(
    "makes everything above that is missing, the chroot too",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({ chroot: "/x/app" });
      const known = new Set<string>();
      tree(ensemble, known);

      await time.until(client.ensurePath("/a/b"));

      assertEquals([...known], ["/x", "/x/app", "/x/app/a", "/x/app/a/b"]);
    }),
  );

  it(
    "asks once where everything is there",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      tree(ensemble, new Set(["/a", "/a/b"]));

      await time.until(client.ensurePath("/a/b"));

      assertEquals(ensemble.server.asked, ["create"]);
    }),
  );

  it(
    "asks nothing for the root",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();

      await time.until(client.ensurePath("/"));

      assertEquals(ensemble.server.asked, []);
    }),
  );

  it(
    "is content with a znode that it may not make but that is there",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      tree(ensemble, new Set(["/a"]), new Set(["/a"]));

      await time.until(client.ensurePath("/a"));

      assertEquals(ensemble.server.asked, ["create", "exists"]);
    }),
  );

  it(
    "rejects with NoAuth where it may not make what is missing",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      tree(ensemble, new Set(), new Set(["/a"]));

      const error = await assertRejects(
        () => time.until(client.ensurePath("/a/b")),
        ServerError,
      );

      assertEquals([error.code, error.path], ["NoAuth", "/a"]);
    }),
  );

  it(
    "goes on after a lost connection: making twice is as good as once",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const known = new Set<string>();
      tree(ensemble, known);
      const answered = ensemble.server.answer;
      let cuts = 2;
      ensemble.server.answer = (asked, line) => {
        const reply = answered(asked, line);
        if (asked.op !== "create" || cuts-- <= 0) return reply;
        line.finish();
        return null;
      };

      await time.until(client.ensurePath("/a/b"));

      assertEquals([...known].sort(), ["/a", "/a/b"]);
    }),
  );

  it(
    "of create() with parents makes them and tries again, for a path that ends in a slash too",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const known = new Set<string>();
      tree(ensemble, known);

      await time.until(
        client.create("/a/b/", "", {
          mode: "persistent-sequential",
          parents: true,
        }),
      );

      assertEquals([...known], ["/a", "/a/b", "/a/b/"]);
    }),
  );
});
