// The clients of the demo: one that prepares and tidies up, and those of the contenders.
// Knows no lock.
// Used by show.ts.

import { randomUUID } from "node:crypto";
import { type Client, connect, ConnectionLossError } from "../../mod.ts";
import { type Options, UsageError } from "./options.ts";
import type { Meter } from "./traffic.ts";

/** A server that has not answered after so many ms does not. */
const connectTimeout = 5_000;
/** Tidying up must not keep anybody waiting, in ms. */
const tidyTimeout = 3_000;

/** Connected clients, and a place of their own on the server. */
export class Clients implements AsyncDisposable {
  /** One for each contender; the same one again and again if they share a session. */
  readonly each: readonly Client[];
  /** The znode below which everything happens. Goes in the end. */
  readonly root: string;
  readonly #caretaker: Client;

  private constructor(caretaker: Client, root: string, each: Client[]) {
    this.#caretaker = caretaker;
    this.root = root;
    this.each = each;
  }

  /** Connects all. Rejects with the first failure, and leaves nothing behind then. */
  static async open(
    servers: string,
    meter: Meter,
    options: Options,
    warn: (message: string) => void,
    signal: AbortSignal,
  ): Promise<Clients> {
    const caretaker = await connect(servers, { connectTimeout, signal })
      .catch((error) => {
        throw explained(error, servers, options.servers !== undefined);
      });
    const { contenders, sharedSession } = options;
    const root = `/zklock-demo-${randomUUID().slice(0, 8)}`;
    const each: Client[] = [];
    const clients = new Clients(caretaker, root, each);
    try {
      // With a chroot, "/" is that; making it would leave it behind.
      if (await caretaker.exists("/", { signal }) === null) {
        const chroot = servers.slice(servers.indexOf("/"));
        throw new UsageError(
          `There is no ${chroot} at ${servers}: make it first`,
        );
      }
      await caretaker.create(root, null, { signal });
      const { onPacket } = meter;
      const opening = Array.from(
        { length: sharedSession ? 1 : contenders },
        () => connect(servers, { connectTimeout, signal, onPacket }),
      );
      const opened = await Promise.allSettled(opening);
      for (const result of opened) {
        if (result.status === "fulfilled") each.push(result.value);
      }
      await Promise.all(opening);
      for (const client of each) {
        client.on("warning", ({ message }) => warn(message));
      }
      caretaker.on("state", ({ state }) => {
        if (state === "disconnected") warn("Connection lost; trying again");
        if (state === "connected") warn("Connected again");
      });
      while (each.length < contenders) each.push(each[0]);
      return clients;
    } catch (error) {
      await clients[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Where we are, for people. */
  async server(): Promise<string> {
    const version = await this.#caretaker.serverVersion().catch(() => null);
    return version === null ? "ZooKeeper" : `ZooKeeper ${version}`;
  }

  /** Ends the sessions, and with them whatever is still waiting or held; then tidies up. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...new Set(this.each)].map((client) => client.close()));
    // Without a connection it would wait for one.
    const signal = AbortSignal.timeout(tidyTimeout);
    if (this.#caretaker.session.state === "connected") {
      // Another server may not have heard yet what was made there.
      await this.#caretaker.sync(this.root, { signal })
        .then(() => this.#remove(this.root, signal)).catch(() => {});
    }
    await this.#caretaker.close();
  }

  /** What is left are fences, and directories without anybody in them, which may go by themselves. */
  async #remove(path: string, signal: AbortSignal): Promise<void> {
    const caretaker = this.#caretaker;
    try {
      for (const name of await caretaker.getChildren(path, { signal })) {
        await this.#remove(`${path}/${name}`, signal);
      }
      await caretaker.delete(path, { signal });
    } catch (error) {
      if ((error as { code?: string }).code !== "NoNode") throw error;
    }
  }
}

function explained(
  error: unknown,
  servers: string,
  byOption: boolean,
): unknown {
  if (error instanceof TypeError) {
    return new UsageError(error.message, { cause: error });
  }
  if (!(error instanceof ConnectionLossError)) return error;
  const message = `No ZooKeeper answers at ${servers}: ${error.message}`;
  const hint = byOption ? "; without --servers the demo starts one" : "";
  return new Error(message + hint, { cause: error });
}
