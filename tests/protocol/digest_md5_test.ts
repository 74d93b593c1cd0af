// DIGEST-MD5: the proofs of RFC 2831 and of real servers, and challenges that are not to be trusted.
// Pure: no packets, no sessions.

import { assertEquals, AssertionError, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { DigestMd5, directivesIn, proofOf } from "../../protocol/digest_md5.ts";
import { AuthFailedError } from "../../protocol/errors.ts";

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function text(bytes: Uint8Array | null): string {
  return new TextDecoder().decode(bytes!);
}

const good =
  'realm="zk-sasl-md5",nonce="abc+/",charset=utf-8,algorithm=md5-sess';

describe("proofOf()", () => {
  // RFC 2831, section 4.
  const chris = {
    user: "chris",
    password: "secret",
    realm: "elwood.innosoft.com",
    nonce: "OA6MG9tEQGm2hh",
    cnonce: "OA6MHXh6VqTrRk",
    uri: "imap/elwood.innosoft.com",
    isUtf8: true,
  };

  it("is that of the RFC's client and server", () => {
    const proofs = [proofOf(chris, "AUTHENTICATE"), proofOf(chris, "")];

    assertEquals(proofs, [
      "d388dad90d4bbd760a152321f2143af7",
      "ea40f60335c427b5527b84dbabcdfffd",
    ]);
  });
});

describe("DigestMd5", () => {
  /** Taken down from ZooKeeper 3.8.0: what its server proved to us is not of our making. */
  const recorded = [
    [
      "anna",
      "secret",
      "9Q+htmbTBLKj9kKCTZg9HXcLh+Fa3QD5GKRVlXiG",
      "3n2k3g22504y21732mr4o4b5n1j201w",
      "bd946b32ff5421a0401b5875a45c4b24",
    ],
    [
      'q"u,o=t\\e',
      'p",w\\d',
      "LauhGJScG5BUk2uhzZx4RUJY90nqd0iWm9XnTA7U",
      "h2m6d4g226i4y63323d482v6n323i1x",
      "3159a0abbe7c4b3e645a5e88f189e55b",
    ],
    [
      "gräte",
      "gräßlich",
      "2nIZUTlmeDsVo5KXsY1vKt9xWiMZKeHhtyFCsZns",
      "44184y1b3o52r53282065z2l2s191w",
      "4d0ab4530c4c2fff07e5d99ad59e86e6",
    ],
    [
      "иван",
      "пароль",
      "C43GNSVkPauY5CxWgIubC4656aliK+QZ1PO0Ep8R",
      "7352y5h4l1p1z4n1np5r5u46356c2i",
      "37ffbbc9280ac9eeab4c84a699eecf67",
    ],
  ];
  for (const [user, password, nonce, cnonce, rspauth] of recorded) {
    it(`takes the proof that a real server gave for ${user}`, () => {
      const exchange = new DigestMd5(user, password, cnonce);
      exchange.answer(bytes(good.replace("abc+/", nonce)));

      const answer = exchange.answer(bytes(`rspauth=${rspauth}`));

      assertEquals(answer, null);
    });
  }

  it("answers with everything RFC 2831 asks for, in quotes where it has to be", () => {
    const exchange = new DigestMd5('a"\\ü', "secret", "mine");

    const answer = text(exchange.answer(bytes(good)));

    assertEquals(
      answer.replace(/response=[0-9a-f]{32}/, "response=HEX"),
      'charset=utf-8,username="a\\"\\\\ü",realm="zk-sasl-md5",nonce="abc+/",' +
        'nc=00000001,cnonce="mine",digest-uri="zookeeper/zk-sasl-md5",' +
        "maxbuf=65536,response=HEX,qop=auth",
    );
  });

  it("never says the password", () => {
    const exchange = new DigestMd5("anna", "Geheimnis", "mine");

    const answer = text(exchange.answer(bytes(good)));

    assertEquals(answer.includes("Geheimnis"), false);
  });

  it("without a charset sends ISO 8859-1", () => {
    const exchange = new DigestMd5("ü", "ä", "mine");

    const answer = exchange.answer(bytes('nonce="n",algorithm=md5-sess'))!;

    const latin1 = Array.from(answer, (byte) => String.fromCharCode(byte));
    const [first] = latin1.join("").split(",");
    assertEquals(first, 'username="ü"');
  });

  const offers = [
    ["several qops", `${good},qop="auth-conf, auth"`],
    ["names in capitals, and blanks", good.replace("nonce=", " NONCE = ")],
    ["what nobody knows", `${good},future="x, y",maxbuf=1`],
    ["several realms", `realm="first",${good}`],
    ["empty elements", `,, ${good},,`],
  ];
  for (const [what, challenge] of offers) {
    it(`takes a challenge with ${what}`, () => {
      const exchange = new DigestMd5("anna", "secret", "mine");

      const said = directivesIn(exchange.answer(bytes(challenge))!);

      assertEquals(said.get("nonce"), ["abc+/"]);
    });
  }

  const bad: Array<[string, string | Uint8Array]> = [
    ["that is empty", ""],
    ["without a nonce", good.replace(/nonce="[^"]*",/, "")],
    ["with an empty nonce", good.replace("abc+/", "")],
    ["with two nonces", `${good},nonce="x"`],
    ["of another algorithm", good.replace("md5-sess", "md5")],
    ["without an algorithm", good.replace(",algorithm=md5-sess", "")],
    ["that demands encryption", `${good},qop="auth-conf,auth-int"`],
    ["of an unknown charset", good.replace("utf-8", "utf-16")],
    ["with two charsets", `${good},charset=utf-8`],
    ["with an open quote", good.replace('abc+/"', "abc")],
    ["without values", "nonce,realm"],
    ["of 2048 bytes", `${good},x="${"y".repeat(2048)}"`],
    ["of a megabyte of quotes", '"'.repeat(1 << 20)],
    ["of zeros", new Uint8Array(100)],
    ["of bytes that are no text", new Uint8Array(100).fill(0xff)],
    ["that is the proof, before there is anything to prove", "rspauth=00"],
  ];
  for (const [what, challenge] of bad) {
    it(`refuses a challenge ${what}`, () => {
      const exchange = new DigestMd5("anna", "Geheimnis", "mine");

      const error = assertThrows(
        () =>
          exchange.answer(
            typeof challenge === "string" ? bytes(challenge) : challenge,
          ),
        AuthFailedError,
      );

      assertEquals(error.scheme, "sasl");
      if (`${error.stack}`.includes("Geheimnis")) throw new AssertionError();
    });
  }

  it("without a charset refuses what is not ISO 8859-1", () => {
    const exchange = new DigestMd5("anna", "пароль", "mine");

    assertThrows(
      () => exchange.answer(bytes('nonce="n",algorithm=md5-sess')),
      AuthFailedError,
    );
  });

  const wrongProofs = [
    "",
    "rspauth=00000000000000000000000000000000",
    "rspauth",
    'rspauth=""',
    good,
    `rspauth=${"0".repeat(4096)}`,
  ];
  for (const proof of wrongProofs) {
    it(`does not believe a server that proves itself by "${proof.slice(0, 50)}"`, () => {
      const exchange = new DigestMd5("anna", "secret", "mine");
      exchange.answer(bytes(good));

      assertThrows(() => exchange.answer(bytes(proof)), AuthFailedError);
    });
  }

  it("does not believe a server that sends our own proof back", () => {
    const exchange = new DigestMd5("anna", "secret", "mine");
    const said = directivesIn(exchange.answer(bytes(good))!);

    assertThrows(
      () => exchange.answer(bytes(`rspauth=${said.get("response")}`)),
      AuthFailedError,
    );
  });
});
