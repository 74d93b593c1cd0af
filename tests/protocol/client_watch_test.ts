// Watchers of a client: told with the user's path, after the caller whose reply came first.
// A server in memory, virtual time: see virtual.ts.

import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { WatchEvent } from "../../protocol/watches.ts";
import { event, header } from "./wire.ts";
import { inWorld } from "./world.ts";

describe("Client, watchers under the chroot /app", () => {
  for (const [full, path] of [["/app", "/"], ["/app/a", "/a"]] as const) {
    it(
      `hear of ${full} as ${path} (ZOOKEEPER-4565)`,
      inWorld(1, async ({ ensemble, time, connected }) => {
        const client = await connected({ chroot: "/app" });
        const events: WatchEvent[] = [];
        await time.until(
          client.getData(path, { watch: (e) => events.push(e) }),
        );

        ensemble.server.line.send(event(3, full, 77n));
        await time.pass(10);

        assertEquals(events, [{ type: "data-changed", path, zxid: 77n }]);
      }),
    );
  }

  it(
    "hear of the configuration by its own name: it lies outside",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({ chroot: "/zoo" });
      const events: WatchEvent[] = [];
      await time.until(client.getConfig({ watch: (e) => events.push(e) }));

      ensemble.server.line.send(event(3, "/zookeeper/config"));
      await time.pass(10);

      assertEquals(events, [{
        type: "data-changed",
        path: "/zookeeper/config",
      }]);
    }),
  );

  it(
    "run after the caller whose reply came before the event, although both came in one segment",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const order: string[] = [];
      ensemble.server.answer = (asked, line) => {
        const reply = ensemble.answer(asked);
        const both = new Uint8Array([...reply, ...event(2, "/a")]);
        line.send(both);
        return null;
      };

      const call = client.exists("/a", { watch: () => order.push("event") })
        .then(() => order.push("reply"));
      await time.until(call);
      await time.pass(10);
      ensemble.server.answer = (asked) => ensemble.answer(asked);

      assertEquals(order, ["reply", "event"]);
    }),
  );

  it(
    "of removeWatches() that was given up are not armed again: the server has removed them",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const events: WatchEvent[] = [];
      await time.until(client.getData("/a", { watch: (e) => events.push(e) }));
      const stop = new AbortController();
      const removing = client.removeWatches("/a", { signal: stop.signal });

      stop.abort(new Error("enough"));
      await assertRejects(() => removing, Error, "enough");
      await time.pass(10);
      ensemble.server.line.cut();
      await time.until(client.sync("/"));

      assertEquals(events, [{ type: "watch-removed", path: "/a" }]);
      const asked = ensemble.server.line.asked.map(({ op }) => op);
      assertEquals(asked, ["sync"]);
    }),
  );

  it(
    "of addWatch() hear watch-removed from a server before 3.6, and the session goes on",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const { id } = client.session;
      const events: WatchEvent[] = [];
      await time.until(client.addWatch("/a", (e) => events.push(e)));
      ensemble.server.answer = (asked, line) => {
        if (asked.op !== "setWatches2") return ensemble.answer(asked);
        line.send(header(asked.xid, -1n, -6));
        line.finish();
        return null;
      };

      ensemble.server.line.cut();
      await time.until(client.sync("/"));

      assertEquals(events, [{ type: "watch-removed", path: "/a" }]);
      assertEquals(client.session.id, id);
    }),
  );

  it(
    "of removeWatches() hear watch-removed, and nothing afterwards",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({ chroot: "/app" });
      const events: WatchEvent[] = [];
      await time.until(client.addWatch("/a", (e) => events.push(e)));

      await time.until(client.removeWatches("/a"));
      ensemble.server.line.send(event(3, "/app/a"));
      await time.pass(10);

      assertEquals(events, [{ type: "watch-removed", path: "/a" }]);
    }),
  );

  it(
    "are not called for a call that rejected",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const events: WatchEvent[] = [];
      ensemble.server.respond({ getData: -101 });
      await assertRejects(() =>
        time.until(client.getData("/a", { watch: (e) => events.push(e) }))
      );

      ensemble.server.line.send(event(1, "/a"));
      await time.until(client.close());

      assertEquals(events, []);
    }),
  );

  it(
    "are restored as what the server has them for: on a missing znode, on data, on children (F9)",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({ chroot: "/app" });
      const watch = () => {};
      await time.until(Promise.all([
        client.exists("/there", { watch }),
        client.getData("/data", { watch }),
        client.getChildren("/dir", { watch }),
        client.getChildren2("/dir2", { watch }),
      ]));
      ensemble.server.respond({ exists: -101 });
      await time.until(client.exists("/missing", { watch }));

      ensemble.server.line.cut();
      await time.pass(100);

      const [{ op, body }] = ensemble.server.line.asked;
      assertEquals([op, body], ["setWatches", {
        relativeZxid: 100n,
        dataWatches: ["/app/there", "/app/data"],
        existWatches: ["/app/missing"],
        childWatches: ["/app/dir", "/app/dir2"],
      }]);
    }),
  );
});
