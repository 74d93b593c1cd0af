// Watches on a new connection: the server is told of them, and says when it knows them all.
// Knows no handshake and no time.
// Kept by session.ts.

import { errorNumbers } from "./codes.ts";
import { ProtocolError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import type { Host } from "./host.ts";
import { setWatches2 } from "./operations.ts";
import { setWatchesLimit, type Watches } from "./watches.ts";

/** The watches of a session on their way to another server. */
export class Restoring {
  readonly #watches: Watches;
  readonly #exchange: Exchange;
  readonly #host: Host;
  /** Lists that were sent and are not answered. */
  #lists = 0;

  constructor(watches: Watches, exchange: Exchange, host: Host) {
    this.#watches = watches;
    this.#exchange = exchange;
    this.#host = host;
  }

  /** Whether the server has not taken them all. */
  get isPending(): boolean {
    return this.#lists > 0;
  }

  /** The connection is gone. */
  lost(): void {
    this.#lists = 0;
  }

  /** The lists and the zxid are taken before a reply of the new connection can change them. */
  begin(lastZxid: bigint): void {
    if (this.#exchange.unsupported.has(setWatches2.code)) {
      this.#dropLasting();
    }
    for (const lists of this.#watches.lists(setWatchesLimit)) {
      this.#lists++;
      this.#exchange.restore(lists, lastZxid);
    }
  }

  /** The server answered to a list. Throws a ProtocolError if it did not take it. */
  answered(err: number): void {
    if (err !== 0) {
      if (err === errorNumbers.Unimplemented) {
        this.#exchange.unsupported.add(setWatches2.code);
      }
      throw new ProtocolError(`Cannot restore watches: error ${err}`, 0);
    }
    if (this.#lists > 0) this.#lists--;
  }

  /** A server before 3.6 cannot have them: better they hear of it than wait for ever. */
  #dropLasting(): void {
    const lasting = ["persistent", "persistent-recursive"] as const;
    for (const { path, watcher } of this.#watches.clear(lasting)) {
      this.#host.notify([watcher], { type: "watch-removed", path });
    }
  }
}
