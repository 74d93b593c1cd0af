// The targets of a worker: servers outside, and an embedded one inside.
// Must not know what the suites do with them.
// Stands for tests/targets.ts in the bundle of entry.ts.

import {
  type Client,
  connect,
  type ConnectOptions,
} from "../../../protocol/mod.ts";
import { TestServer } from "../../../testing/mod.ts";
import type { Embedded, Mortal, Target } from "../../targets.ts";

export type { Mortal, Target };

/** Suites that run one after the other: everySuite(), and what one server is enough for. */
export type Part = "all" | "hosts" | "faults";

/** What the runner says of a target. */
export interface Description {
  name: string;
  version: string;
  /** Absent: to be started inside, and reached in memory. */
  servers?: string;
  /** An embedded server in the runner's process. */
  isEmbedded: boolean;
}

const settings = {
  tick: 200,
  minSessionTimeout: 400,
  maxSessionTimeout: 60_000,
  reapInterval: 1_000,
};

export function connectTo(
  { servers, transport }: Target,
  options: ConnectOptions = {},
  chroot: string = "",
): Promise<Client> {
  return connect(`${servers}${chroot}`, { transport, ...options });
}

/** A target for one request, and how to end it. */
export async function openTarget(
  { name, version, servers, isEmbedded }: Description,
  outside: Embedded,
): Promise<{ target: Target; close(): Promise<void> }> {
  const target = { name, version, isOurs: true };
  if (servers !== undefined) {
    const embedded = isEmbedded ? outside : undefined;
    const close = () => Promise.resolve();
    return { target: { ...target, servers, embedded }, close };
  }
  // Also by TCP: for proxies.
  const embedded = await TestServer.start({ ...settings, version: "3.9" });
  const { transport } = embedded;
  return {
    target: { ...target, servers: embedded.servers, transport, embedded },
    close: () => embedded.close(),
  };
}

/** Another server, for one test: it runs in here, and is reached by TCP. */
export async function startMortal(): Promise<Mortal> {
  const server = await TestServer.start({ ...settings, version: "3.9" });
  const kill = () => {
    server.refuseConnections();
    server.cut();
    return Promise.resolve();
  };
  const restart = () => Promise.resolve(server.refuseConnections(false));
  const end = () => server.close();
  const { servers } = server;
  return { servers, kill, restart, [Symbol.asyncDispose]: end };
}
