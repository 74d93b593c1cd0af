// The matrix of docs/tls.md: real servers' secureClientPorts, good and bad certificates, three runtimes in processes of their own.
// The servers live as long as this process.

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Version } from "../real/install.ts";
import { type SecureServer, startSecureServer } from "../real/secure.ts";
import { certificates, type Pair } from "./certificates.ts";
import type { Job } from "./probe.ts";
import { perform, runtimes } from "./runtimes.ts";

const certs = await certificates();
const { ca, otherCa, client, stranger, formerClient } = certs;

type Auth = "none" | "need";

function start(version: Version, clientAuth: Auth, { cert, key }: Pair) {
  const keyStore = cert + key;
  return startSecureServer({ version, clientAuth, keyStore, trustStore: ca });
}

/** What a server asks for, and the same with a certificate that has expired. */
interface Mode {
  name: string;
  server: SecureServer;
  expired: SecureServer;
  auth: Auth;
}

const [oneWay, mutual, newest, expired, expiredMutual] = await Promise.all([
  start("3.8.0", "none", certs.server),
  start("3.8.0", "need", certs.server),
  start("3.9.3", "need", certs.server),
  start("3.8.0", "none", certs.expired),
  start("3.8.0", "need", certs.expired),
]);

// 3.8 ends at TLS 1.2; 3.9 takes 1.3, where a client is refused behind the handshake.
const modes: Mode[] = [
  { name: "one-way, 3.8.0", server: oneWay, expired, auth: "none" },
  {
    name: "mutual, 3.8.0",
    server: mutual,
    expired: expiredMutual,
    auth: "need",
  },
  {
    name: "mutual, 3.9.3",
    server: newest,
    expired: expiredMutual,
    auth: "need",
  },
];

/** What we show where a certificate is asked for, and else nothing. */
const shown = (auth: Auth) =>
  auth === "need" ? { cert: client.cert, key: client.key } : {};

const pairOf = ({ cert, key }: Pair) => ({ ca, cert, key });
/** So often is tried what may yet be well. */
const attempts = 2;

/** Every case of one mode, with the outcome and the code that docs/tls.md promises. */
function casesOf({ name, server, expired, auth }: Mode) {
  const servers = `localhost:${server.port}`;
  const mine = shown(auth);
  const isMutual = auth === "need";
  const or = (code: string) => isMutual ? code : undefined;
  const cases: Array<[string, Partial<Job>, string | undefined]> = [
    ["good", { tls: { ca, ...mine } }, undefined],
    [
      "good, by address",
      { servers: `127.0.0.1:${server.port}`, tls: { ca, ...mine } },
      undefined,
    ],
    ["locks", { tls: { ca, ...mine }, then: "lock" }, undefined],
    ["wrong CA", { tls: { ca: otherCa, ...mine } }, "CertificateUntrusted"],
    [
      "wrong name",
      { tls: { ca, ...mine, serverName: "zk.example.org" } },
      "CertificateNameMismatch",
    ],
    [
      "expired",
      { servers: `localhost:${expired.port}`, tls: { ca, ...mine } },
      "CertificateExpired",
    ],
    ["no client certificate", { tls: { ca } }, or("ClientCertificateRequired")],
    [
      "a stranger's client certificate",
      { tls: pairOf(stranger) },
      or("ClientCertificateRefused"),
    ],
    [
      "an expired client certificate",
      { tls: pairOf(formerClient) },
      or("ClientCertificateRefused"),
    ],
    [
      "unchecked",
      { tls: { ca: otherCa, ...mine, rejectUnauthorized: false } },
      undefined,
    ],
    [
      "TLS to the plain port",
      {
        servers: server.server.servers,
        tls: { ca, ...mine },
        attempts,
      },
      "HandshakeClosed",
    ],
    [
      "plain to the TLS port",
      { attempts },
      "ConnectionLoss",
    ],
  ];
  return cases.map(([what, more, code]) => ({
    job: { name: `${name}: ${what}`, servers, ...more } as Job,
    code,
  }));
}

describe("connect() to a real secureClientPort", () => {
  const cases = modes.flatMap(casesOf);
  for (const runtime of runtimes) {
    it(`ends on ${runtime} as the table in docs/tls.md says`, async () => {
      const outcomes = await perform(runtime, cases.map(({ job }) => job));

      const found = outcomes.map((it) => [it.name, it.cause ?? it.code]);
      assertEquals(found, cases.map(({ job, code }) => [job.name, code]));
      const late = outcomes.filter(({ outcome }) =>
        outcome === "ConnectionLossError"
      );
      assertEquals(late.length, 2 * modes.length);
      const plain = late.filter(({ cause }) => cause === undefined);
      const hint = "it is not ready, or expects TLS";
      assertEquals(
        plain.map(({ message }) => message?.includes(hint)),
        modes.map(() => true),
      );
    });
  }
});
