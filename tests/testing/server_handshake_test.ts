// TestServer's handshake (reference, 5): what it grants, whom it refuses and how, and when a session ends.
// On virtual time, with a client that says exactly what it is told to.

import { assertEquals, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { noPassword } from "../../protocol/handshake.ts";
import { Reader } from "../../protocol/jute.ts";
import * as ops from "../../protocol/operations.ts";
import * as r from "../../protocol/records.ts";
import type { TestServerOptions } from "../../testing/mod.ts";
import { helloFrame, type Raw, requestFrame, Stage } from "./raw.ts";

const wrong = new Uint8Array(16).fill(1);
const ping = requestFrame(-2, ops.ping, null);
const open = [{ perms: 31, scheme: "world", id: "anyone" }];
const created = (path: string, flags = 0) => ({
  ...{ path, data: null, acl: open, flags },
});

/** What is answered to a hello: the answer, or nothing, and whether the connection ends. */
async function answer(
  stage: Stage,
  hello: Parameters<typeof helloFrame>[0],
): Promise<{ welcome?: Raw["welcome"]; size: number; isClosed: boolean }> {
  const raw = await stage.raw();
  const [frame] = await raw.say(helloFrame(hello));
  const { isClosed } = raw;
  if (frame === undefined) return { size: 0, isClosed };
  const welcome = r.ConnectResponse.read(new Reader(frame.subarray(4)));
  return { welcome, size: frame.length - 4, isClosed };
}

function start(options: TestServerOptions = {}): Promise<Stage> {
  return Stage.start({ tick: 200, minSessionTimeout: 400, ...options });
}

describe("TestServer, at the handshake", () => {
  it("opens a session with an id that has the server on top, and a password", async () => {
    await using stage = await start();

    const { welcome, isClosed } = await answer(stage, {});

    assertEquals(welcome!.sessionId >> 56n, 1n);
    assertEquals([welcome!.passwd?.length, isClosed], [16, false]);
    assertNotEquals(welcome!.passwd, noPassword);
    assertEquals(stage.server.sessions, [welcome!.sessionId]);
  });

  it("gives ids that grow by one, and uses a zxid for each", async () => {
    await using stage = await start();

    const ids = [await stage.attached(), await stage.attached()]
      .map(({ welcome }) => welcome.sessionId);
    const again = await answer(stage, { lastZxidSeen: 2n });

    assertEquals(ids[1] - ids[0], 1n);
    assertEquals(again.welcome!.sessionId - ids[1], 1n);
  });

  for (
    const [asked, granted] of [
      [0, 400],
      [-1, 400],
      [1, 400],
      [400, 400],
      [5000, 5000],
      [60_000, 60_000],
      [100_000, 60_000],
      [2 ** 31 - 1, 60_000],
      [-(2 ** 31), 400],
    ]
  ) {
    it(`grants ${granted} ms to who asks for ${asked}`, async () => {
      await using stage = await start();

      const { welcome } = await answer(stage, { timeOut: asked });

      assertEquals(welcome!.timeOut, granted);
    });
  }

  it("grants another timeout when the session is attached again", async () => {
    await using stage = await start();
    const { welcome } = await stage.attached({ timeOut: 5000 });
    const { sessionId, passwd } = welcome;

    const again = await answer(stage, { sessionId, passwd, timeOut: 30_000 });

    assertEquals(again.welcome, { ...welcome, timeOut: 30_000 });
  });

  for (
    const [readOnly, size, mirrored] of [
      [undefined, 36, undefined],
      [false, 37, false],
      [true, 37, false],
    ] as const
  ) {
    it(`answers ${size} bytes to a readOnly of ${readOnly}`, async () => {
      await using stage = await start();

      const result = await answer(stage, { readOnly });

      assertEquals([result.size, result.welcome!.readOnly], [size, mirrored]);
    });
  }

  const refusals: [string, Partial<Raw["welcome"]>][] = [
    ["a session it does not know", { sessionId: 77n, passwd: wrong }],
    ["a wrong password", { passwd: wrong }],
    ["a password that is too short", { passwd: wrong.subarray(0, 8) }],
    ["an empty password", { passwd: wrong.subarray(0, 0) }],
    ["no password", { passwd: null }],
  ];
  for (const [what, hello] of refusals) {
    it(`refuses ${what} with zeros and hangs up`, async () => {
      await using stage = await start();
      const { sessionId } = (await stage.attached()).welcome;

      const result = await answer(stage, { sessionId, ...hello });

      assertEquals(result, {
        welcome: {
          ...{ protocolVersion: 0, timeOut: 0, sessionId: 0n },
          ...{ passwd: noPassword, readOnly: false },
        },
        size: 37,
        isClosed: true,
      });
    });
  }

  it("closes the session's connection before it looks at the password, and keeps the session", async () => {
    await using stage = await start();
    const live = await stage.attached();
    const { sessionId } = live.welcome;
    await live.ask(ops.create, created("/eph", 1));

    await answer(stage, { sessionId, passwd: wrong });

    assertEquals(live.isClosed, true);
    assertEquals(stage.server.sessions, [sessionId]);
    assertEquals(stage.server.paths(), ["/eph"]);
  });

  it("closes the old connection of a session that is attached again, and drops its watches", async () => {
    await using stage = await start();
    const old = await stage.attached();
    await old.ask(ops.exists, { path: "/w", watch: true });

    const now = await stage.attached(old.welcome);
    await now.ask(ops.create, created("/w"));

    assertEquals([old.isClosed, now.isClosed], [true, false]);
    assertEquals([old.frames(), stage.server.watches()], [[], 0]);
    assertEquals(stage.server.connections, 1);
  });

  it("hangs up without a word on who has seen more than it has", async () => {
    await using stage = await start();
    const { welcome } = await stage.attached();

    const results = [
      await answer(stage, { lastZxidSeen: 2n }),
      await answer(stage, { ...welcome, lastZxidSeen: 2n }),
      await answer(stage, { ...welcome, lastZxidSeen: 1n }),
    ];

    assertEquals(results.map(({ size }) => size), [0, 0, 37]);
    assertEquals(results.map(({ isClosed }) => isClosed), [true, true, false]);
  });

  for (
    const [version, isAnswered] of [["3.4", false], ["3.8", true], [
      "3.9",
      true,
    ]] as const
  ) {
    it(`a new session with a null password is ${isAnswered ? "" : "not "}answered by ${version}`, async () => {
      await using stage = await start({ version });

      const result = await answer(stage, { passwd: null });

      assertEquals([result.size > 0, result.isClosed], [isAnswered, false]);
    });
  }

  for (const length of [0, 8]) {
    it(`a new session with a password of ${length} bytes is welcome`, async () => {
      await using stage = await start();

      const result = await answer(stage, { passwd: wrong.subarray(0, length) });

      assertEquals(result.welcome!.timeOut, 10_000);
    });
  }

  it("serves what came directly behind the hello, in order", async () => {
    await using stage = await start();
    const raw = await stage.raw();

    const frames = await raw.say(
      helloFrame(),
      requestFrame(1, ops.create, created("/a")),
      requestFrame(2, ops.exists, { path: "/a", watch: false }),
      ping,
    );

    const xids = frames.slice(1).map((frame) =>
      r.ReplyHeader.read(new Reader(frame.subarray(4)))
    ).map(({ xid, err }) => [xid, err]);
    assertEquals(xids, [[1, 0], [2, 0], [-2, 0]]);
  });
});

describe("TestServer's sessions", () => {
  it("end one tick at most behind their timeout, and the connection with them", async () => {
    await using stage = await start();
    await stage.clock.pass(150);
    const raw = await stage.attached({ timeOut: 1000 });
    await raw.ask(ops.create, created("/eph", 1));

    await stage.clock.pass(1200 - stage.clock.monotonic() - 1);
    const before = [raw.isClosed, stage.server.paths().length];
    await stage.clock.pass(1);

    assertEquals(before, [false, 1]);
    assertEquals([raw.isClosed, stage.server.paths()], [true, []]);
    assertEquals(stage.server.sessions, []);
  });

  it("live on as long as anything comes", async () => {
    await using stage = await start();
    const raw = await stage.attached({ timeOut: 1000 });

    for (let i = 0; i < 10; i++) {
      await stage.clock.pass(900);
      await raw.say(ping);
    }

    assertEquals(stage.server.sessions.length, 1);
  });

  it("are not kept alive by credentials, as on a real server", async () => {
    await using stage = await start();
    const raw = await stage.attached({ timeOut: 1000 });
    const auth = { type: 0, scheme: "digest", auth: new Uint8Array(0) };

    for (let i = 0; i < 3; i++) {
      await stage.clock.pass(500);
      await raw.say(requestFrame(-4, ops.auth, auth));
    }

    assertEquals([stage.server.sessions, raw.isClosed], [[], true]);
  });

  it("outlive their connections", async () => {
    await using stage = await start();
    const raw = await stage.attached({ timeOut: 1000 });

    raw.close();
    await stage.clock.pass(500);
    const again = await stage.attached(raw.welcome);

    assertEquals(again.welcome, raw.welcome);
  });

  it("and containers stay as they are while the server is frozen", async () => {
    await using stage = await start({ reapInterval: 1000 });
    const raw = await stage.attached({ timeOut: 60_000 });
    const container = { ...created("/c", 4), ttl: 0n };
    await raw.ask(ops.createContainer, container);
    await raw.ask(ops.create, created("/c/x"));
    await raw.ask(ops.remove, { path: "/c/x", version: -1 });
    stage.server.freeze();

    await stage.clock.pass(5000);
    const frozen = stage.server.paths();
    stage.server.thaw();
    await stage.clock.pass(1000);

    assertEquals([frozen, stage.server.paths()], [["/c"], []]);
  });

  it("need a timer only while there is one", async () => {
    await using stage = await Stage.start({ reapInterval: 3_600_000 });
    const reaping = stage.clock.pending;

    const raw = await stage.attached();
    const open = stage.clock.pending;
    await raw.say(requestFrame(1, ops.closeSession, null));

    assertEquals([reaping, open, stage.clock.pending], [1, 2, 1]);
  });

  it("end with closeSession: ephemeral znodes go in one transaction, then the connection", async () => {
    await using stage = await start();
    const [raw, other] = [await stage.attached(), await stage.attached()];
    for (const path of ["/e1", "/e2"]) {
      await raw.ask(ops.create, created(path, 1));
    }
    await other.ask(ops.getChildren, { path: "/", watch: true });
    await other.ask(ops.exists, { path: "/e2", watch: true });

    const frames = await raw.say(
      requestFrame(9, ops.closeSession, null),
      requestFrame(10, ops.exists, { path: "/", watch: false }),
    );

    const { xid, zxid, err } = r.ReplyHeader.read(
      new Reader(frames[0].subarray(4)),
    );
    const events = other.frames().map((frame) =>
      r.ReplyHeader.read(new Reader(frame.subarray(4))).zxid
    );
    assertEquals([frames.length, xid, zxid, err], [1, 9, 5n, 0]);
    assertEquals([raw.isClosed, events], [true, [5n, 5n]]);
  });
});
