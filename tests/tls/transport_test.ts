// What the built-in transport does with TLS on real sockets: names, sizes, ends. On Deno, whose leak checks look on.
// Other runtimes and outcomes are in embedded_test.ts.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createServer, type Socket } from "node:net";
import { type Client, connect, TlsError } from "../../mod.ts";
import { TestServer } from "../../testing/mod.ts";
import { until, within } from "../suites/tools.ts";
import { certificates } from "./certificates.ts";
import {
  startTerminator,
  type Terminator,
  type TerminatorOptions,
} from "./terminator.ts";

const certs = await certificates();
const { ca, server: pair } = certs;

/** Gives a test a server behind TLS, and clients that are closed at the end. */
async function inWorld(
  use: (world: {
    tls: Terminator;
    server: TestServer;
    open(servers?: string, serverName?: string): Promise<Client>;
  }) => Promise<void>,
  more: Partial<TerminatorOptions> = {},
): Promise<void> {
  await using server = await TestServer.start();
  await using tls = await startTerminator({
    pair,
    target: server.servers,
    ...more,
  });
  const clients: Client[] = [];
  try {
    await use({
      tls,
      server,
      async open(servers = tls.servers, serverName) {
        const client = await connect(servers, {
          tls: { ca, serverName },
          connectTimeout: 60_000,
        });
        clients.push(client);
        return client;
      },
    });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

describe("The transport, by TLS", () => {
  it("tells the server the host, or the name it was given, but no address", () =>
    inWorld(async ({ tls, open }) => {
      await open();
      await open(`127.0.0.1:${tls.port}`);
      await open(`127.0.0.1:${tls.port}`, "localhost");
      await open(tls.servers, "127.0.0.1");

      assertEquals(tls.names, ["localhost", null, "localhost", "localhost"]);
    }));

  it("carries 15 MB in one reply, and a request of almost 1 MiB", () =>
    inWorld(async ({ open }) => {
      const zk = await open();
      const data = crypto.getRandomValues(new Uint8Array(65_536));
      const megabyte = new Uint8Array(1_000_000);
      for (let at = 0; at < megabyte.length; at += data.length) {
        megabyte.set(data.subarray(0, megabyte.length - at), at);
      }
      await zk.create("/large", megabyte);
      const reads = Array.from(
        { length: 15 },
        () => ({ op: "getData", path: "/large" }) as const,
      );

      const results = await zk.multiRead(reads);

      assertEquals(results.length, 15);
      for (const result of results) {
        assert(result.op === "getData");
        assertEquals(result.data!.length, megabyte.length);
        assert(result.data!.every((byte, i) => byte === megabyte[i]));
      }
    }));

  it("takes records of one byte each", () =>
    inWorld(async ({ open }) => {
      const zk = await open();
      await zk.create("/small", "x".repeat(5_000));

      const { data } = await zk.getData("/small");

      assertEquals(data?.length, 5_000);
    }, { chunk: 1 }));

  it("asks for the version of the server by TLS, too", () =>
    inWorld(async ({ tls, open }) => {
      const zk = await open();

      const version = await zk.serverVersion();

      assert(version !== null);
      assertEquals(tls.accepted, 2);
    }));

  it("given up in the handshake leaves no connection and no timer", async () => {
    const open = new Set<Socket>();
    const server = createServer((socket) => {
      open.add(socket);
      socket.on("error", () => {});
      // Who does not read sees no end.
      socket.resume();
      socket.on("close", () => open.delete(socket));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as { port: number };
    const stop = new AbortController();

    const connecting = connect(`localhost:${port}`, {
      tls: { ca },
      signal: stop.signal,
    });
    await until(
      "the handshake has begun",
      () => [...open].some(({ bytesRead }) => bytesRead > 0),
    );
    stop.abort(new Error("Given up"));
    await assertRejects(() => connecting, Error, "Given up");

    await until("the server sees the end", () => open.size === 0);
    await new Promise((done) => server.close(done));
  });

  it("begins no session with a server that it does not trust", () =>
    inWorld(async ({ server, open }) => {
      await assertRejects(() => open(), TlsError, "has expired");

      assertEquals(server.sessions, []);
    }, { pair: certs.expired }));

  it("warns when a server changes its certificate for a bad one, and goes on", () =>
    inWorld(async ({ tls, open }) => {
      const zk = await open();
      const { id } = zk.session;
      const warned = Promise.withResolvers<unknown>();
      zk.on("warning", ({ cause }) => warned.resolve(cause));

      tls.show(certs.expired);
      tls.cut();
      const cause = await within("it is warned", warned.promise);
      tls.show(pair);

      assertEquals((cause as TlsError).code, "CertificateExpired");
      assert(await within("it answers again", zk.exists("/")));
      assertEquals(zk.session.id, id);
    }));
});
