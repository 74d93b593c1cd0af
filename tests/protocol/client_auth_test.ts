// Credentials of a client: added later, refused, refused after a reconnect.
// A server in memory, virtual time: see virtual.ts.

import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { AuthFailedError, ClientClosedError } from "../../protocol/errors.ts";
import type { FakeEnsemble } from "./virtual.ts";
import { header } from "./wire.ts";
import { inWorld } from "./world.ts";

/** Refuses credentials of the scheme "nosuch", as a server does: a reply, then the end. */
function refuseAuth(ensemble: FakeEnsemble): void {
  ensemble.server.answer = (asked, line) => {
    if (asked.op !== "auth" || asked.body.scheme !== "nosuch") {
      return ensemble.answer(asked);
    }
    line.send(header(asked.xid, 0n, -115));
    line.finish();
    return null;
  };
}

describe("Client.addAuth()", () => {
  it(
    "resolves once the server took it",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();

      await time.until(client.addAuth({ scheme: "digest", auth: "me:secret" }));

      const [asked] = ensemble.server.line.asked;
      assertEquals([asked.op, asked.xid, asked.body.scheme], [
        "auth",
        -4,
        "digest",
      ]);
    }),
  );

  it(
    "keeps a credential that is given twice once",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const auth = { scheme: "digest", auth: "me:secret" };
      await time.until(client.addAuth(auth));

      await time.until(client.addAuth(auth));
      ensemble.server.line.cut();
      await time.until(client.sync("/"));

      const asked = ensemble.server.line.asked.map(({ op }) => op);
      assertEquals(asked, ["auth", "sync"]);
    }),
  );

  it(
    "rejects when it is refused, drops it, and the session goes on",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const { id } = client.session;
      refuseAuth(ensemble);

      const error = await assertRejects(
        () => time.until(client.addAuth({ scheme: "nosuch", auth: "x" })),
        AuthFailedError,
      );
      await time.until(client.sync("/"));

      assertEquals([error.scheme, client.session.id, client.session.state], [
        "nosuch",
        id,
        "connected",
      ]);
      assertEquals(ensemble.server.line.asked.map(({ op }) => op), ["sync"]);
    }),
  );

  it(
    "without a connection waits for the next",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.line.cut();

      await time.until(client.addAuth({ scheme: "digest", auth: "me:secret" }));

      assertEquals(ensemble.server.line.asked.map(({ op }) => op), ["auth"]);
    }),
  );

  for (const scheme of [undefined, ""]) {
    it(
      `refuses the scheme ${
        JSON.stringify(scheme)
      } with a TypeError, and the client lives on`,
      inWorld(1, async ({ ensemble, time, connected }) => {
        const client = await connected();

        const added = client.addAuth({ scheme: scheme as string, auth: "x" });
        await assertRejects(() => time.until(added), TypeError);
        ensemble.server.line.cut();
        await time.pass(2000);

        assertEquals([client.session.state, ensemble.server.asked], [
          "connected",
          [],
        ]);
      }),
    );
  }

  it(
    "refuses a credential that is too large to be sent, and the client lives on",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();

      await assertRejects(
        () =>
          client.addAuth({ scheme: "digest", auth: new Uint8Array(2 ** 20) }),
        RangeError,
      );
      ensemble.server.line.cut();
      await time.pass(2000);

      assertEquals(client.session.state, "connected");
    }),
  );

  it(
    "rejects with a ClientClosedError when the client is closed before a server took it",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      ensemble.server.reception = "refuse";
      ensemble.server.line.cut();
      const added = assertRejects(
        () => client.addAuth({ scheme: "digest", auth: "me:secret" }),
        ClientClosedError,
      );

      await time.until(client.close());

      await added;
    }),
  );

  it(
    "keeps its own copy of the secret: who wipes theirs is still known after a reconnect",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected();
      const auth = new TextEncoder().encode("me:secret");
      await time.until(client.addAuth({ scheme: "digest", auth }));

      auth.fill(0);
      ensemble.server.line.cut();
      await time.pass(500);

      assertEquals(
        ensemble.server.line.asked[0].body.auth,
        new TextEncoder().encode("me:secret"),
      );
    }),
  );
});

describe("Client, a credential of connect() that is refused later", () => {
  it(
    "finishes the client: everything rejects with the AuthFailedError",
    inWorld(1, async ({ ensemble, time, connected }) => {
      const client = await connected({
        auth: [{ scheme: "nosuch", auth: "x" }],
      });
      await time.pass(10);
      refuseAuth(ensemble);
      ensemble.server.line.cut();
      const pending = assertRejects(() => client.sync("/"), AuthFailedError);
      await time.pass(500);

      const later = await assertRejects(
        () => client.sync("/"),
        AuthFailedError,
      );

      assertStrictEquals(client.signal.reason, later);
      assertEquals([
        client.session.state,
        (await pending).scheme,
        ensemble.open,
      ], ["auth-failed", "nosuch", 0]);
    }),
  );
});
