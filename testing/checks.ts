// Refuses what no server can be told: options and names that mean nothing.
// Pure: knows the names, no server.
// Used by server.ts and mischief.ts.

import { maxRequestBytes } from "../protocol/codes.ts";
import { operationByCode } from "../protocol/operations.ts";
import type { EngineOptions } from "./engine.ts";
import { profiles } from "./profiles.ts";
import type { TestServerOptions } from "./server_api.ts";

/** Options with their defaults. Throws a TypeError or a RangeError that names the one at fault. */
export function engineOptions(options: TestServerOptions): EngineOptions {
  const { version = "3.9", tick = 100 } = options;
  if (!Object.hasOwn(profiles, version)) {
    const known = Object.keys(profiles).join(", ");
    throw new TypeError(
      `Cannot start a server of version ${version}: there are ${known}`,
    );
  }
  return {
    version,
    ...positive({
      tick,
      minSessionTimeout: options.minSessionTimeout ?? 2 * tick,
      maxSessionTimeout: options.maxSessionTimeout ?? 60_000,
      reapInterval: options.reapInterval ?? 60_000,
      maxPacket: options.maxPacket ?? maxRequestBytes,
    }),
    hasTtls: options.ttl ?? true,
    hasReconfig: options.reconfig ?? false,
    saslUsers: options.sasl,
    isSaslRequired: options.requireSasl ?? false,
  };
}

function positive<T extends Record<string, number>>(options: T): T {
  for (const [name, value] of Object.entries(options)) {
    if (!(value > 0)) {
      throw new RangeError(
        `Cannot start a server: ${name} is ${value}, not above 0`,
      );
    }
  }
  return options;
}

const names: ReadonlySet<string> = new Set([
  "connect",
  ...[...operationByCode.values()].map(({ name }) => name),
]);

/** Throws a TypeError unless a request can be of that operation: a name, or a number that has none. */
export function checkOperation(what: string, op: string): void {
  if (names.has(op)) return;
  const name = operationByCode.get(Number(op))?.name;
  if (/^-?\d+$/.test(op) && name === undefined) return;
  const known = [...names].join(", ");
  throw new TypeError(
    `Cannot ${what} ${op}: ${
      name ? `its name is ${name}` : `there are ${known}`
    }`,
  );
}
