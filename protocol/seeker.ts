// Looking for a server that can write, while the one at hand cannot.
// Knows no session: whom it finds it tells, once.
// Kept by connection.ts.

import type { Environment } from "./environment.ts";
import { fourLetterWord } from "./four_letter.ts";
import { type Address, isSameAddress } from "./servers.ts";
import type { TlsOptions, Transport } from "./transport/mod.ts";

/** Before the first round of questions, doubled for each further one, in ms; as the Java client, which goes on to a minute. */
const pause = { first: 100, longest: 10_000 };
/** How long a server may take to answer, in ms. */
const patience = 1_000;

/** What it asks with. */
export interface SeekerSettings {
  transport: Transport;
  environment: Environment;
  tls?: TlsOptions;
}

/** Asks the other servers whether they are read-only, one after the other, until one is not. */
export class Seeker {
  readonly #settings: SeekerSettings;
  readonly #found: (address: Address) => void;
  #search: AbortController | undefined;

  constructor(settings: SeekerSettings, found: (address: Address) => void) {
    this.#settings = settings;
    this.#found = found;
  }

  /** Begins, unless it has begun. `others` is asked before each round. */
  start(others: () => readonly Address[]): void {
    if (this.#search !== undefined) return;
    this.#search = new AbortController();
    void this.#seek(others, this.#search.signal);
  }

  /** Ends the search. */
  stop(): void {
    this.#search?.abort();
    this.#search = undefined;
  }

  async #seek(
    others: () => readonly Address[],
    signal: AbortSignal,
  ): Promise<void> {
    let wait = pause.first;
    for (;; wait = Math.min(2 * wait, pause.longest)) {
      await this.#rest(wait, signal);
      for (const address of others()) {
        if (signal.aborted) return;
        if (!await this.#canWrite(address, signal)) continue;
        if (signal.aborted) return;
        this.stop();
        return this.#found(address);
      }
      if (signal.aborted) return;
    }
  }

  async #canWrite(address: Address, signal: AbortSignal): Promise<boolean> {
    // The connection keeps the process alive, if anything does.
    const by = { ...this.#settings, keepAlive: false };
    try {
      const answer = await fourLetterWord(
        "isro",
        address,
        by,
        patience,
        signal,
      );
      return answer.trim() === "rw";
    } catch {
      return false;
    }
  }

  #rest(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#settings.environment.after(ms, end, false);
      signal.addEventListener("abort", end);
    });
  }
}

/** All but one. */
export function without(
  addresses: readonly Address[],
  one: Address,
): Address[] {
  return addresses.filter((address) => !isSameAddress(address, one));
}
