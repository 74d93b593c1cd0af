// Options of connect(), checked before a byte is sent and filled up with defaults.
// Knows no sessions.
// Used by client.ts.

import type { Auth, ConnectOptions } from "./api.ts";
import { permissions } from "./codes.ts";
import { hostEnvironment } from "./environment.ts";
import { aclOf, bytesOf, type Scope } from "./arguments.ts";
import { auth, type Operation } from "./operations.ts";
import { Outgoing } from "./outgoing.ts";
import { normalizeChroot } from "./path.ts";
import type { Acl } from "./znode.ts";
import { parseServers, ServerRing } from "./servers.ts";
import type { Credential } from "./host.ts";
import type { SessionsSettings } from "./sessions.ts";
import { checkWorkerTls, isWorker, pickTransport } from "./transport/mod.ts";

/** Everything a client needs to know. */
export type Settings = Omit<SessionsSettings, "inward"> & {
  scope: Scope;
  connectTimeout: number;
};

/** Everybody may do everything. */
const open: readonly Acl[] = [
  { perms: permissions.all, scheme: "world", id: "anyone" },
];

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
  if (options.tls && options.transport === undefined && !isWorker()) {
    throw new TypeError(
      "Cannot connect: the built-in transport has no tls yet",
    );
  }
  checkFunction("transport", options.transport);
  checkFunction("onPacket", options.onPacket);
  const timeout = wholeNumber("sessionTimeout", options, defaultTimeout);
  const environment = options.environment ?? hostEnvironment;
  if (isWorker()) {
    // Where a worker may not connect, this says so by name.
    environment.after(0, () => {})();
    const { tls, transport } = options;
    if (typeof tls === "object" && transport === undefined) checkWorkerTls(tls);
  }
  return {
    scope: { chroot: chroot || parsed.chroot, acl: aclOf(options.acl ?? open) },
    connectTimeout: wholeNumber("connectTimeout", options, timeout),
    environment,
    transport: options.transport ?? pickTransport,
    tls: options.tls === true ? {} : options.tls || undefined,
    onPacket: options.onPacket,
    ring: new ServerRing(parsed.addresses, (b) => environment.random(b)),
    session: {
      timeout,
      readOnly: options.readOnly ?? false,
      maxPacket: wholeNumber("maxPacket", options, defaultMaxPacket),
      credentials: (options.auth ?? []).map((auth) => credentialOf(auth, true)),
    },
  };
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
