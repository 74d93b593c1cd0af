// What a client is to see of TLS servers, good and bad: the table of docs/tls.md for the embedded server.
// Must not know on which runtime it is seen.
// Called by embedded_test.ts.

import { createServer as listenPlain, type Socket } from "node:net";
import { TestServer } from "../../testing/mod.ts";
import { certificates } from "./certificates.ts";
import type { Job } from "./probe.ts";
import { startTerminator } from "./terminator.ts";

/** A server that answers the first bytes of a client as it is told. */
async function answering(answer: (client: Socket) => void) {
  const open = new Set<Socket>();
  const server = listenPlain((client) => {
    open.add(client);
    client.on("error", () => {});
    client.on("close", () => open.delete(client));
    client.once("data", () => answer(client));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    servers: `localhost:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      open.forEach((client) => client.destroy());
      await closed;
    },
  };
}

/** What is expected of one job; `says` is part of the message, and the cause is that of `code`. */
export type Row = [Job, Expected];
export interface Expected {
  outcome: string;
  code?: string;
  cause?: string;
  says?: string;
}

const no = (code: string, says: string): Expected => (
  { outcome: "TlsError", code, says }
);
const late = (says: string, cause?: string): Expected => (
  { outcome: "ConnectionLossError", code: "ConnectionLoss", cause, says }
);
const connected: Expected = { outcome: "connected" };

const certs = await certificates();
const { ca, otherCa, client, stranger, formerClient } = certs;
/** What a client shows, and whom it trusts. */
export const clientOf = ({ cert, key }: { cert: string; key: string }) => (
  { ca, cert, key }
);
const byAddress = (servers: string) =>
  servers.replace("localhost", "127.0.0.1");
/** So often is tried what may yet be well. */
const attempts = 2;

/** Every server there is to be reached, well or badly. */
export async function world(stack: AsyncDisposableStack) {
  const plain = stack.use(await TestServer.start());
  const start = async (
    options: Omit<Parameters<typeof startTerminator>[0], "target">,
  ) => stack.use(await startTerminator({ ...options, target: plain.servers }));
  const { server: pair, elsewhere, expired, self } = certs;
  const maxVersion = "TLSv1.2";
  return {
    plain,
    oneWay: await start({ pair }),
    oneWay12: await start({ pair, maxVersion }),
    mutual: await start({ pair, clientCa: ca }),
    mutual12: await start({ pair, clientCa: ca, maxVersion }),
    elsewhere: await start({ pair: elsewhere }),
    expired: await start({ pair: expired }),
    self: await start({ pair: self }),
    slow: await start({ pair, chunk: 1 }),
    text: stack.use(await answering((it) => it.end("HTTP/1.1 400 No\r\n\r\n"))),
    hangsUp: stack.use(await answering((it) => it.end())),
    resets: stack.use(await answering((it) => it.resetAndDestroy())),
    silent: stack.use(await answering(() => {})),
    alerts: stack.use(
      await answering((it) => it.end(Uint8Array.of(21, 3, 3, 0, 2, 2, 70))),
    ),
  };
}

/** They all. */
export type World = Awaited<ReturnType<typeof world>>;

function good(to: World): Row[] {
  return [
    [{ name: "by name", servers: to.oneWay.servers, tls: { ca } }, connected],
    [{
      name: "by address",
      servers: byAddress(to.oneWay.servers),
      tls: { ca },
    }, connected],
    [{ name: "TLS 1.2", servers: to.oneWay12.servers, tls: { ca } }, connected],
    [{
      name: "one of two authorities in one text",
      servers: to.oneWay.servers,
      tls: { ca: otherCa + ca },
    }, connected],
    [{
      name: "one of two authorities in a list",
      servers: to.oneWay.servers,
      tls: { ca: [otherCa, ca] },
    }, connected],
    [{
      name: "another name, as told",
      servers: to.elsewhere.servers,
      tls: { ca, serverName: "zk.example.org" },
    }, connected],
    [{
      name: "an address in place of the name",
      servers: to.oneWay.servers,
      tls: { ca, serverName: "127.0.0.1" },
    }, connected],
    [{
      name: "a client certificate nobody asked for",
      servers: to.oneWay.servers,
      tls: clientOf(client),
    }, connected],
    [{
      name: "mutual",
      servers: to.mutual.servers,
      tls: clientOf(client),
    }, connected],
    [{
      name: "text around, the key among the certificates, lines of Windows",
      servers: to.mutual.servers,
      tls: {
        ca: `# Ours\n${ca}`.replaceAll("\n", "\r\n"),
        cert: `Bag Attributes\n${client.cert}${ca}${client.key}`,
        key: client.key,
      },
    }, connected],
    [{
      name: "mutual, TLS 1.2",
      servers: to.mutual12.servers,
      tls: clientOf(client),
    }, connected],
    [{
      name: "byte by byte",
      servers: to.slow.servers,
      tls: { ca },
    }, connected],
    [{
      name: "left open, which keeps no process alive",
      servers: to.oneWay.servers,
      tls: { ca },
      then: "unref",
    }, { outcome: "left open" }],
    ...[to.oneWay, to.elsewhere, to.expired, to.self].map((
      { servers },
    ): Row => [
      {
        name: `unchecked, ${servers}`,
        servers,
        tls: { ca: otherCa, rejectUnauthorized: false },
      },
      connected,
    ]),
  ];
}

function distrusted(to: World): Row[] {
  return [
    [
      {
        name: "a wrong CA",
        servers: to.oneWay.servers,
        tls: { ca: otherCa },
      },
      no("CertificateUntrusted", "signed by no authority that is trusted"),
    ],
    [
      {
        name: "an authority the runtime does not know",
        servers: to.oneWay.servers,
        tls: true,
      },
      no("CertificateUntrusted", "signed by no authority that is trusted"),
    ],
    [
      { name: "self-signed", servers: to.self.servers, tls: { ca } },
      no("CertificateSelfSigned", "its certificate is self-signed"),
    ],
    [
      { name: "expired", servers: to.expired.servers, tls: { ca } },
      no("CertificateExpired", "its certificate has expired"),
    ],
    [
      { name: "a wrong name", servers: to.elsewhere.servers, tls: { ca } },
      no("CertificateNameMismatch", "DNS:zk.example.org"),
    ],
    [
      {
        name: "a wrong address",
        servers: byAddress(to.elsewhere.servers),
        tls: { ca },
      },
      no("CertificateNameMismatch", "IP: 127.0.0.1 is not in the cert"),
    ],
    [
      {
        name: "not the name that was told",
        servers: to.oneWay.servers,
        tls: { ca, serverName: "zk.example.org" },
      },
      no("CertificateNameMismatch", "Host: zk.example.org"),
    ],
    [
      {
        name: "every server for a reason of its own",
        servers: `${to.expired.servers},${to.self.servers}`,
        tls: { ca },
      },
      { outcome: "TlsError", says: "; Cannot connect to localhost:" },
    ],
    [
      {
        name: "one server is well, the other is not",
        servers: `${to.expired.servers},${to.oneWay.servers}`,
        tls: { ca },
      },
      connected,
    ],
  ];
}

function refused(to: World): Row[] {
  return [
    [
      {
        name: "no client certificate",
        servers: to.mutual.servers,
        tls: { ca },
      },
      no("ClientCertificateRequired", "it asks for a client certificate"),
    ],
    [
      {
        name: "a key that is not the certificate's",
        servers: to.mutual.servers,
        tls: { ca, cert: client.cert, key: stranger.key },
      },
      no("TlsOptionsUnusable", "tls.key is not the key of tls.cert"),
    ],
    [
      {
        name: "a key that cannot be read",
        servers: to.mutual.servers,
        tls: { ca, cert: client.cert, key: spoilt(client.key) },
      },
      no("TlsOptionsUnusable", "tls.key cannot be read"),
    ],
    [
      {
        name: "an authority that cannot be read",
        servers: to.oneWay.servers,
        tls: { ca: ca + spoilt(otherCa) },
      },
      no("TlsOptionsUnusable", "tls.ca holds a certificate that cannot"),
    ],
    // A server of Node's kind hangs up without saying why.
    ...[stranger, formerClient].map((pair, i): Row => [{
      name: `a client certificate that is no good, ${i}`,
      servers: to.mutual.servers,
      tls: clientOf(pair),
      attempts,
    }, late("does not accept the client certificate")]),
    [
      {
        name: "the same, TLS 1.2",
        servers: to.mutual12.servers,
        tls: clientOf(stranger),
        attempts,
      },
      late("it hung up during the handshake", "HandshakeClosed"),
    ],
  ];
}

function mistaken(to: World): Row[] {
  return [
    [
      {
        name: "a port that answers in text",
        servers: to.text.servers,
        tls: { ca },
      },
      no("ServerNotTls", "it does not speak TLS here"),
    ],
    [
      { name: "TLS without tls", servers: to.alerts.servers },
      no("ServerExpectsTls", "it speaks TLS here, and was spoken to without"),
    ],
    [
      {
        name: "the port of the embedded server",
        servers: to.plain.servers,
        tls: { ca },
        attempts,
      },
      late("it hung up during the handshake", "HandshakeClosed"),
    ],
    ...[to.hangsUp, to.resets].map(({ servers }): Row => [{
      name: `who hangs up, ${servers}`,
      servers,
      tls: { ca },
      attempts,
    }, late("it hung up during the handshake", "HandshakeClosed")]),
    [
      {
        name: "who hangs up in plain",
        servers: to.hangsUp.servers,
        attempts,
      },
      late("it is not ready, or expects TLS"),
    ],
    [{
      name: "who is silent",
      servers: to.silent.servers,
      tls: { ca },
      connectTimeout: 700,
    }, late("Cannot connect within 700 ms")],
    [{
      name: "who is silent, and given up",
      servers: to.silent.servers,
      tls: { ca },
      abortAfter: 200,
    }, { outcome: "Error", says: "Given up" }],
    [{
      name: "nobody",
      servers: "localhost:1",
      tls: { ca },
      attempts,
    }, late("ECONNREFUSED")],
  ];
}

/** The bytes within are not what they were; the form is. */
function spoilt(pem: string): string {
  return pem.replace(/\n[^-]+/, "\nAAAA\n");
}

/** Every job, and what is to come of it. */
export function rowsOf(to: World): Row[] {
  return [...good(to), ...distrusted(to), ...refused(to), ...mistaken(to)];
}
