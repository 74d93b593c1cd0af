// What TestServer can do to single requests and to those who say hello, and what a real client makes of it.
// On virtual time and in memory.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import * as ops from "../../protocol/operations.ts";
import type { Reception, RequestFate } from "../../testing/mod.ts";
import { helloFrame, requestFrame, Stage } from "./raw.ts";

/** What becomes of a create, of its znode, and how many connections it took until the client is back. */
async function fate(
  stage: Stage,
  arrange: () => unknown,
): Promise<[outcome: unknown, isThere: boolean, hellos: number]> {
  const { server, clock } = stage;
  const zk = await stage.client();
  arrange();
  const created = zk.create("/a").then(() => "created");
  // The next reply, by which a client notices that one is missing.
  const next = zk.exists("/");
  const outcome = await stage.outcome(created);
  await clock.until(next);
  return [
    outcome,
    server.znode("/a") !== undefined,
    server.count("connect"),
  ];
}

describe("TestServer's ready-made fates", () => {
  it("cutBefore(): not done, and the caller hears that it may have been", async () => {
    await using stage = await Stage.start();

    const result = await fate(stage, () => stage.server.cutBefore("create"));

    assertEquals(result, ["ConnectionLoss", false, 2]);
  });

  it("cutAfter(): done, and the caller hears that it may have been", async () => {
    await using stage = await Stage.start();

    const result = await fate(stage, () => stage.server.cutAfter("create"));

    assertEquals(result, ["ConnectionLoss", true, 2]);
  });

  it("dropReply(): done, and the client gives the connection up at the next reply", async () => {
    await using stage = await Stage.start();

    const result = await fate(stage, () => stage.server.dropReply("create"));

    assertEquals(result, ["ConnectionLoss", true, 2]);
  });

  it("refuse(): not done, and the caller hears why", async () => {
    await using stage = await Stage.start();

    const result = await fate(
      stage,
      () => stage.server.refuse("create", "ThrottledOp"),
    );

    assertEquals(result, ["ThrottledOp", false, 1]);
  });

  it("refuse() takes a number, known or not", async () => {
    await using stage = await Stage.start();
    const zk = await stage.client();
    stage.server.refuse("exists", -999);

    const error = await stage.clock.until(zk.exists("/")).catch((e) => e);

    assertEquals([error.code, error.number], ["Unknown", -999]);
  });

  it("refuse() throws for an error that does not exist", async () => {
    await using stage = await Stage.start();

    assertThrows(
      () => stage.server.refuse("create", "NoSuch" as RequestFate),
      TypeError,
      "Cannot answer with NoSuch: there is no such error",
    );
  });

  it("resolve with the request they met, and spare the next", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client();
    const met = server.refuse("exists", "NoAuth");

    const outcomes = [
      await stage.outcome(zk.exists("/")),
      (await clock.until(zk.exists("/"))) !== null,
    ];

    const { op, session, index } = await met;
    assertEquals([op, session, index], ["exists", zk.session.id, 1]);
    assertEquals(outcomes, ["NoAuth", true]);
  });

  it("wait for their operation while others pass", async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client();
    server.refuse("setData", "NoAuth");

    await clock.until(zk.create("/a"));
    const outcome = await stage.outcome(zk.setData("/a", "x"));

    assertEquals(outcome, "NoAuth");
  });

  it("reject when they are healed first", async () => {
    await using stage = await Stage.start();
    const met = stage.server.cutAfter("create");

    stage.server.heal();

    await assertRejects(
      () => met,
      Error,
      "Cannot cut after create: the server was healed first",
    );
  });

  it("reject when the server is closed first", async () => {
    const stage = await Stage.start();
    const met = stage.server.dropReply("create");

    await stage.clock.until(stage.server.close());

    await assertRejects(
      () => met,
      Error,
      "Cannot drop the reply to create: the server was closed first",
    );
  });
});

describe("TestServer.rule", () => {
  const fates: [RequestFate | undefined, unknown, boolean, number][] = [
    [undefined, "created", true, 1],
    ["serve", "created", true, 1],
    ["cut-before", "ConnectionLoss", false, 2],
    ["cut-after", "ConnectionLoss", true, 2],
    ["drop-reply", "ConnectionLoss", true, 2],
    ["ignore", "ConnectionLoss", false, 2],
    [-110, "NodeExists", false, 1],
    ["NoAuth", "NoAuth", false, 1],
  ];
  for (const [verdict, outcome, isThere, hellos] of fates) {
    it(`"${verdict}" for a create: ${outcome}, ${isThere ? "" : "not "}done, ${hellos} connections`, async () => {
      await using stage = await Stage.start();
      const rule = ({ op }: { op: string }) =>
        op === "create" ? verdict : undefined;

      const result = await fate(stage, () => stage.server.rule = rule);

      assertEquals(result, [outcome, isThere, hellos]);
    });
  }

  it("sees every request, pings and handshakes too", async () => {
    await using stage = await Stage.start();
    const seen: string[] = [];
    stage.server.rule = ({ op, xid, index }) => {
      seen.push(`${index} ${op} ${xid}`);
      return undefined;
    };

    const zk = await stage.client();
    await stage.clock.until(zk.exists("/"));
    await stage.clock.until(zk.ping());

    assertEquals(seen, ["0 connect 0", "1 exists 1", "2 ping -2"]);
  });

  it("that throws costs the connection, and close() rejects with what it threw", async () => {
    const stage = await Stage.start();
    const zk = await stage.client();
    const bug = new Error("a mistake in a test");
    stage.server.rule = ({ op }) => {
      if (op === "create") throw bug;
      return undefined;
    };

    const outcome = await stage.outcome(zk.create("/a"));
    await stage.clock.until(zk.close());

    assertEquals(outcome, "ConnectionLoss");
    assertEquals(await stage.outcome(stage.server.close()), bug);
  });

  it("decides before the ready-made faults", async () => {
    await using stage = await Stage.start();
    stage.server.rule = () => "serve";

    const [outcome] = await fate(
      stage,
      () => stage.server.refuse("create", "NoAuth"),
    );

    assertEquals(outcome, "created");
  });

  for (
    const [verdict, isOpened] of [
      ["cut-before", 0],
      ["cut-after", 1],
      ["drop-reply", 1],
      ["ignore", 0],
      ["NoAuth", 0],
    ] as const
  ) {
    it(`"${verdict}" for a hello: the client tries again, ${isOpened} session is lost`, async () => {
      await using stage = await Stage.start();
      stage.server.rule = ({ op, index }) =>
        op === "connect" && index === 0 ? verdict : undefined;

      const zk = await stage.client();

      const { sessions } = stage.server;
      assertEquals(sessions.length, 1 + isOpened);
      assertEquals(sessions.at(-1), zk.session.id);
    });
  }
});

describe("TestServer.reception", () => {
  const receptions: Reception[] = ["hang-up", "silence", "read-only"];
  for (const reception of receptions) {
    it(`"${reception}": the client does not connect, and does when it is normal`, async () => {
      await using stage = await Stage.start();
      stage.server.reception = reception;
      const connecting = stage.connecting({ connectTimeout: 60_000 });

      await stage.clock.pass(20_000);
      const before = stage.server.sessions.length;
      stage.server.reception = "normal";
      const zk = await stage.clock.until(connecting);

      assertEquals([before, zk.session.state], [0, "connected"]);
      await stage.clock.until(zk.close());
    });
  }

  it('"silence": what is said behind the hello is not served either', async () => {
    await using stage = await Stage.start();
    stage.server.reception = "silence";
    const raw = await stage.raw();

    const answers = await raw.say(
      helloFrame(),
      requestFrame(1, ops.exists, { path: "/", watch: false }),
    );

    assertEquals([answers, raw.isClosed], [[], false]);
    assertEquals(stage.server.count("exists"), 0);
  });

  it('"read-only-session": whoever asks for that reads, and may not write', async () => {
    await using stage = await Stage.start();
    stage.server.reception = "read-only-session";

    const zk = await stage.client({ readOnly: true });

    assertEquals(
      [
        zk.session.state,
        await stage.clock.until(zk.getChildren("/")),
        await stage.outcome(zk.create("/a")),
        await stage.outcome(zk.sync("/")),
      ],
      ["connected-read-only", ["zookeeper"], "NotReadOnly", "NotReadOnly"],
    );
  });

  it('"read-only-session": others are not let in, nor those who had a session', async () => {
    await using stage = await Stage.start();
    const { server, clock } = stage;
    const zk = await stage.client({ readOnly: true });
    server.reception = "read-only-session";

    const connecting = stage.connecting({ connectTimeout: 5_000 });
    server.cut();
    const outcome = await stage.outcome(connecting);
    const { state } = zk.session;

    assertEquals([outcome, state], ["ConnectionLoss", "disconnected"]);
    server.reception = "normal";
    await clock.pass(5_000);
  });

  it('"other-session": the client takes its session for expired', async () => {
    await using stage = await Stage.start();
    const zk = await stage.client();
    const { session } = zk;
    stage.server.reception = "other-session";

    stage.server.cut();
    await stage.clock.until(
      new Promise((resolve) =>
        session.signal.addEventListener("abort", resolve)
      ),
    );

    assertEquals(session.state, "expired");
    assert(stage.server.sessions.includes(session.id));
  });

  it("is normal again when healed", async () => {
    await using stage = await Stage.start();
    stage.server.reception = "silence";

    stage.server.heal();

    assertEquals(stage.server.reception, "normal");
  });
});
