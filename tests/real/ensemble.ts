// Three real ZooKeeper servers with a leader, on this machine.
// Must not know the client under test.
// Called by the tests of failover and of several servers.

import { setTimeout as sleep } from "node:timers/promises";
import { install } from "./install.ts";
import { freePorts, host } from "./ports.ts";
import {
  type Mode,
  type Options,
  RealServer,
  StartError,
  startTimeout,
} from "./server.ts";

const size = 3;

/** Three servers; what each can do is in {@link RealServer}. */
export class Ensemble implements AsyncDisposable {
  /** In the order of their numbers; the leader may be any. */
  readonly nodes: readonly RealServer[];

  constructor(nodes: readonly RealServer[]) {
    this.nodes = nodes;
  }

  /** A connect string with all of them. */
  get servers(): string {
    return this.nodes.map((node) => node.servers).join(",");
  }

  /** The leader; waits while there is none, or an old one still says it is. */
  async leader(): Promise<RealServer> {
    const deadline = performance.now() + startTimeout;
    for (;;) {
      const leaders = await this.#having("leader");
      if (leaders.length === 1) return leaders[0];
      if (performance.now() > deadline) {
        const found = leaders.map((node) => node.servers).join(" and ");
        throw new Error(`Find the leader: ${found || "none"}`);
      }
      await sleep(20);
    }
  }

  /** Those that follow now: none during an election. */
  followers(): Promise<RealServer[]> {
    return this.#having("follower");
  }

  /** Kills all and removes their folders. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node[Symbol.asyncDispose]()));
  }

  async #having(mode: Mode): Promise<RealServer[]> {
    const modes = await Promise.all(this.nodes.map((node) => node.mode()));
    return this.nodes.filter((_, index) => modes[index] === mode);
  }
}

/** Starts three servers, and resolves when each leads or follows. */
export async function startEnsemble(options: Options = {}): Promise<Ensemble> {
  // Once, before three ask at the same time.
  await install(options.version ?? "3.8.0");
  for (let tries = 1;; tries++) {
    const ensemble = await prepare(options);
    const starts = await Promise.allSettled(
      ensemble.nodes.map((node) => node.restart()),
    );
    const errors = starts.flatMap((start) =>
      start.status === "rejected" ? [start.reason as unknown] : []
    );
    if (errors.length === 0) return ensemble;
    await ensemble[Symbol.asyncDispose]();
    const isBadLuck = errors.some((error) =>
      error instanceof StartError && error.isPortTaken
    );
    if (!isBadLuck || tries === 5) throw errors[0];
  }
}

async function prepare(options: Options): Promise<Ensemble> {
  const ports = await freePorts(3 * size);
  const ids = Array.from({ length: size }, (_, index) => index + 1);
  const [client, quorum, election] = [0, size, 2 * size].map((from) =>
    ports.slice(from, from + size)
  );
  const config = [
    // In ticks. With the default tick: 10 s to find each other, which a busy
    // machine may need, and 2 s until a silent (frozen) leader is given up.
    "initLimit=50",
    "syncLimit=10",
    ...ids.map((id, i) => `server.${id}=${host}:${quorum[i]}:${election[i]}`),
    ...options.config ?? [],
  ];
  const nodes = ids.map((id, i) =>
    RealServer.prepare({ ...options, config, port: client[i], id })
  );
  return new Ensemble(await Promise.all(nodes));
}
