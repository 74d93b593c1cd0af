// One connection through the proxy: two wires, and what goes from one to the other.
// Asks its host what becomes of each packet; knows no rule and no fault itself.
// Used by faults.ts.

import { hostEnvironment } from "../protocol/environment.ts";
import { withoutSecrets } from "../protocol/secrets.ts";
import { Frames } from "../protocol/frames.ts";
import type { Address } from "../protocol/servers.ts";
import { Conversation, isWord, joined, type SeenPacket } from "./packets.ts";
import { DelayQueue } from "./queue.ts";
import { dial, type Wire, type WireHandlers } from "./sockets.ts";

/** Where bytes are going. */
export type Toward = "server" | "client";

/**
 * What becomes of a packet.
 *
 * - "pass": it is handed on;
 * - "drop": it is not, and the connection goes on. No network does that: a client
 *   that compares transaction ids will give up the connection at the next reply;
 * - "cut": it is not, and its connection ends, on both sides;
 * - "pass-then-cut": it is handed on, and the connection ends behind it.
 *
 * Whatever passed before a cut still arrives. Each side sees a reset, but if
 * bytes are still on their way to it a plain end behind them, because a reset
 * may overtake bytes.
 */
export type Verdict = "pass" | "drop" | "cut" | "pass-then-cut";

/** Who decides, and who wants to know. */
export interface RelayHost {
  /** Where to dial. */
  readonly target: Address;
  /** Whether what goes this way is swallowed at the moment. */
  isSwallowing(toward: Toward): boolean;
  /** How long, in ms, what goes this way is held back. */
  delay(toward: Toward): number;
  /** A chunk came from the client. */
  chunk(): void;
  /** A packet came and gets its number. */
  see(packet: Omit<SeenPacket, "index" | "passed">): SeenPacket;
  /** Decides about a packet. */
  judge(packet: SeenPacket): Verdict;
  /** A packet is on its way. */
  passed(packet: SeenPacket): void;
}

/** One way through a connection. */
interface Flow {
  readonly toward: Toward;
  readonly frames: Frames;
  readonly queue: DelayQueue;
}

/** Any length that is not negative: it is the peers' business to have limits. */
const anyLength = 0x7fffffff;

/** A peer that does not read makes us stop reading from the other at so many bytes. */
const longestBacklog = 1024 * 1024;

/** A connection of a client to the proxy, and that of the proxy to the server. */
export class Relay {
  /** Resolves when both wires are gone. */
  readonly gone: Promise<void>;
  readonly #connection: number;
  readonly #host: RelayHost;
  readonly #wires: { client: Wire | undefined; server: Wire | undefined };
  readonly #upward: Flow = flow("server");
  readonly #downward: Flow = flow("client");
  readonly #conversation = new Conversation();
  #leave = () => {};
  /** Undefined until the client sent four bytes, which are kept so long. */
  #speaks: "packets" | "words" | undefined;
  #first: Uint8Array = new Uint8Array(0);
  /** Something was swallowed: the peers no longer agree on what was said. */
  #hasHole = false;
  #isOver = false;

  constructor(connection: number, client: Wire, host: RelayHost) {
    this.#connection = connection;
    this.#host = host;
    this.gone = new Promise((resolve) => this.#leave = resolve);
    // Into a black hole there is nothing to dial.
    this.#hasHole = host.isSwallowing("server");
    this.#wires = { client, server: undefined };
    if (!this.#hasHole) this.#wires.server = dial(host.target, this.server());
  }

  /** What the wire to the client is to report to. */
  client(): WireHandlers {
    return {
      data: (chunk) => this.#fromClient(chunk),
      ...this.#ends("client", this.#upward),
    };
  }

  /** What the wire to the server is to report to. */
  server(): WireHandlers {
    return {
      data: (chunk) => this.#arrived(this.#downward, chunk),
      ...this.#ends("server", this.#downward),
    };
  }

  /** Nothing is swallowed or delayed any more: a stream with a hole ends, others go on. */
  heal(): void {
    if (this.#hasHole) return this.reset();
    this.#upward.queue.flush();
    this.#downward.queue.flush();
  }

  /** Ends both wires, at once. */
  reset(): void {
    this.#over();
    this.#wires.client?.reset();
    this.#wires.server?.reset();
  }

  /** Ends both wires; what was passed before still arrives. */
  hangUp(): void {
    this.#over();
    this.#wires.client?.hangUp();
    this.#wires.server?.hangUp();
  }

  // Inside

  #over(): void {
    this.#isOver = true;
    this.#upward.queue.clear();
    this.#downward.queue.clear();
  }

  /** How a wire ends, whose bytes go through `flow`. */
  #ends(name: "client" | "server", flow: Flow) {
    let finished = false;
    const other = name === "client" ? "server" : "client";
    return {
      finished: () => {
        finished = true;
        this.#later(flow, () => this.#wires[other]?.finish());
      },
      drained: () => this.#wires[other]?.resume(),
      closed: (error?: Error) => {
        this.#wires[name] = undefined;
        if (this.#wires[other] === undefined) {
          this.#over();
          return this.#leave();
        }
        const isOrderly = finished && error === undefined;
        if (!isOrderly) this.#later(flow, () => this.hangUp());
      },
    };
  }

  /** In its turn, and unless a black hole swallows it. */
  #later({ toward, queue }: Flow, run: () => void): void {
    if (this.#isOver) return;
    queue.add(this.#host.delay(toward), () => {
      if (this.#host.isSwallowing(toward)) this.#hasHole = true;
      else run();
    });
  }

  #fromClient(chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#host.chunk();
    if (this.#speaks === undefined) {
      this.#first = chunk = joined(this.#first, chunk);
      if (chunk.length < 4) return;
      this.#speaks = isWord(chunk) ? "words" : "packets";
    }
    this.#arrived(this.#upward, chunk);
  }

  #arrived(flow: Flow, chunk: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#speaks === "words") {
      const kept = chunk.slice();
      return this.#later(flow, () => this.#send(flow, kept));
    }
    flow.frames.push(chunk);
    for (;;) {
      const packet = this.#next(flow);
      if (packet === null) return;
      const { toward, queue } = flow;
      queue.add(this.#host.delay(toward), () => this.#packet(flow, packet));
    }
  }

  /** The next packet with its length in front, as a copy. What is no packet ends the connection, as a server would. */
  #next({ frames }: Flow): Uint8Array | null {
    if (this.#isOver) return null;
    try {
      const body = frames.next();
      return body && withLength(body);
    } catch {
      this.hangUp();
      return null;
    }
  }

  #packet(flow: Flow, packet: Uint8Array): void {
    const whole = packet.subarray(4);
    const isRequest = flow.toward === "server";
    const label = isRequest
      ? this.#conversation.request(whole)
      : this.#conversation.reply(whole);
    const way = isRequest ? "sent" : "received";
    const bytes = withoutSecrets(way, label.op, whole);
    const connection = this.#connection;
    const seen = this.#host.see({ ...label, connection, bytes });
    if (this.#host.isSwallowing(flow.toward)) {
      this.#hasHole = true;
      return;
    }
    const verdict = this.#host.judge(seen);
    // Whoever judged may have cut everything.
    if (this.#isOver) return;
    if (verdict === "pass" || verdict === "pass-then-cut") {
      if (flow.toward === "server") this.#conversation.expect(label);
      this.#send(flow, packet);
      this.#host.passed(seen);
    }
    if (verdict === "cut" || verdict === "pass-then-cut") this.hangUp();
  }

  #send({ toward }: Flow, bytes: Uint8Array): void {
    const wire = this.#wires[toward];
    wire?.write(bytes);
    const isBehind = wire !== undefined && wire.pending > longestBacklog;
    const source = toward === "server" ? "client" : "server";
    if (isBehind) this.#wires[source]?.pause();
  }
}

function flow(toward: Toward): Flow {
  return {
    toward,
    frames: new Frames(anyLength),
    queue: new DelayQueue(hostEnvironment),
  };
}

function withLength(body: Uint8Array): Uint8Array {
  const packet = new Uint8Array(4 + body.length);
  new DataView(packet.buffer).setInt32(0, body.length);
  packet.set(body, 4);
  return packet;
}
