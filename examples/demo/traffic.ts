// Counts what contenders and server say to each other, split where a release begins.
// Knows no lock: it sees packets.
// Fed by the clients' onPacket, read by table.ts.

import type { Packet } from "../../mod.ts";

/** What was said in one phase. */
export interface Traffic {
  /** Requests sent. */
  requests: number;
  /** Watch notifications received. */
  notifications: number;
  /** Requests that only prove that the session lives; counted apart. */
  heartbeats: number;
}

/** Numbers of operations as they stand in a multi. */
const checkOp = 13;

/** Sums up. */
export function sum(phases: readonly Traffic[]): Traffic {
  const total = { requests: 0, notifications: 0, heartbeats: 0 };
  for (const phase of phases) {
    total.requests += phase.requests;
    total.notifications += phase.notifications;
    total.heartbeats += phase.heartbeats;
  }
  return total;
}

/** A multi that checks and changes nothing is how the locks ask whether they still hold. */
export function isHeartbeat({ op, bytes }: Packet): boolean {
  if (op !== "multi") return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // xid, type, then for each part: type, done, error; a check has path and version.
  for (let at = 8;;) {
    if (view.getUint8(at + 4) === 1) return true;
    if (view.getInt32(at) !== checkOp) return false;
    at += 9;
    at += 4 + view.getInt32(at) + 4;
  }
}

/** Counts the packets of any number of clients. */
export class Meter {
  #phases: Traffic[] = [];

  constructor() {
    this.restart();
  }

  /** Give this to connect() as `onPacket`. */
  readonly onPacket = (packet: Packet): void => {
    const phase = this.#phases[this.#phases.length - 1];
    const { direction, op, xid } = packet;
    if (direction === "received") {
      if (op === "event") phase.notifications++;
    } else if (isHeartbeat(packet)) phase.heartbeats++;
    // Handshakes have no xid; pings and what a reconnect says have one below 0.
    else if (xid !== null && xid > 0) phase.requests++;
  };

  /** What comes from now on belongs to a new phase. */
  split(): void {
    this.#phases.push({ requests: 0, notifications: 0, heartbeats: 0 });
  }

  /** Answers all phases and begins again. */
  restart(): Traffic[] {
    const phases = this.#phases;
    this.#phases = [];
    this.split();
    return phases;
  }
}
