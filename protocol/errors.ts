// The error classes of the client, and how a reply's error number becomes one of them.
// Knows nothing of sessions, sockets or locks.
// Thrown by every file of protocol/; lock/errors.ts builds on the same base.

import { type ErrorCode, errorName } from "./codes.ts";

/** Whether a request that failed may have been carried out by the server. */
export type Outcome = "not-sent" | "unknown";

/** Base of every error of this library that is not a plain TypeError or RangeError. */
export class ZooKeeperError extends Error {
  /** The name of the class. */
  override name = "ZooKeeperError";
  /** A short, stable name for what happened, to switch on. */
  readonly code: string;

  /** Made by the library. */
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Fields of a {@linkcode ServerError}. */
export interface ServerErrorInit {
  /** The error number of the reply. */
  number: number;
  /** The operation that failed, e.g. `create`. */
  op: string;
  /** The path it was about, as the caller wrote it; null where there is none. */
  path: string | null;
  /** The transaction id of the reply, or null inside a multi. */
  zxid: bigint | null;
}

/** The server answered a request with an error. Nothing was changed by it. */
export class ServerError extends ZooKeeperError {
  /** The name of the class. */
  override name = "ServerError";
  /** The name of what the server answered. */
  declare readonly code: ErrorCode;
  /** The number behind `code`; also kept for numbers this client does not know. */
  readonly number: number;
  /** The operation that failed, e.g. `create`. */
  readonly op: string;
  /** The path it was about, as the caller wrote it; null where there is none. */
  readonly path: string | null;
  /** The transaction id of the reply, or null inside a multi. */
  readonly zxid: bigint | null;

  /** Made by the library. */
  constructor(init: ServerErrorInit, message?: string) {
    const code = errorName(init.number);
    const what = init.path === null ? init.op : `${init.op} ${init.path}`;
    super(
      code,
      message ?? `Cannot ${what}: ${code} (${init.number})`,
    );
    this.number = init.number;
    this.op = init.op;
    this.path = init.path;
    this.zxid = init.zxid;
  }
}

/** Why one operation of a failed multi did not happen; `number` 0 means it would have worked. */
export interface FailedOp {
  /** Which operation it was: `create`, `delete`, `setData` or `check`. */
  op: string;
  /** The path as the caller wrote it. */
  path: string;
  /** Name of `number`; "Ok" for 0. "RuntimeInconsistency" marks operations behind the failed one. */
  code: ErrorCode | "Ok";
  /** The server's number for this operation. */
  number: number;
}

/** A multi was refused as a whole: nothing of it was done. */
export class MultiError extends ServerError {
  /** The name of the class. */
  override name = "MultiError";
  /** The operation that failed, as an index into the operations given. */
  readonly index: number;
  /** What the server said of each operation, in their order. */
  readonly results: readonly FailedOp[];

  /** Made by the library. */
  constructor(
    index: number,
    results: readonly FailedOp[],
    zxid: bigint | null,
    options?: ErrorOptions,
  ) {
    const failed = results[index];
    super(
      { number: failed.number, op: "multi", path: failed.path, zxid },
      `Cannot do operation ${index} of multi (${failed.op} ${failed.path}): ` +
        `${failed.code} (${failed.number})`,
    );
    this.index = index;
    this.results = results;
    if (options?.cause !== undefined) this.cause = options.cause;
  }
}

/**
 * The connection was lost before the reply came. Unless `outcome` is
 * "not-sent" the server may have carried the request out.
 */
export class ConnectionLossError extends ZooKeeperError {
  /** The name of the class. */
  override name = "ConnectionLossError";
  /** The operation that was waiting. */
  readonly op: string;
  /** The path it was about, as the caller wrote it; null where there is none. */
  readonly path: string | null;
  /** Whether the request may have been carried out. */
  readonly outcome: Outcome;

  /** Made by the library. */
  constructor(
    op: string,
    path: string | null,
    outcome: Outcome,
    options?: ErrorOptions & { message?: string },
  ) {
    const what = path === null ? op : `${op} ${path}`;
    super(
      "ConnectionLoss",
      options?.message ??
        `Lost the connection during ${what}: ` +
          (outcome === "unknown" ? "it may have happened" : "it was not sent"),
      options,
    );
    this.op = op;
    this.path = path;
    this.outcome = outcome;
  }
}

/** The code of an error by which callers decide what to do next; undefined for all that is neither a refusal nor a lost connection. */
export function codeOf(error: unknown): ErrorCode | undefined {
  if (error instanceof ServerError) return error.code;
  return error instanceof ConnectionLossError ? "ConnectionLoss" : undefined;
}

/** The session this belonged to is over: its ephemeral znodes and watches are gone or going. */
export class SessionExpiredError extends ZooKeeperError {
  /** The name of the class. */
  override name = "SessionExpiredError";
  /** The session that ended; 0n if it never began. */
  readonly sessionId: bigint;
  /** For a request: whether it may have been carried out before the session ended. */
  readonly outcome: Outcome;

  /** Made by the library. */
  constructor(
    sessionId: bigint,
    outcome: Outcome,
    options?: ErrorOptions & { message?: string },
  ) {
    super(
      "SessionExpired",
      options?.message ??
        `Session expired: 0x${sessionId.toString(16)}`,
      options,
    );
    this.sessionId = sessionId;
    this.outcome = outcome;
  }
}

/** The client was closed: nothing can be asked of it any more. */
export class ClientClosedError extends ZooKeeperError {
  /** The name of the class. */
  override name = "ClientClosedError";

  /** Made by the library. */
  constructor(message = "Client closed", options?: ErrorOptions) {
    super("ClientClosed", message, options);
  }
}

/** A server refused a credential, or could not prove that it knows it too. */
export class AuthFailedError extends ZooKeeperError {
  /** The name of the class. */
  override name = "AuthFailedError";
  /** The scheme of the refused credential. Its secret is never kept here. */
  readonly scheme: string;

  /** Made by the library. */
  constructor(scheme: string, options?: ErrorOptions & { message?: string }) {
    super(
      "AuthFailed",
      options?.message ??
        `Cannot authenticate: a server refused the credential of scheme "${scheme}"`,
      options,
    );
    this.scheme = scheme;
  }
}

/**
 * Why a connection by TLS did not come about.
 *
 * - `CertificateUntrusted`: no authority we trust has signed the server's certificate.
 * - `CertificateSelfSigned`: it is its own authority, and not one we trust.
 * - `CertificateExpired`, `CertificateNotYetValid`: by the clock of this machine.
 * - `CertificateNameMismatch`: it is for another host.
 * - `CertificateInvalid`: something else is wrong with it; the message says what.
 * - `ClientCertificateRequired`: the server wants a certificate, and we have none.
 * - `ClientCertificateRefused`: the server does not accept ours.
 * - `TlsOptionsUnusable`: `ca`, `cert` or `key` cannot be read, or do not belong together.
 * - `HandshakeRefused`: no version or cipher in common, or another refusal.
 * - `HandshakeClosed`: the server hung up during the handshake. It may not be
 *   ready, or it does not speak TLS. The one reason that may pass by itself.
 * - `ServerNotTls`: the server answered, but not in TLS.
 * - `ServerExpectsTls`: we came without TLS, and were answered in TLS.
 */
export type TlsErrorCode =
  | "CertificateUntrusted"
  | "CertificateSelfSigned"
  | "CertificateExpired"
  | "CertificateNotYetValid"
  | "CertificateNameMismatch"
  | "CertificateInvalid"
  | "ClientCertificateRequired"
  | "ClientCertificateRefused"
  | "TlsOptionsUnusable"
  | "HandshakeRefused"
  | "HandshakeClosed"
  | "ServerNotTls"
  | "ServerExpectsTls";

/** A connection by TLS did not come about. No request was sent; keys are never kept here. */
export class TlsError extends ZooKeeperError {
  /** The name of the class. */
  override name = "TlsError";
  /** Why. The same on every runtime. */
  declare readonly code: TlsErrorCode;
  /** The server it is about, as `host:port`. */
  readonly server: string;
  /** Of connect(), where each server failed: the error of each. Otherwise empty. */
  readonly failures: readonly TlsError[];

  /** Made by the library. */
  constructor(
    code: TlsErrorCode,
    server: string,
    message: string,
    options?: ErrorOptions & { failures?: readonly TlsError[] },
  ) {
    super(code, message, options);
    this.server = server;
    this.failures = options?.failures ?? [];
  }

  /** Whether trying again is in vain until somebody changes a configuration. */
  get isPermanent(): boolean {
    return this.code !== "HandshakeClosed";
  }
}

/** A peer sent bytes that are not the ZooKeeper protocol. The connection they came on is dropped. */
export class ProtocolError extends ZooKeeperError {
  /** The name of the class. */
  override name = "ProtocolError";
  /** Where in the packet it went wrong, in bytes from its start (length prefix not counted). */
  readonly offset: number;

  /** Made by the library. */
  constructor(message: string, offset: number, options?: ErrorOptions) {
    super("Protocol", message, options);
    this.offset = offset;
  }
}
