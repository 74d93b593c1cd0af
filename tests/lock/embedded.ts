// What a test of locks happens in: the embedded server in memory, virtual time, connections a test can sever.
// Fails a test that leaves a timer or a session behind.
// Used by the lock tests that need a server with watches, rights or numbers of its own.

import { assertEquals } from "@std/assert";
import { ExclusiveLock } from "../../lock/exclusive_lock.ts";
import { SequentialLock } from "../../lock/sequential_lock.ts";
import type { Client, ConnectOptions } from "../../protocol/api.ts";
import { connect } from "../../protocol/client.ts";
import type { Transport } from "../../protocol/transport/mod.ts";
import { VirtualClock } from "../../testing/clock.ts";
import { TestServer } from "../../testing/server.ts";
import { operationOf, packetsIn, readRequest } from "../protocol/wire.ts";

/** Session timeout of all clients, in ms. */
export const T = 9000;

/** Both kinds, for what is true of all locks. */
export const locks = [SequentialLock, ExclusiveLock] as const;

/** Where the byte stands in a welcome, length included, that makes a server a read-only one. */
const readOnlyByte = 40;

/** A way to the server that a test can sever between two bytes. */
export class Road {
  /** Operations of each write of the client. */
  readonly writes: string[][] = [];
  /** Whether a server that is reached from now on says that it is read-only. */
  readOnly = false;
  #sever = () => {};
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Ends the connection, now: the client knows before anything else happens. */
  sever(): void {
    this.#sever();
  }

  readonly transport: Transport = async (address, handlers) => {
    let open = true;
    let greeted = false;
    const close = (error?: Error) => {
      if (open) handlers.close(error);
      open = false;
    };
    const socket = await this.#transport(address, {
      data: (bytes) => {
        if (!open) return;
        if (!greeted && this.readOnly) {
          bytes = bytes.slice();
          bytes[readOnlyByte] = 1;
        }
        greeted = true;
        handlers.data(bytes);
      },
      close,
    });
    this.#sever = () => {
      socket.close();
      close();
    };
    return {
      ...socket,
      write: (bytes) => {
        if (greeted) this.writes.push(packetsIn(bytes).map(nameOf));
        socket.write(bytes);
      },
    };
  };
}

function nameOf(packet: Uint8Array): string {
  return operationOf.get(readRequest(packet).type)!.name;
}

/** What a test gets. */
export interface Scene {
  server: TestServer;
  clock: VirtualClock;
  /** Connects, with a timeout of {@linkcode T}; closed after the test. */
  connected(
    options?: ConnectOptions,
  ): Promise<{ client: Client; road: Road; warnings: string[] }>;
}

/** A test in a world of its own. */
export function inScene(
  run: (scene: Scene) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const clock = new VirtualClock();
    const server = await TestServer.start({
      environment: clock,
      listen: false,
    });
    const clients: Client[] = [];
    try {
      await run({
        server,
        clock,
        async connected(options = {}) {
          const road = new Road(server.transport);
          const { transport } = road;
          const all = { environment: clock, transport, sessionTimeout: T };
          const client = await clock.until(
            connect(server.servers, { ...all, ...options }),
          );
          clients.push(client);
          const warnings: string[] = [];
          client.on("warning", ({ kind }) => warnings.push(kind));
          return { client, road, warnings };
        },
      });
    } finally {
      for (const client of clients) await clock.until(client.close());
      assertEquals(server.sessions.length, 0, "sessions left behind");
      await clock.until(server.close());
    }
    await clock.pass(0);
    assertEquals(clock.pending, 0, "timers left behind");
  };
}
