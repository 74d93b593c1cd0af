// Who the client is, as it is proved on one connection after the other: by SASL first, then by credentials.
// Knows no mechanism, no sockets and no timers: a server that never answers SASL is given up with the handshake.
// Kept by session.ts.

import { errorName, errorNumbers } from "./codes.ts";
import { AuthFailedError, ProtocolError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import type { Credential, SaslMechanism, SessionSettings } from "./host.ts";
import { Reader } from "./jute.ts";
import { auth, sasl } from "./operations.ts";
import { ReplyHeader, SaslToken } from "./records.ts";
import { Fifo } from "./requests.ts";

/** A SASL exchange that goes on. */
interface Talk {
  mechanism: SaslMechanism;
  /** Whether we have said what proves us. */
  hasProved: boolean;
  /** Number of the request whose reply is next. */
  xid: number;
}

/** What a session proves of itself. Whatever is essential and refused is thrown as an AuthFailedError. */
export class Identity {
  readonly #settings: Pick<SessionSettings, "credentials" | "sasl">;
  readonly #exchange: Exchange;
  /** Credentials sent on this connection and not answered. */
  readonly #shown = new Fifo<Credential>();
  #talk: Talk | undefined;
  /** How often in a row a server hung up on what should have proved us. */
  #hangUps = 0;

  constructor(
    settings: Pick<SessionSettings, "credentials" | "sasl">,
    exchange: Exchange,
  ) {
    this.#settings = settings;
    this.#exchange = exchange;
  }

  /** True while SASL goes on: every packet belongs to it. */
  get isTalking(): boolean {
    return this.#talk !== undefined;
  }

  /** Begins SASL, with an empty token, if that is wanted; then nothing else may be sent. */
  talk(): void {
    const mechanism = this.#settings.sasl?.();
    if (mechanism === undefined) return;
    this.#talk = {
      mechanism,
      hasProved: false,
      xid: this.#say(new Uint8Array(0)),
    };
  }

  /** A packet of the server while isTalking. Throws a ProtocolError for what is no reply. */
  hear(packet: Uint8Array): void {
    const talk = this.#talk!;
    const reader = new Reader(packet);
    const { xid, err } = ReplyHeader.read(reader);
    if (xid !== talk.xid) {
      throw new ProtocolError(
        `Cannot match reply ${xid}: ${talk.xid} is next`,
        0,
      );
    }
    if (err !== 0) throw refused(err);
    const { token } = SaslToken.read(reader);
    if (token === null) throw unproved();
    const answer = talk.mechanism.answer(token);
    if (answer === null) {
      this.#talk = undefined;
      this.#hangUps = 0;
      return;
    }
    talk.xid = this.#say(answer);
    talk.hasProved = true;
  }

  /** Shows a credential. */
  show(credential: Credential): void {
    const { scheme, auth: secret } = credential;
    this.#shown.push(credential);
    this.#exchange.write(auth, { type: 0, scheme, auth: secret });
  }

  /** Shows all credentials there are. */
  showAll(): void {
    for (const credential of this.#settings.credentials) this.show(credential);
  }

  /** The server has looked at the oldest credential it was shown. */
  answered(err: number): void {
    const credential = this.#shown.shift();
    if (credential === undefined) return;
    const { credentials } = this.#settings;
    const error = err === 0
      ? undefined
      : new AuthFailedError(credential.scheme);
    credential.settle?.(error);
    credential.settle = undefined;
    if (error === undefined) return;
    const at = credentials.indexOf(credential);
    if (at >= 0) credentials.splice(at, 1);
    // Otherwise the server hangs up now, and the session goes on without it.
    if (credential.essential) throw error;
  }

  /**
   * The server has ended the connection. 3.4 does so, without a word, to who has
   * a wrong password (measured): once it may have been an accident, twice is a
   * refusal.
   */
  hungUp(): AuthFailedError | undefined {
    if (!this.#talk?.hasProved || ++this.#hangUps < 2) return undefined;
    return new AuthFailedError("sasl", {
      message: "Cannot authenticate by SASL: the server hung up, twice, " +
        "as 3.4 does when it refuses user or password",
    });
  }

  /** The connection is gone. */
  lost(): void {
    this.#shown.drain();
    this.#talk = undefined;
  }

  #say(token: Uint8Array): number {
    return this.#exchange.numbered(sasl, { token });
  }
}

/** The server serves only clients that have authenticated, and this one has not. */
export function demanded(): AuthFailedError {
  const { SessionClosedRequireSaslAuth: number } = errorNumbers;
  return new AuthFailedError("sasl", {
    message: "Cannot authenticate: the server serves nobody who has not, " +
      `and no credential of this client is enough: ${
        errorName(number)
      } (${number})`,
  });
}

function refused(err: number): AuthFailedError {
  const why = err === errorNumbers.Unimplemented
    ? "the server does not know SASL"
    : "the server refused user or password";
  return new AuthFailedError("sasl", {
    message: `Cannot authenticate by SASL: ${why}: ${errorName(err)} (${err})`,
  });
}

function unproved(): AuthFailedError {
  return new AuthFailedError("sasl", {
    message: "Cannot authenticate by SASL: the server goes on without it: " +
      "it is not set up for it, or refused user or password",
  });
}
