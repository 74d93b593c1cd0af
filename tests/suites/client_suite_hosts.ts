// Several hosts, some of them of no use; addresses of every form; connect() that fails; a process that ends.
// Knows no version: one server is enough.
// Run once for real servers, once for embedded ones: by client_test.ts.

import {
  assert,
  assertEquals,
  assertLess,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { connect as dial, createServer, type Socket } from "node:net";
import { connect, ConnectionLossError } from "../../protocol/mod.ts";
import { FaultProxy } from "../../testing/mod.ts";
import { programOf } from "./programs.ts";
import { tester, within } from "./tools.ts";
import { freePorts } from "../real/ports.ts";
import type { Target } from "../targets.ts";

export function hostsSuite(target: Target): void {
  describe("connect()", () => {
    hostTests(target);
    failureTests(target);
  });
  describe("Client.unref()", () => processTests(target));
}

/** Somebody on a port of this machine; `close` takes all connections with it. */
interface Peer {
  host: string;
  port: number;
  connections: Set<Socket>;
  close(): Promise<void>;
}

/** Null if this machine has no such address. */
function peer(
  host: string,
  greet: (socket: Socket) => void,
): Promise<Peer | null> {
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => connections.delete(socket));
    greet(socket);
  });
  return new Promise((resolve) => {
    server.on("error", () => resolve(null));
    server.listen({ port: 0, host }, () => {
      const { port } = server.address() as { port: number };
      const close = () =>
        new Promise<void>((done) => {
          server.close(() => done());
          for (const socket of connections) socket.destroy();
        });
      resolve({ host, port, connections, close });
    });
  });
}

function hostTests(target: Target): void {
  const test = tester(target);

  // kazoo#111, ZOOKEEPER-3106.
  test("takes an IPv6 address in brackets", async ({ root, open }) => {
    const [host, port] = target.servers.split(":");
    const loopback = await peer("::1", (socket) => {
      const server = dial({ host, port: Number(port) });
      server.on("error", () => {}).on("close", () => socket.destroy());
      socket.on("close", () => server.destroy());
      socket.pipe(server).pipe(socket);
    });
    if (loopback === null) return; // No IPv6 on this machine.

    try {
      const zk = await open({}, `[::1]:${loopback.port}`);
      assert(await zk.exists(root));
      await zk.close();
    } finally {
      await loopback.close();
    }
  });

  // kazoo#631, ZOOKEEPER-1576, ZOOKEEPER-2614: one name that is gone kept a client from starting.
  test("goes on to the next host if a name cannot be resolved", async ({ root, open }) => {
    for (let i = 0; i < 3; i++) {
      const zk = await open(
        { sessionTimeout: 4_000 },
        `nosuch.invalid:2181,${target.servers},nosuch.invalid`,
      );

      assert(await zk.exists(root));
    }
  });

  test("goes on to the next host if a port refuses, or hangs up", async ({ root, open }) => {
    const rude = await peer("127.0.0.1", (socket) => socket.destroy());
    const [closed] = await freePorts(1);

    try {
      for (let i = 0; i < 5; i++) {
        const zk = await open(
          {},
          [
            `127.0.0.1:${rude!.port}`,
            `127.0.0.1:${closed}`,
            target.servers,
          ].join(","),
        );
        assert(await zk.exists(root));
      }
    } finally {
      await rude!.close();
    }
  });

  test("takes a list of hosts", async ({ root }) => {
    const zk = await connect([target.servers, target.servers]);
    try {
      assert(await zk.exists(root));
    } finally {
      await zk.close();
    }
  });
}

/** Peers that are no ZooKeeper. */
const strangers: Record<string, (socket: Socket) => void> = {
  "that never answers": (socket) => socket.resume(),
  "that hangs up": (socket) => socket.destroy(),
  "that speaks HTTP": (socket) =>
    socket.on(
      "data",
      () => socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
    ),
};

/** Each leak check of the runner is a part of these. */
function failureTests(target: Target): void {
  const connectTimeout = 400;

  for (const [name, greet] of Object.entries(strangers)) {
    // samuel/go-zookeeper#19, CURATOR-36: loops without end.
    it(`rejects in time if it finds a peer ${name}, and leaves nothing open`, async () => {
      const stranger = (await peer("127.0.0.1", greet))!;
      try {
        const start = performance.now();

        const error = await assertRejects(
          () => connect(`127.0.0.1:${stranger.port}`, { connectTimeout }),
          ConnectionLossError,
          `Cannot connect within ${connectTimeout} ms`,
        );

        assertEquals([error.op, error.outcome], ["connect", "not-sent"]);
        // Much less than the timeout of the session that it asks for.
        assertLess(performance.now() - start, 10_000);
      } finally {
        await stranger.close();
      }
    });
  }

  it("rejects in time if nobody listens, and says so", async () => {
    const [port] = await freePorts(1);

    const error = await assertRejects(
      () => connect(`127.0.0.1:${port}`, { connectTimeout }),
      ConnectionLossError,
      "ECONNREFUSED",
    );

    assert(error.cause instanceof Error);
  });

  it("rejects with the reason of a signal, and leaves nothing open", async () => {
    const silent = (await peer("127.0.0.1", (socket) => socket.resume()))!;
    const giveUp = new AbortController();
    const reason = new Error("not wanted");
    try {
      const connecting = connect(`127.0.0.1:${silent.port}`, {
        signal: giveUp.signal,
      });
      giveUp.abort(reason);

      assertStrictEquals(await assertRejects(() => connecting), reason);
    } finally {
      await silent.close();
    }
  });

  it("rejects at once if the signal has aborted", async () => {
    const signal = AbortSignal.abort(new Error("not wanted"));

    await assertRejects(
      () => connect(target.servers, { signal }),
      Error,
      "not wanted",
    );
  });
}

interface Child {
  /** Resolves with its exit code. */
  ended: Promise<number | null>;
  kill(): void;
  readonly isAlive: boolean;
}

function start(servers: string, ...words: string[]): Child {
  const [program, ...args] = programOf("client_suite_process.ts");
  const child = spawn(program, [...args, servers, ...words], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return {
    ended: new Promise((resolve) => child.on("close", resolve)),
    kill: () => void child.kill("SIGKILL"),
    get isAlive() {
      return child.exitCode === null && child.signalCode === null;
    },
  };
}

function processTests(target: Target): void {
  const server = target.servers;

  // node-zookeeper-client#71: a program could not end.
  it("lets a process end by itself, with a session that is alive", async () => {
    const child = start(server, "unref");
    try {
      assertEquals(await within("it ends", child.ended), 0);
    } finally {
      child.kill();
    }
  });

  for (const words of [[], ["unref", "ref"]]) {
    const name = words.length ? "undone by ref()" : "not called";
    it(`${name}: the client keeps its process alive`, async () => {
      const proxy = await FaultProxy.start(server);
      const child = start(proxy.servers, ...words);
      try {
        // The first comes a third of the timeout after the script was through.
        const ping = proxy.packet(({ op }) => op === "ping");

        await within("it pings", ping);

        assert(child.isAlive);
      } finally {
        child.kill();
        await child.ended;
        await proxy.close();
      }
    });
  }
}
