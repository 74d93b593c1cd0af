// What the runtimes call a failure of TLS, and what we do: the codes are those that Node 20, Bun 1.4 and Deno 2.9 gave.
// Pure.

import { assertEquals, assertInstanceOf } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { TlsError } from "../../protocol/errors.ts";
import {
  allTlsFailures,
  isTlsAlert,
  tlsExpected,
  tlsFailure,
} from "../../protocol/tls_failure.ts";

const address = { host: "zk1", port: 2281 };
const ours = { cert: "c", key: "k" };

function coded(code: string, more: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(`of a runtime: ${code}`), { code, ...more });
}

describe("tlsFailure()", () => {
  const cases: Array<[string, string, string?]> = [
    ["SELF_SIGNED_CERT_IN_CHAIN", "CertificateUntrusted"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "CertificateUntrusted"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "CertificateUntrusted"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "CertificateSelfSigned"],
    ["CERT_HAS_EXPIRED", "CertificateExpired"],
    ["CERT_NOT_YET_VALID", "CertificateNotYetValid"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "CertificateNameMismatch"],
    ["CERT_REVOKED", "CertificateInvalid"],
    ["INVALID_PURPOSE", "CertificateInvalid"],
    [
      "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
      "ClientCertificateRequired",
      "ClientCertificateRequired",
    ],
    [
      "ERR_SSL_TLSV1_ALERT_CERTIFICATE_REQUIRED",
      "ClientCertificateRequired",
      "ClientCertificateRequired",
    ],
    [
      "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE",
      "ClientCertificateRequired",
      "ClientCertificateRefused",
    ],
    [
      "ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN",
      "ClientCertificateRequired",
      "ClientCertificateRefused",
    ],
    [
      "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA",
      "ClientCertificateRequired",
      "ClientCertificateRefused",
    ],
    ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", "HandshakeRefused"],
    ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "HandshakeRefused"],
    ["ERR_SSL_UNSUPPORTED_PROTOCOL", "HandshakeRefused"],
    ["ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR", "HandshakeClosed"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "ServerNotTls"],
    ["ERR_ZKLOCK_TLS_OPTIONS", "TlsOptionsUnusable"],
    ["ECONNRESET", "HandshakeClosed"],
  ];
  for (const [code, without, with_ = without] of cases) {
    const name = with_ === without ? with_ : `${without} or ${with_}`;
    it(`says ${name} for ${code}`, () => {
      const given = coded(code);

      const found = [{}, ours].map((tls) => tlsFailure(given, address, tls));

      assertEquals(found.map((error) => (error as TlsError).code), [
        without,
        with_,
      ]);
      for (const error of found) {
        assertInstanceOf(error, TlsError);
        assertEquals([error.name, error.server, error.cause], [
          "TlsError",
          "zk1:2281",
          given,
        ]);
      }
    });
  }

  it("leaves alone what is not of TLS, and what is said already", () => {
    const errors = [
      coded("ECONNREFUSED"),
      coded("ENOTFOUND"),
      coded("ECONNRESET", { syscall: "connect" }),
      new Error("without a code"),
      tlsExpected(address),
    ];

    const found = errors.map((error) => tlsFailure(error, address, {}));

    assertEquals(found.map((error, i) => error === errors[i]), [
      true,
      true,
      true,
      true,
      true,
    ]);
  });

  it("says whom a certificate is for, and which alert came", () => {
    const reason =
      "Host: zk1. is not in the cert's altnames: DNS:zk.example.org";

    const found = [
      coded("ERR_TLS_CERT_ALTNAME_INVALID", { reason }),
      coded("ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE"),
      coded("CERT_REVOKED"),
    ].map((error) => tlsFailure(error, address, ours).message);

    assertEquals(found, [
      `Cannot connect to zk1:2281 by TLS: its certificate is for another host (${reason})`,
      "Cannot connect to zk1:2281 by TLS: it does not accept the client certificate (bad certificate)",
      "Cannot connect to zk1:2281 by TLS: its certificate is not valid (CERT_REVOKED)",
    ]);
  });
});

describe("TlsError.isPermanent", () => {
  it("is true but for a server that hung up, which may just start", () => {
    const codes = ["CERT_HAS_EXPIRED", "ECONNRESET"];

    const found = codes.map((code) =>
      tlsFailure(coded(code), address, {}) as TlsError
    );

    assertEquals(found.map(({ isPermanent }) => isPermanent), [true, false]);
  });
});

describe("allTlsFailures()", () => {
  it("has the reason of every server, and the code of the latest", () => {
    const failures = ["zk1", "zk2"].map((host, i) => {
      const code = ["CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT"][i];
      return tlsFailure(coded(code), { host, port: 2281 }, {}) as TlsError;
    });

    const all = allTlsFailures(failures);

    assertEquals([all.code, all.server, all.failures], [
      "CertificateSelfSigned",
      "zk2:2281",
      failures,
    ]);
    assertEquals(
      all.message,
      failures.map(({ message }) => message).join("; "),
    );
  });
});

describe("isTlsAlert()", () => {
  it("knows an alert of every version, and takes no packet for one", () => {
    const chunks = [
      [21, 3, 1, 0, 2, 2, 70],
      [21, 3, 3, 0, 2, 2, 40],
      [0, 0, 0, 37, 0, 0, 0, 0],
      [21, 3],
      [22, 3, 3, 0],
    ];

    const found = chunks.map((chunk) => isTlsAlert(Uint8Array.from(chunk)));

    assertEquals(found, [true, true, false, false, false]);
  });
});
