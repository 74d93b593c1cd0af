// The server's side of SASL DIGEST-MD5: a challenge for each exchange, and whether the answer proves a password.
// Knows users and tokens; no packets, no connections.
// Used by peer.ts. Source: ZooKeeperSaslServer, and the JDK's DIGEST-MD5 below it.

import { directivesIn, proofOf } from "../protocol/digest_md5.ts";

/** What becomes of a token: an answer, refusal, or an answer that ends it with a proved user. */
export type SaslOutcome =
  | { token: Uint8Array; user?: string }
  | "refused";

/** Passwords by user. Looked at when somebody proves, so they may change. */
export type SaslUsers = Readonly<Record<string, string>>;

const realm = "zk-sasl-md5";
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** One exchange. */
export class SaslExchange {
  readonly #users: SaslUsers;
  readonly #nonce: string;
  #hasChallenged = false;

  /** @param nonce Used for nothing else, in letters and digits. */
  constructor(users: SaslUsers, nonce: string) {
    this.#users = users;
    this.#nonce = nonce;
  }

  /** Takes a token of the client. The first is empty. */
  take(token: Uint8Array): SaslOutcome {
    if (this.#hasChallenged) return this.#judge(token);
    if (token.length > 0) return "refused";
    this.#hasChallenged = true;
    return {
      token: new TextEncoder().encode(
        `realm="${realm}",nonce="${this.#nonce}",charset=utf-8,algorithm=md5-sess`,
      ),
    };
  }

  #judge(token: Uint8Array): SaslOutcome {
    try {
      const said = directivesIn(token);
      const value = (key: string) => said.get(key)?.[0] ?? "";
      const user = textOf(value("username"));
      const isFitting = value("nonce") === this.#nonce &&
        value("realm") === realm && value("nc") === "00000001" &&
        value("digest-uri") === `zookeeper/${realm}` &&
        value("qop") === "auth" && value("charset") === "utf-8" &&
        value("cnonce") !== "" && Object.hasOwn(this.#users, user);
      if (!isFitting) return "refused";
      const proof = {
        user,
        password: this.#users[user],
        realm,
        nonce: this.#nonce,
        cnonce: value("cnonce"),
        uri: value("digest-uri"),
        isUtf8: true,
      };
      if (proofOf(proof, "AUTHENTICATE") !== value("response")) {
        return "refused";
      }
      const answer = `rspauth=${proofOf(proof, "")}`;
      return { token: new TextEncoder().encode(answer), user };
    } catch {
      // What cannot be read proves nothing.
      return "refused";
    }
  }
}

/** UTF-8, of which each character here is a byte. */
function textOf(bytes: string): string {
  return utf8.decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
}
