// node:net with a createServer(): workers can connect, but not listen. A switchboard outside listens for them.
// Knows nothing of ZooKeeper.
// Stands for node:net in the bundle of entry.ts, so that FaultProxy and TestServer run inside a worker, by TCP; see ../workers_switchboard.ts.

import { connect, type Socket } from "node:net";

export * from "node:net";

/** Where the switchboard is. Set by entry.ts. */
export const switchboard = { port: 0 };

interface ServerOptions {
  allowHalfOpen?: boolean;
}

interface Place {
  port: number;
  host?: string;
}

/** A port outside, whose connections come to this request. */
class Server {
  readonly #options: ServerOptions;
  readonly #accept: (socket: Socket) => void;
  readonly #sockets = new Set<Socket>();
  #failed = (_: Error) => {};
  #line: Socket | undefined;
  #port = 0;
  #closed: (() => void) | undefined;

  constructor(options: ServerOptions, accept: (socket: Socket) => void) {
    this.#options = options;
    this.#accept = accept;
  }

  on(event: "error", run: (error: Error) => void): this {
    if (event === "error") this.#failed = run;
    return this;
  }

  once(event: "error", run: (error: Error) => void): this {
    return this.on(event, run);
  }

  /** Both forms: listen(port, host, done), and with an object. */
  listen(where: number | Place, ...rest: (string | (() => void))[]): this {
    const done = rest.pop() as () => void;
    const place = typeof where === "number"
      ? { port: where, host: rest[0] as string }
      : where;
    const line = connect({ host: "127.0.0.1", port: switchboard.port });
    this.#line = line;
    line.write(JSON.stringify({ listen: place }) + "\n");
    line.on("error", (error) => this.#failed(error));
    onLines(line, (text) => {
      const said = JSON.parse(text);
      if (said.error) return this.#failed(new Error(said.error));
      if (said.id) return this.#take(said.id);
      this.#port = said.port;
      done();
    });
    return this;
  }

  address(): { port: number } {
    return { port: this.#port };
  }

  close(done: () => void = () => {}): this {
    this.#line?.destroy();
    this.#closed = done;
    this.#check();
    return this;
  }

  #take(id: string): void {
    const socket = connect({
      host: "127.0.0.1",
      port: switchboard.port,
      allowHalfOpen: this.#options.allowHalfOpen ?? false,
    });
    this.#sockets.add(socket);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.#check();
    });
    socket.write(JSON.stringify({ take: id }) + "\n");
    this.#accept(socket);
  }

  #check(): void {
    if (this.#sockets.size > 0) return;
    this.#closed?.();
    this.#closed = undefined;
  }
}

function onLines(socket: Socket, run: (line: string) => void): void {
  let rest = "";
  const decoder = new TextDecoder();
  socket.on("data", (bytes: Uint8Array) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop()!;
    lines.forEach(run);
  });
}

export function createServer(
  options: ServerOptions | ((socket: Socket) => void),
  accept?: (socket: Socket) => void,
): Server {
  return typeof options === "function"
    ? new Server({}, options)
    : new Server(options, accept!);
}
