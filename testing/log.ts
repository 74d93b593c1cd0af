// The packets a proxy has seen, and who waits for which.
// Knows no faults and no sockets.
// Used by faults.ts.

import type { Direction, SeenPacket } from "./packets.ts";

/** Somebody who waits for a packet. */
interface Waiter {
  isFor: (packet: SeenPacket) => boolean;
  resolve: (packet: SeenPacket) => void;
  reject: (why: unknown) => void;
}

/** What came, in order. */
export class PacketLog {
  packets: SeenPacket[] = [];
  chunks = 0;
  #next = 0;
  readonly #waiters = new Set<Waiter>();
  #end: Error | undefined;

  /** A packet came and gets its number. */
  see(packet: Omit<SeenPacket, "index" | "passed">): SeenPacket {
    const seen = { ...packet, index: this.#next++, passed: false };
    this.packets.push(seen);
    return seen;
  }

  /** A packet was handed on. */
  passed(packet: SeenPacket): void {
    (packet as { passed: boolean }).passed = true;
    for (const waiter of [...this.#waiters]) {
      try {
        if (!waiter.isFor(packet)) continue;
        waiter.resolve(packet);
      } catch (error) {
        waiter.reject(error);
      }
      this.#waiters.delete(waiter);
    }
  }

  count(direction?: Direction, op?: string): number {
    return this.packets.filter((packet) =>
      (direction === undefined || packet.direction === direction) &&
      (op === undefined || packet.op === op)
    ).length;
  }

  clear(): void {
    this.packets = [];
    this.chunks = 0;
  }

  /** The next packet that fits and is handed on. */
  next(isFor: (packet: SeenPacket) => boolean): Promise<SeenPacket> {
    return quietly((resolve, reject) => {
      if (this.#end) throw this.#end;
      this.#waiters.add({ isFor, resolve, reject });
    });
  }

  /** No further packet will come. */
  end(why: Error): void {
    this.#end = why;
    for (const { reject } of this.#waiters) reject(why);
    this.#waiters.clear();
  }
}

/** A promise that may be left alone: its rejection is never an unhandled one. */
export function quietly<T>(
  start: (resolve: (value: T) => void, reject: (why: unknown) => void) => void,
): Promise<T> {
  const promise = new Promise<T>(start);
  promise.catch(() => {});
  return promise;
}
