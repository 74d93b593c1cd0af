// A client that says exactly what it is told to, and tells what it heard; waiting with a deadline; packets in short.
// Knows how packets look, but nothing of what should follow which.
// Used by the tests of testing/.

import { Frames } from "../../protocol/frames.ts";
import { noPassword, writeHello } from "../../protocol/handshake.ts";
import * as ops from "../../protocol/operations.ts";
import * as records from "../../protocol/records.ts";
import type { SeenPacket } from "../../testing/mod.ts";
import { dial, type Wire } from "../../testing/sockets.ts";
import { framed } from "./fake_server.ts";

const limit = 16 * 1024 * 1024;

/** What a Talker can ask. */
export type Request = [
  op: "create" | "exists" | "getData" | "ping",
  path?: string,
];

/** A connection without any sense of its own. */
export class Talker implements AsyncDisposable {
  readonly #wire: Wire;
  readonly #heard: string[] = [];
  readonly #gone: Promise<void>;
  #wake = () => {};
  #xid = 0;

  /** With `raw`, chunks are heard as text. */
  constructor(port: number, { raw = false }: { raw?: boolean } = {}) {
    let leave = () => {};
    this.#gone = new Promise((resolve) => leave = resolve);
    const frames = new Frames(limit);
    let isGreeted = false;
    this.#wire = dial({ host: "127.0.0.1", port }, {
      data: (bytes) => {
        if (raw) return this.#hear(new TextDecoder().decode(bytes));
        frames.push(bytes);
        for (let body; (body = frames.next()) !== null; isGreeted = true) {
          const xid = new DataView(body.buffer, body.byteOffset).getInt32(0);
          this.#hear(isGreeted ? `${xid}` : "connect");
        }
      },
      finished: () => {
        this.#hear("end");
        this.#wire.finish();
      },
      closed: (error) => {
        this.#hear(error ? "reset" : "closed");
        leave();
      },
    });
  }

  /** The next thing that comes: "connect", the xid of a reply, "end", "reset" or "closed". */
  async next(): Promise<string> {
    if (this.#heard.length === 0) {
      await within(
        new Promise<void>((resolve) => this.#wake = resolve),
        "Talker heard nothing",
      );
    }
    return this.#heard.shift()!;
  }

  /** So many of them. */
  async take(count: number): Promise<string[]> {
    const heard: string[] = [];
    while (heard.length < count) heard.push(await this.next());
    return heard;
  }

  /** Everything until the connection is gone. */
  async rest(): Promise<string[]> {
    await within(this.#gone, "Talker's connection is still there");
    return this.#heard.splice(0);
  }

  /** Shakes hands and waits for the answer. */
  async greet(): Promise<this> {
    this.write(hello());
    await this.next();
    return this;
  }

  /** Asks without waiting; requests of one call leave in one write. */
  ask(
    ...requests: Request[]
  ) {
    const packets = requests.map(([op, path = "/"]) =>
      framed((to) => {
        const { code, xid = ++this.#xid } = ops[op] as ops.Operation;
        records.RequestHeader.write(to, { xid, type: code });
        if (op === "create") {
          records.CreateRequest.write(to, {
            path,
            data: null,
            acl: [],
            flags: 0,
          });
        } else if (op !== "ping") {
          records.PathWatchRequest.write(to, { path, watch: false });
        }
      })
    );
    this.write(...packets);
  }

  write(...parts: Uint8Array[]): void {
    this.#wire.write(new Uint8Array(parts.flatMap((part) => [...part])));
  }

  finish(): void {
    this.#wire.finish();
  }

  /** Reads nothing until resume(). */
  pause(): void {
    this.#wire.pause();
  }

  resume(): void {
    this.#wire.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wire.reset();
    await this.#gone;
  }

  #hear(what: string): void {
    this.#heard.push(what);
    this.#wake();
  }
}

/** The first packet of a client, with its length. */
export function hello(sessionId = 0n): Uint8Array {
  return framed((to) =>
    writeHello(to, {
      lastZxid: 0n,
      timeout: 30_000,
      sessionId,
      password: noPassword,
      readOnly: false,
    })
  );
}

/** Rejects if it takes too long. */
export async function within<T>(promise: Promise<T>, failure: string) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(failure)), 10_000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until something is so. */
export async function until(condition: () => boolean): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > 10_000) {
      throw new Error(`Never true: ${condition}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** What a test reads of a packet. */
export function brief({ direction, op, xid, err, passed }: SeenPacket): string {
  const outcome = err === undefined ? "" : ` ${err}`;
  return `${direction} ${op} ${xid}${outcome}${passed ? "" : " lost"}`;
}
