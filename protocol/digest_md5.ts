// SASL's DIGEST-MD5 as ZooKeeper's servers do it: a challenge, a response, and the server's own proof (RFC 2831).
// Pure: knows no packets, no sessions and no randomness of its own.
// Used by options.ts, which makes one exchange for each connection; the embedded server checks with the same sums.

import { AuthFailedError } from "./errors.ts";
import type { SaslMechanism } from "./host.ts";
import { md5 } from "./md5.ts";

/** What both sides know when a proof is made. Texts of the wire have one character for each byte. */
export interface Proof {
  user: string;
  password: string;
  realm: string;
  nonce: string;
  cnonce: string;
  uri: string;
  /** The server takes UTF-8; otherwise everything is ISO 8859-1. */
  isUtf8: boolean;
}

/** Name of the service and of its host, which are the same for all servers (ZooKeeperSaslServer, SaslServerPrincipal). */
const uri = "zookeeper/zk-sasl-md5";
/** Each exchange proves once, with a nonce of its own. */
const count = "00000001";
/** RFC 2831, 2.1.1: a challenge has fewer bytes than this. */
const longestChallenge = 2048;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The client's side of one exchange.
 *
 * @param cnonce Anything that was never used before, in letters and digits.
 */
export class DigestMd5 implements SaslMechanism {
  readonly #user: string;
  readonly #password: string;
  readonly #cnonce: string;
  /** What the server has to send to show that it knows the password. */
  #expected: string | undefined;

  constructor(user: string, password: string, cnonce: string) {
    this.#user = user;
    this.#password = password;
    this.#cnonce = cnonce;
  }

  answer(token: Uint8Array): Uint8Array | null {
    if (token.length >= longestChallenge) throw failed("its token is too long");
    const said = directivesIn(token);
    if (this.#expected === undefined) return this.#respond(said);
    if (only(said, "rspauth") === this.#expected) return null;
    throw failed("it did not prove that it knows the password");
  }

  #respond(challenge: Directives): Uint8Array {
    const nonce = only(challenge, "nonce");
    if (!nonce) throw failed("its challenge has no nonce");
    const algorithm = only(challenge, "algorithm");
    if (algorithm !== "md5-sess") {
      throw failed("its challenge is not one of DIGEST-MD5");
    }
    const qop = only(challenge, "qop") ?? "auth";
    if (!qop.split(",").some((each) => each.trim() === "auth")) {
      throw failed("it demands signed or encrypted packets");
    }
    const charset = only(challenge, "charset");
    if (charset !== undefined && charset.toLowerCase() !== "utf-8") {
      throw failed("its charset is unknown");
    }
    const proof: Proof = {
      user: this.#user,
      password: this.#password,
      realm: challenge.get("realm")?.[0] ?? "",
      nonce,
      cnonce: this.#cnonce,
      uri,
      isUtf8: charset !== undefined,
    };
    if (!proof.isUtf8 && !(isLatin1(this.#user) && isLatin1(this.#password))) {
      throw failed("it takes only the characters of ISO 8859-1");
    }
    this.#expected = proofOf(proof, "");
    return bytesOf(responseText(proof, challenge.has("realm")));
  }
}

function responseText(proof: Proof, hasRealm: boolean): string {
  const { user, realm, nonce, cnonce, isUtf8 } = proof;
  return [
    ...isUtf8 ? ["charset=utf-8"] : [],
    `username=${quoted(isUtf8 ? bytesAsText(user) : user)}`,
    ...hasRealm ? [`realm=${quoted(realm)}`] : [],
    `nonce=${quoted(nonce)}`,
    `nc=${count}`,
    `cnonce=${quoted(cnonce)}`,
    `digest-uri=${quoted(uri)}`,
    "maxbuf=65536",
    `response=${proofOf(proof, "AUTHENTICATE")}`,
    "qop=auth",
  ].join(",");
}

/** What proves that somebody knows the password, in hexadecimal: the client's with "AUTHENTICATE", the server's with "". */
export function proofOf(proof: Proof, purpose: "AUTHENTICATE" | ""): string {
  const { isUtf8, nonce, cnonce } = proof;
  const realm = isUtf8 ? decoded(proof.realm) : proof.realm;
  const secret = [proof.user, realm, proof.password].map(hashable).join(":");
  const a1 = `${hash(secret)}:${nonce}:${cnonce}`;
  const a2 = `${purpose}:${proof.uri}`;
  return hex(
    hash(
      [hex(hash(a1)), nonce, count, cnonce, "auth", hex(hash(a2))].join(":"),
    ),
  );
}

/** Names and values of a token, as often as each was given. */
export type Directives = ReadonlyMap<string, readonly string[]>;

const name = /[!#$%&'*+\-.^_`|~\w]+/.source;
const directive = new RegExp(
  `[\\s,]*(${name})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\[^])*)"|(${name}))\\s*(?:,|$)`,
  "y",
);

/** Takes a token apart. Throws an AuthFailedError. */
export function directivesIn(token: Uint8Array): Directives {
  const text = textOf(token).replace(/[\s,\0]+$/, "");
  const found = new Map<string, string[]>();
  directive.lastIndex = 0;
  while (directive.lastIndex < text.length) {
    const match = directive.exec(text);
    if (match === null) throw failed("its token cannot be read");
    const [, key, inQuotes, bare] = match;
    const value = inQuotes?.replace(/\\([^])/g, "$1") ?? bare;
    const values = found.get(key.toLowerCase());
    if (values === undefined) found.set(key.toLowerCase(), [value]);
    else values.push(value);
  }
  return found;
}

function only(said: Directives, key: string): string | undefined {
  const values = said.get(key);
  if (values === undefined || values.length === 1) return values?.[0];
  throw failed(`its token has ${key} more than once`);
}

function failed(why: string): AuthFailedError {
  return new AuthFailedError("sasl", {
    message:
      `Cannot authenticate by SASL: the server cannot be trusted: ${why}`,
  });
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function isLatin1(text: string): boolean {
  return !/[^\0-\xff]/.test(text);
}

/** RFC 2831, 2.1.2.1: what can be ISO 8859-1 is hashed as that, also where it is sent as UTF-8. */
function hashable(text: string): string {
  return isLatin1(text) ? text : bytesAsText(text);
}

/** The bytes of the text in UTF-8, one character for each. */
function bytesAsText(text: string): string {
  return textOf(new TextEncoder().encode(text));
}

function decoded(text: string): string {
  try {
    return utf8.decode(bytesOf(text));
  } catch {
    return text;
  }
}

function textOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

function hash(text: string): string {
  return textOf(md5(bytesOf(text)));
}

function hex(text: string): string {
  return Array.from(
    text,
    (char) => char.charCodeAt(0).toString(16).padStart(2, "0"),
  ).join("");
}
