// The option tls of connect(): what is taken, and what is said of what is not.
// Pure.

import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readTls } from "../../protocol/tls_options.ts";
import type { TlsOptions } from "../../protocol/transport/mod.ts";

const pem = (what: string) =>
  `-----BEGIN ${what}-----
c2VjcmV0
-----END ${what}-----
`;
const cert = pem("CERTIFICATE");
const key = pem("PRIVATE KEY");

describe("readTls()", () => {
  it("takes what there is, and leaves the rest out", () => {
    const found = [
      undefined,
      false,
      true,
      {},
      { ca: cert },
      { ca: [cert, cert], cert, key },
      { serverName: "zk.example.org", rejectUnauthorized: false },
    ].map((tls) => readTls(tls));

    assertEquals(
      found,
      [
        undefined,
        undefined,
        {},
        {},
        { ca: cert },
        { ca: [cert, cert], cert, key },
        { serverName: "zk.example.org", rejectUnauthorized: false },
      ],
    );
  });

  it("takes keys of every unencrypted form", () => {
    for (const kind of ["", "RSA ", "EC "]) {
      assertEquals(
        readTls({ cert, key: pem(`${kind}PRIVATE KEY`) })?.cert,
        cert,
      );
    }
  });

  it("keeps a copy: what is changed afterwards counts no more", () => {
    const ca = [cert];
    const given: TlsOptions = { ca };

    const kept = readTls(given)!;
    ca.push("more");
    given.serverName = "other";

    assertEquals(kept, { ca: [cert] });
  });

  const bad: Array<[string, unknown, string]> = [
    ["text", "true", "tls: neither a boolean nor options"],
    ["null", null, "tls: neither a boolean nor options"],
    ["a list", [cert], "tls: neither a boolean nor options"],
    ["an unknown option", { cafile: cert }, "tls.cafile: there are only ca, "],
    ["a certificate without a key", { cert }, "tls.cert: it needs tls.key"],
    ["a key without a certificate", { key }, "tls.key: it needs tls.cert"],
    ["an empty authority", { ca: "" }, "tls.ca: it is empty"],
    ["no authority", { ca: [] }, "tls.ca: the list is empty"],
    ["an authority that is no text", { ca: 7 }, "tls.ca: neither text nor"],
    ["one of two", { ca: [cert, 7] }, "tls.ca[1]: not text"],
    ["bytes", { ca: [new Uint8Array(3)] }, "tls.ca[0]: not text"],
    ["the name of a file", { ca: "/etc/ca.pem" }, "tls.ca: no certificate in"],
    ["an empty certificate", { cert: "\n", key }, "tls.cert: it is empty"],
    ["a key for a certificate", { cert: key, key }, "tls.cert: no certificate"],
    ["a certificate for a key", { cert, key: cert }, "tls.key: no key in PEM"],
    ["an empty key", { cert, key: "" }, "tls.key: it is empty"],
    [
      "an encrypted key",
      { cert, key: pem("ENCRYPTED PRIVATE KEY") },
      "tls.key: it is encrypted",
    ],
    [
      "an encrypted key of the older form",
      {
        cert,
        key: key.replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: X,1\n\n"),
      },
      "tls.key: it is encrypted",
    ],
    ["an empty name", { serverName: "" }, "tls.serverName: not the name"],
    ["a URL", { serverName: "https://zk" }, "tls.serverName: not the name"],
    ["a name that is none", { serverName: 7 }, "tls.serverName: not text"],
    [
      "no boolean",
      { rejectUnauthorized: 0 },
      "tls.rejectUnauthorized: not a boolean",
    ],
  ];
  for (const [what, tls, why] of bad) {
    it(`throws a TypeError for ${what}, and shows nothing of it`, () => {
      const error = assertThrows(
        () => readTls(tls as TlsOptions),
        TypeError,
        `Cannot use ${why}`,
      );

      assertEquals(error.message.includes("c2VjcmV0"), false);
    });
  }
});
