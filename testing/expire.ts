// Ends a client's session behind its back.
// Knows the handshake and closeSession; nothing of what the client makes of it.
// For the tests of users and for tests/real.

import type { Client } from "../protocol/api.ts";
import { errorName } from "../protocol/codes.ts";
import { hostEnvironment } from "../protocol/environment.ts";
import { Frames } from "../protocol/frames.ts";
import { type Hello, readWelcome, writeHello } from "../protocol/handshake.ts";
import { internalsOf } from "../protocol/internals.ts";
import { Reader } from "../protocol/jute.ts";
import { closeSession, type Operation } from "../protocol/operations.ts";
import { Outgoing } from "../protocol/outgoing.ts";
import { ReplyHeader } from "../protocol/records.ts";
import { type Address, parseServers } from "../protocol/servers.ts";
import { dial } from "./sockets.ts";

/** No answer to these two requests is longer, in bytes. */
const longest = 1024;

/**
 * Ends a client's session as an expiry would, without the waiting: the server
 * removes its ephemeral znodes and locks, and tells the client, the next time it
 * connects, that the session is over. The client is not told before that: its
 * connection is closed, and it finds out by its own attempt to reconnect.
 *
 * It is done by a twin, a second connection that shows the session's id and
 * password and closes it. Resolves when the server has done so. Rejects if the
 * server cannot be reached, does not know the session (any more), or does not
 * answer in time.
 *
 * @param client A client of connect(), connected at least once.
 * @param server Where the twin goes, `host:port`: straight to a server, not through a {@linkcode FaultProxy}, whose faults would hit it as well.
 * @param options `timeout`: how long the server may take, in ms; default 5,000.
 */
export async function expireSession(
  client: Client,
  server: string,
  options: { timeout?: number } = {},
): Promise<void> {
  const { id, timeout } = client.session;
  const what = `Cannot expire session 0x${id.toString(16)}`;
  if (id === 0n) throw new Error(`${what}: it has not begun`);
  const hello: Hello = {
    lastZxid: 0n,
    timeout,
    sessionId: id,
    password: internalsOf(client).password(),
    readOnly: false,
  };
  const { addresses: [address] } = parseServers(server);
  try {
    await beTwin(hello, address, options.timeout ?? 5_000);
  } catch (cause) {
    throw new Error(`${what} at ${server}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Resolves when the server has agreed and the twin has hung up. */
function beTwin(
  hello: Hello,
  address: Address,
  patience: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const twin = new Twin(hello);
    const wire = dial(address, {
      data(bytes) {
        if (twin.received(bytes)) wire.reset();
      },
      finished() {
        twin.hungUp();
        wire.reset();
      },
      closed(error) {
        cancel();
        const failure = twin.outcome ?? error ??
          new Error("the server hung up");
        if (failure === "done") resolve();
        else reject(failure);
      },
    });
    const cancel = hostEnvironment.after(patience, () => {
      twin.outcome ??= new Error(`no answer within ${patience} ms`);
      wire.reset();
    });
    wire.write(twin.requests());
  });
}

/** What the second connection says, and what it makes of the answers. */
class Twin {
  outcome: "done" | Error | undefined;
  readonly #hello: Hello;
  readonly #frames = new Frames(longest);
  #isAttached = false;

  constructor(hello: Hello) {
    this.#hello = hello;
  }

  /** Both in one write: nothing can come between them. */
  requests(): Uint8Array {
    const outgoing = new Outgoing();
    outgoing.packet((to) => writeHello(to, this.#hello));
    outgoing.request(1, closeSession as Operation, null, null);
    return outgoing.take()!;
  }

  /** Answers whether there is an outcome. */
  received(chunk: Uint8Array): boolean {
    this.#frames.push(chunk);
    try {
      while (this.outcome === undefined) {
        const packet = this.#frames.next();
        if (packet === null) return false;
        if (this.#isAttached) this.#closed(packet);
        else this.#welcomed(packet);
      }
    } catch (error) {
      this.outcome ??= error as Error;
    }
    return true;
  }

  /** Behind the welcome this is a yes: the client came back so fast that it took the connection from its twin. */
  hungUp(): void {
    if (this.#isAttached) this.outcome ??= "done";
  }

  #welcomed(packet: Uint8Array): void {
    const welcome = readWelcome(packet, this.#hello);
    if (welcome.kind === "attached") this.#isAttached = true;
    else if (welcome.kind === "refused") throw new Error(welcome.why);
    else throw new Error("the server does not know it (any more)");
  }

  #closed(packet: Uint8Array): void {
    const { err } = ReplyHeader.read(new Reader(packet));
    if (err !== 0) throw new Error(`the server answered ${errorName(err)}`);
    this.outcome = "done";
  }
}
