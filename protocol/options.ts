// Options of connect(), checked before a byte is sent and filled up with defaults.
// Knows no sessions.
// Used by client.ts.

import { acl } from "./acl.ts";
import type { ConnectOptions } from "./api.ts";
import type { Auth, SaslOptions } from "./credentials.ts";
import { sessionKeyOf } from "./detached.ts";
import { DigestMd5 } from "./digest_md5.ts";
import { type Environment, hostEnvironment } from "./environment.ts";
import { aclOf, bytesOf, type Scope } from "./arguments.ts";
import { auth, type Operation } from "./operations.ts";
import { Outgoing } from "./outgoing.ts";
import { normalizeChroot } from "./path.ts";
import { type Address, parseServers, ServerRing } from "./servers.ts";
import type { Credential, SaslMechanism } from "./host.ts";
import type { SessionsSettings } from "./sessions.ts";
import { readTls } from "./tls_options.ts";
import { checkWorkerTls, isWorker, pickTransport } from "./transport/mod.ts";

/** Everything a client needs to know. */
export type Settings = Omit<SessionsSettings, "inward"> & {
  scope: Scope;
  connectTimeout: number;
};

const defaultTimeout = 30_000;
const defaultMaxPacket = 16 * 1024 * 1024;
const longest = 0x7fffffff;

/** Checks what the user passed to connect(). Throws a TypeError or RangeError. */
export function readOptions(
  servers: string | readonly string[],
  options: ConnectOptions,
): Settings {
  const parsed = parseServers(servers);
  const chroot = normalizeChroot(options.chroot ?? "");
  if (chroot !== "" && parsed.chroot !== "") {
    throw new TypeError(
      `Cannot use two chroots: ${parsed.chroot} and ${chroot}`,
    );
  }
  checkFunction("transport", options.transport);
  checkFunction("onPacket", options.onPacket);
  const key = options.session === undefined
    ? undefined
    : sessionKeyOf(options.session);
  const usual = key?.timeout ?? defaultTimeout;
  const timeout = wholeNumber("sessionTimeout", options, usual);
  const environment = options.environment ?? hostEnvironment;
  if (isWorker()) {
    // Where a worker may not connect, this says so by name.
    environment.after(0, () => {})();
    const { tls, transport } = options;
    if (typeof tls === "object" && transport === undefined) checkWorkerTls(tls);
  }
  return {
    scope: {
      chroot: chroot || parsed.chroot,
      acl: aclOf(options.acl ?? acl.open),
    },
    connectTimeout: wholeNumber("connectTimeout", options, timeout),
    environment,
    transport: options.transport ?? pickTransport,
    tls: readTls(options.tls),
    onPacket: options.onPacket,
    key,
    ring: new ServerRing(parsed.addresses, (b) => environment.random(b)),
    session: {
      timeout,
      readOnly: options.readOnly ?? false,
      eager: options.eager ?? false,
      maxPacket: wholeNumber("maxPacket", options, defaultMaxPacket),
      credentials: credentialsOf(options.auth ?? []),
      sasl: saslOf(options.sasl, environment),
    },
  };
}

/** The servers, for a client that has a chroot already. Throws a TypeError. */
export function addressesIn(
  servers: string | readonly string[],
  chroot: string,
): readonly Address[] {
  const parsed = parseServers(servers);
  if (parsed.chroot !== "" && parsed.chroot !== chroot) {
    throw new TypeError(
      `Cannot change the chroot from "${chroot}" to "${parsed.chroot}"`,
    );
  }
  return parsed.addresses;
}

function credentialsOf(auth: readonly Auth[]): Credential[] {
  if (!Array.isArray(auth)) {
    throw new TypeError("Cannot use auth: not a list of { scheme, auth }");
  }
  return auth.map((each) => credentialOf(each, true));
}

/** Checks a credential, and keeps a copy of its secret. Throws a TypeError or RangeError. */
export function credentialOf(given: Auth, essential: boolean): Credential {
  const { scheme, auth: secret } = given ?? {};
  if (typeof scheme !== "string" || scheme === "") {
    throw new TypeError("Cannot use a credential: it has no scheme");
  }
  if (typeof secret !== "string" && !(secret instanceof Uint8Array)) {
    throw new TypeError(
      `Cannot use a credential of scheme "${scheme}": it has no secret`,
    );
  }
  const credential = { scheme, auth: bytesOf(secret)!.slice(), essential };
  const body = { type: 0, ...credential };
  // Throws if it is too large to be sent.
  new Outgoing().encode({ op: auth as Operation, body, path: null });
  return credential;
}

/** Adds a credential, in the place of an equal one: each is shown once on every connection. */
export function keepCredential(
  credentials: Credential[],
  credential: Credential,
): void {
  const equal = credentials.findIndex((other) =>
    !other.essential && other.settle === undefined &&
    other.scheme === credential.scheme &&
    other.auth.join() === credential.auth.join()
  );
  if (equal >= 0) credentials[equal] = credential;
  else credentials.push(credential);
}

/** What begins an exchange on each connection. Throws a TypeError. */
function saslOf(
  given: SaslOptions | undefined,
  environment: Environment,
): (() => SaslMechanism) | undefined {
  if (given === undefined) return undefined;
  const { user, password } = given ?? {};
  if (typeof user !== "string" || user === "" || typeof password !== "string") {
    throw new TypeError("Cannot use sasl: not { user, password } in text");
  }
  return () => {
    const bytes = new Uint8Array(16);
    environment.random(bytes);
    const cnonce = Array.from(
      bytes,
      (byte) => byte.toString(36).padStart(2, "0"),
    ).join("");
    return new DigestMd5(user, password, cnonce);
  };
}

function checkFunction(name: "transport" | "onPacket", value: unknown): void {
  if (value === undefined || typeof value === "function") return;
  throw new TypeError(`Cannot use ${name}: not a function: ${value}`);
}

function wholeNumber(
  name: "sessionTimeout" | "connectTimeout" | "maxPacket",
  options: ConnectOptions,
  absent: number,
): number {
  const value = options[name] ?? absent;
  if (Number.isInteger(value) && value > 0 && value <= longest) return value;
  throw new RangeError(
    `Cannot use ${name}: not a whole number from 1 to ${longest}: ${value}`,
  );
}
