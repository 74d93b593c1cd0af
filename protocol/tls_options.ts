// The option tls of connect(), checked before a byte is sent.
// Pure: reads PEM as text; whether a key fits its certificate is for the transport to find out.
// Used by options.ts.

import type { TlsOptions } from "./transport/mod.ts";

const names = ["ca", "cert", "key", "serverName", "rejectUnauthorized"];

/** What a PEM text must have at least once. */
const blocks = {
  certificate: /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/,
  key: /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/,
};

/** Both forms there are: of PKCS#8, and the older one. */
const encrypted = /-----BEGIN ENCRYPTED PRIVATE KEY-----|\bENCRYPTED\s*$/m;

/** Checks the option, and copies it. Throws a TypeError that names what is wrong, and never shows a value. */
export function readTls(
  tls: boolean | TlsOptions | undefined,
): TlsOptions | undefined {
  if (tls === undefined || tls === false) return undefined;
  if (tls === true) return {};
  if (typeof tls !== "object" || tls === null || Array.isArray(tls)) {
    throw bad("tls", "neither a boolean nor options");
  }
  const unknown = Object.keys(tls).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw bad(`tls.${unknown}`, `there are only ${names.join(", ")}`);
  }
  const { ca, cert, key, serverName, rejectUnauthorized } = tls;
  checkAuthorities(ca);
  checkPem("cert", cert, "certificate");
  if (typeof key === "string" && encrypted.test(key)) {
    throw bad("tls.key", "it is encrypted; decrypt it first");
  }
  checkPem("key", key, "key");
  if ((cert === undefined) !== (key === undefined)) {
    const [given, missing] = cert ? ["cert", "key"] : ["key", "cert"];
    throw bad(`tls.${given}`, `it needs tls.${missing}`);
  }
  checkName(serverName);
  if (!["undefined", "boolean"].includes(typeof rejectUnauthorized)) {
    throw bad("tls.rejectUnauthorized", "not a boolean");
  }
  return typeof ca === "object" ? { ...tls, ca: [...ca] } : { ...tls };
}

function checkAuthorities(ca: TlsOptions["ca"]): void {
  if (ca === undefined || typeof ca === "string") {
    return checkPem("ca", ca, "certificate");
  }
  if (!Array.isArray(ca)) throw bad("tls.ca", "neither text nor a list");
  // An empty list would trust nobody, or everybody the runtime does.
  if (ca.length === 0) throw bad("tls.ca", "the list is empty");
  ca.forEach((pem: unknown, i) => {
    if (pem === undefined) throw bad(`tls.ca[${i}]`, "not text");
    checkPem(`ca[${i}]`, pem, "certificate");
  });
}

function checkPem(
  name: string,
  pem: unknown,
  kind: "certificate" | "key",
): void {
  if (pem === undefined) return;
  if (typeof pem !== "string") throw bad(`tls.${name}`, "not text");
  if (pem.trim() === "") throw bad(`tls.${name}`, "it is empty");
  if (blocks[kind].test(pem)) return;
  // What stands there may be a key in the wrong place, or the name of a file.
  throw bad(
    `tls.${name}`,
    `no ${kind} in PEM form (the text itself, not the name of a file)`,
  );
}

function checkName(serverName: unknown): void {
  if (serverName === undefined) return;
  if (typeof serverName !== "string") throw bad("tls.serverName", "not text");
  if (!/^[\p{L}\p{N}._:-]+$/u.test(serverName)) {
    throw bad("tls.serverName", "not the name of a host");
  }
}

function bad(option: string, why: string): TypeError {
  return new TypeError(`Cannot use ${option}: ${why}`);
}
