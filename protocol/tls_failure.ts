// What an error of a TLS library means: one TlsError, whatever the runtime called it.
// Pure; knows the codes of OpenSSL (Node), BoringSSL (Bun) and rustls behind node:tls (Deno).
// Used by connection.ts, sessions.ts and four_letter.ts.

import { TlsError, type TlsErrorCode } from "./errors.ts";
import { type Address, formatAddress } from "./servers.ts";
import type { TlsOptions } from "./transport/mod.ts";

/** By the runtime's code: the same on all three, as they are the names of X.509's own checks. */
const byCode: Readonly<Record<string, TlsErrorCode>> = {
  CERT_HAS_EXPIRED: "CertificateExpired",
  CERT_NOT_YET_VALID: "CertificateNotYetValid",
  DEPTH_ZERO_SELF_SIGNED_CERT: "CertificateSelfSigned",
  SELF_SIGNED_CERT_IN_CHAIN: "CertificateUntrusted",
  UNABLE_TO_GET_ISSUER_CERT: "CertificateUntrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "CertificateUntrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "CertificateUntrusted",
  CERT_UNTRUSTED: "CertificateUntrusted",
  CERT_SIGNATURE_FAILURE: "CertificateUntrusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "CertificateNameMismatch",
  ERR_SSL_WRONG_VERSION_NUMBER: "ServerNotTls",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "ServerNotTls",
  ERR_SSL_HTTP_REQUEST: "ServerNotTls",
  ERR_ZKLOCK_TLS_OPTIONS: "TlsOptionsUnusable",
  ECONNRESET: "HandshakeClosed",
  EPIPE: "HandshakeClosed",
};

/** Other complaints about a certificate, as X.509's checks are called. */
const aboutCertificate =
  /^(?:CERT|CRL|INVALID|PATH_LENGTH|HOSTNAME|UNABLE_TO|ERROR_IN_CERT|ERR_TLS_CERT)_/;

/** What a server says when it will not go on, e.g. BAD_CERTIFICATE. */
const alert = /^ERR_SSL_[A-Z0-9]+(?:_\d)?_ALERT_(\w+)$/;

/** Alerts that are about our certificate, or that there is none. */
const aboutOurs = new Set([
  "BAD_CERTIFICATE",
  "UNSUPPORTED_CERTIFICATE",
  "CERTIFICATE_REVOKED",
  "CERTIFICATE_EXPIRED",
  "CERTIFICATE_UNKNOWN",
  "CERTIFICATE_REQUIRED",
  "UNKNOWN_CA",
  "ACCESS_DENIED",
  "NO_CERTIFICATE",
]);

const words: Readonly<Record<TlsErrorCode, string>> = {
  CertificateUntrusted:
    "its certificate is signed by no authority that is trusted",
  CertificateSelfSigned: "its certificate is self-signed, and not trusted",
  CertificateExpired: "its certificate has expired",
  CertificateNotYetValid: "its certificate is not valid yet",
  CertificateNameMismatch: "its certificate is for another host",
  CertificateInvalid: "its certificate is not valid",
  ClientCertificateRequired: "it asks for a client certificate",
  ClientCertificateRefused: "it does not accept the client certificate",
  TlsOptionsUnusable: "the options cannot be used",
  HandshakeRefused: "it refused the handshake",
  HandshakeClosed:
    "it hung up during the handshake: it is not ready, does not speak TLS here, or does not accept us",
  ServerNotTls: "it does not speak TLS here",
  ServerExpectsTls: "it speaks TLS here, and was spoken to without",
};

/** A failure to connect by TLS, by name; errors that are not about TLS, such as ECONNREFUSED, stay as they are. */
export function tlsFailure(
  error: Error,
  address: Address,
  tls: TlsOptions,
): Error {
  const { code } = error as { code?: unknown };
  if (typeof code !== "string" || error instanceof TlsError) return error;
  // Reset while still connecting, by TCP: then there was no handshake.
  const { syscall } = error as { syscall?: unknown };
  if (syscall === "connect") return error;
  const found = meaning(code, tls);
  if (found === undefined) return error;
  return tlsError(found, address, detail(code, error, found), error);
}

/** Whether the first bytes of a server are a TLS alert: no packet of ZooKeeper is so long. */
export function isTlsAlert(bytes: Uint8Array): boolean {
  return bytes.length >= 3 && bytes[0] === 0x15 && bytes[1] === 3 &&
    bytes[2] <= 4;
}

/** We spoke in plain, and were answered in TLS. */
export function tlsExpected(address: Address): TlsError {
  return tlsError("ServerExpectsTls", address);
}

/** One error for all servers: the latest, with a message that has them all. */
export function allTlsFailures(failures: readonly TlsError[]): TlsError {
  const last = failures.at(-1)!;
  const message = failures.map(({ message }) => message).join("; ");
  const { code, server, cause } = last;
  return new TlsError(code, server, message, { cause, failures });
}

function meaning(code: string, tls: TlsOptions): TlsErrorCode | undefined {
  const known = byCode[code];
  if (known !== undefined) return known;
  if (aboutCertificate.test(code)) return "CertificateInvalid";
  const said = alert.exec(code)?.[1];
  // Of a server that is in trouble itself, and may be well again.
  if (said === "INTERNAL_ERROR" || said === "USER_CANCELLED") {
    return "HandshakeClosed";
  }
  if (said === "CERTIFICATE_REQUIRED") return "ClientCertificateRequired";
  if (said !== undefined && aboutOurs.has(said)) {
    return tls.cert === undefined
      ? "ClientCertificateRequired"
      : "ClientCertificateRefused";
  }
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") {
    return "HandshakeRefused";
  }
  return undefined;
}

function tlsError(
  code: TlsErrorCode,
  address: Address,
  detail = "",
  cause?: Error,
): TlsError {
  const server = formatAddress(address);
  const message = `Cannot connect to ${server} by TLS: ${words[code]}${detail}`;
  return new TlsError(code, server, message, { cause });
}

/** What else there is to know, in the same words on every runtime where that can be. */
function detail(code: string, error: Error, found: TlsErrorCode): string {
  const { reason } = error as { reason?: unknown };
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID" && typeof reason === "string") {
    return ` (${reason.trim()})`;
  }
  if (found === "TlsOptionsUnusable") return `: ${error.message}`;
  const said = alert.exec(code)?.[1].toLowerCase().replaceAll("_", " ");
  if (said === "handshake failure") {
    // OpenSSL's servers say no more, up to TLS 1.2.
    return " (no cipher in common, or it asks for a client certificate)";
  }
  if (said !== undefined) return ` (${said})`;
  const isVague = found === "CertificateInvalid" ||
    found === "HandshakeRefused";
  return isVague ? ` (${code})` : "";
}
