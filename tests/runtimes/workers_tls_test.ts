// One-way TLS in workerd: whom it trusts, and how it is said that it does not.
// Runs workers/probe.ts; TLS ends in front of an embedded server.

import { assertEquals, assertMatch } from "@std/assert";
import {
  type AddressInfo,
  connect,
  createServer as createPlainServer,
  type Socket,
} from "node:net";
import { createServer } from "node:tls";
import type { TlsOptions } from "../../mod.ts";
import { TestServer } from "../../testing/mod.ts";
import { certificates, type Pair } from "../tls/certificates.ts";
import type { Report } from "./workers/probe.ts";
import { startProbe } from "./workers_probe.ts";
import { unchecked } from "./workers_tools.ts";

const made = await certificates();
const options = { connectTimeout: 1_500, sessionTimeout: 4_000 };

interface Case {
  name: string;
  /** What the server shows. */
  shown: Pair;
  /** The authority that the worker trusts. */
  trusted: string;
  host?: string;
  tls?: boolean | TlsOptions;
}

/** What connect() in a worker makes of a case. */
async function outcome(
  { shown, trusted, host = "127.0.0.1", tls = true }: Case,
): Promise<Report> {
  await using server = await TestServer.start();
  await using front = await terminator(shown, server.port);
  return await ask(`${host}:${front.port}`, trusted, tls);
}

/** What a worker that trusts an authority makes of connecting by TLS. */
async function ask(
  servers: string,
  trusted: string,
  tls: boolean | TlsOptions,
): Promise<Report> {
  await using probe = await startProbe({ trusted });
  return await probe.ask({ servers, options: { ...options, tls } });
}

/** Takes connections and says nothing, not even in TLS. */
async function silence(): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<Socket>();
  const server = createPlainServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).resume();
  });
  await new Promise<void>((done) =>
    server.listen({ port: 0, host: "127.0.0.1" }, done)
  );
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => void server.close(() => done()));
    },
  };
}

/** Speaks TLS in front, and plain behind. */
async function terminator(
  pair: Pair,
  port: number,
): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer(pair, (front) => {
    const back = connect({ port, host: "127.0.0.1" });
    for (const [from, to] of [[front, back], [back, front]]) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((done) =>
    server.listen({ port: 0, host: "127.0.0.1" }, done)
  );
  const { port: own } = server.address() as AddressInfo;
  return {
    port: own,
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => void server.close(() => done()));
    },
  };
}

const { server: good, elsewhere, ca, otherCa } = made;

const fine: Case[] = [
  { name: "by address", shown: good, trusted: ca },
  { name: "by name", shown: good, trusted: ca, host: "localhost" },
  {
    name: "whose certificate is for serverName",
    shown: elsewhere,
    trusted: ca,
    tls: { serverName: "zk.example.org" },
  },
];

for (const each of fine) {
  unchecked(
    `connect() in a worker reaches a server ${each.name} by TLS`,
    async () => {
      assertEquals(await outcome(each), []);
    },
  );
}

const wrong: Case[] = [
  { name: "of another authority", shown: good, trusted: otherCa },
  { name: "for another name", shown: elsewhere, trusted: ca },
  {
    name: "not for serverName",
    shown: good,
    trusted: ca,
    tls: { serverName: "zk.example.org" },
  },
];

for (const each of wrong) {
  unchecked(
    `connect() in a worker rejects if the server's certificate is ${each.name}`,
    async () => {
      const report = await outcome(each);

      assertEquals(report[0].name, "ConnectionLossError");
      assertEquals(report[1].code, "Unreachable");
      assertMatch(
        report[1].message,
        /its certificate is not trusted or names another host/,
      );
    },
  );
}

for (
  const [name, value] of Object.entries({
    ca: made.ca,
    cert: made.client.cert,
    key: made.client.key,
    rejectUnauthorized: false,
  })
) {
  unchecked(`connect() in a worker refuses tls.${name}`, async () => {
    const [error] = await outcome({
      name,
      shown: good,
      trusted: ca,
      tls: { [name]: value },
    });

    assertEquals(error.name, "TypeError");
    assertMatch(
      error.message,
      new RegExp(`Cannot use tls.${name} in a Worker`),
    );
  });
}

unchecked(
  "connect() in a worker rejects in time if a TLS handshake hangs",
  async () => {
    await using peer = await silence();

    const report = await ask(`127.0.0.1:${peer.port}`, ca, true);

    assertEquals(report[0].name, "ConnectionLossError");
    assertMatch(report[0].message, /Cannot connect within 1500 ms/);
  },
);

unchecked(
  "connect() in a worker rejects if the server does not speak TLS",
  async () => {
    await using server = await TestServer.start();

    const report = await ask(server.servers, ca, true);

    assertEquals(report[0].name, "ConnectionLossError");
    assertEquals(report[1].code, "Unreachable");
  },
);
