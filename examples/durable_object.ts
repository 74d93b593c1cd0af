// A Durable Object that keeps one ZooKeeper session over many requests, and a worker in front of it.
// Takes no lock before a request asks for one.
// For wrangler or miniflare; docs/workers.md tells how to run it.

import { type Client, connect, SequentialLock } from "@zklock/zklock";

/** Bound by the configuration. */
interface Bindings {
  /** Connect string. */
  ZOOKEEPER: string;
  /** The class below. */
  SESSION: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

/**
 * What it holds belongs to the object, not to one request: its connection and its
 * timers go on between requests. When the platform evicts it the connection ends,
 * and the server ends the session after its timeout.
 */
export class ZooKeeperSession {
  readonly #servers: string;
  #client: Promise<Client> | undefined;

  constructor(_state: unknown, { ZOOKEEPER }: Bindings) {
    this.#servers = ZOOKEEPER;
  }

  async fetch(request: Request): Promise<Response> {
    if (request.method === "DELETE") return await this.#close();
    const zk = await this.#connected();
    const lock = new SequentialLock(zk, "/locks/tasks");
    const token = await lock.run((held) => `${held.token}`, {
      timeout: 20_000,
    });
    return Response.json({ session: zk.session.id.toString(16), token });
  }

  /** One for all requests; another one if the last could not connect, or was closed. */
  async #connected(): Promise<Client> {
    const client = this.#client ??= connect(this.#servers, {
      sessionTimeout: 10_000,
      connectTimeout: 5_000,
    });
    try {
      return await client;
    } catch (error) {
      if (this.#client === client) this.#client = undefined;
      throw error;
    }
  }

  async #close(): Promise<Response> {
    const client = this.#client;
    this.#client = undefined;
    await (await client)?.close();
    return new Response("closed");
  }
}

export default {
  async fetch(request: Request, { SESSION }: Bindings): Promise<Response> {
    const object = SESSION.get(SESSION.idFromName("tasks"));
    return await object.fetch(request);
  },
};
