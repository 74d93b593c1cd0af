// Listens for workers, which cannot: a worker asks for a port, hears of each connection to it, and calls back for it.
// Knows nothing of ZooKeeper; what one side ends it ends on the other, a reset by a reset.
// Started by workers.ts; the other half is workers/net.ts.

import {
  type AddressInfo,
  createServer,
  type Server,
  type Socket,
} from "node:net";

/** What a worker says first on a connection. */
interface Request {
  listen?: { port: number; host?: string };
  take?: string;
}

/** A switchboard on a port of its own. */
export class Switchboard {
  readonly #server: Server;
  readonly #waiting = new Map<string, Socket>();
  readonly #sockets = new Set<Socket>();
  readonly #listening = new Set<Server>();
  #calls = 0;

  private constructor() {
    const options = { allowHalfOpen: true, noDelay: true };
    this.#server = createServer(options, (socket) => {
      this.#keep(socket);
      firstLine(socket, (line) => this.#asked(socket, JSON.parse(line)));
    });
  }

  static start(): Promise<Switchboard> {
    const board = new Switchboard();
    return new Promise((resolve) =>
      board.#server.listen(0, "127.0.0.1", () => resolve(board))
    );
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends everything. */
  close(): void {
    for (const server of [this.#server, ...this.#listening]) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #asked(socket: Socket, { listen, take }: Request): void {
    if (listen) return this.#listen(socket, listen);
    const caller = this.#waiting.get(take!);
    this.#waiting.delete(take!);
    if (caller === undefined || caller.destroyed) socket.resetAndDestroy();
    else join(caller, socket);
  }

  #listen(line: Socket, where: { port: number; host?: string }): void {
    const say = (what: unknown) => line.write(JSON.stringify(what) + "\n");
    const options = {
      allowHalfOpen: true,
      noDelay: true,
      pauseOnConnect: true,
    };
    const waiting = new Set<Socket>();
    const server = createServer(options, (caller) => {
      this.#keep(caller);
      waiting.add(caller);
      const id = `${++this.#calls}`;
      this.#waiting.set(id, caller);
      say({ id });
    });
    server.on("error", ({ message }) => say({ error: message }));
    server.listen({ host: "127.0.0.1", ...where }, () => {
      say({ port: (server.address() as AddressInfo).port });
    });
    this.#listening.add(server);
    line.on("close", () => {
      server.close();
      this.#listening.delete(server);
      for (const [id, caller] of this.#waiting) {
        if (!waiting.has(caller)) continue;
        this.#waiting.delete(id);
        caller.destroy();
      }
    });
    line.on("end", () => line.destroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
  }
}

/** Two connections as one. */
function join(one: Socket, other: Socket): void {
  for (const [from, to] of [[one, other], [other, one]]) {
    let isReset = false;
    from.on("error", () => isReset = true);
    from.on("close", () => {
      if (isReset) to.resetAndDestroy();
      else if (!from.readableEnded) to.destroy();
    });
    // Ends `to` behind the last byte.
    from.pipe(to);
  }
  one.resume();
}

/** Reads up to the first line feed, and leaves what follows. */
function firstLine(socket: Socket, run: (line: string) => void): void {
  let bytes = new Uint8Array();
  const look = (chunk: Uint8Array) => {
    bytes = new Uint8Array([...bytes, ...chunk]);
    const at = bytes.indexOf(10);
    if (at < 0) return;
    socket.off("data", look);
    socket.pause();
    if (at + 1 < bytes.length) socket.unshift(bytes.subarray(at + 1));
    run(new TextDecoder().decode(bytes.subarray(0, at)));
  };
  socket.on("data", look);
}
