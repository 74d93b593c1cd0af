// Ready-made faults: what is to become of packets, until it has happened or is given up.
// Knows neither packets nor what its verdicts mean.
// Used by faults.ts for a proxy, by server.ts for the embedded server.

import { quietly } from "./log.ts";

/** A ready-made fault. */
interface Fault<P, V> {
  rule: (packet: P) => V | undefined;
  giveUp: (why: string) => void;
}

/** The first who has an opinion of a packet decides. */
export class Rulebook<P, V> {
  /** Who decides, for messages: "proxy", "server". */
  readonly #whose: string;
  readonly #faults = new Set<Fault<P, V>>();

  constructor(whose: string) {
    this.#whose = whose;
  }

  /** What is to become of a packet; undefined for nothing in particular. */
  judge(packet: P): V | undefined {
    for (const { rule } of [...this.#faults]) {
      const verdict = rule(packet);
      if (verdict !== undefined) return verdict;
    }
    return undefined;
  }

  /** A fault that is over with the first packet it has an opinion of: with that the promise resolves. */
  once(what: string, rule: (packet: P) => V | undefined): Promise<P> {
    return quietly((resolve, reject) => {
      const fault: Fault<P, V> = {
        rule: (packet) => {
          const verdict = rule(packet);
          if (verdict === undefined) return undefined;
          this.#faults.delete(fault);
          resolve(packet);
          return verdict;
        },
        giveUp: (why) => {
          reject(new Error(`Cannot ${what}: the ${this.#whose} ${why}`));
        },
      };
      this.#faults.add(fault);
    });
  }

  /** A fault that stays until it is given up. */
  always(rule: (packet: P) => V | undefined): void {
    this.#faults.add({ rule, giveUp() {} });
  }

  /** Forgets all faults; promises not kept yet are rejected. */
  giveUp(why: string): void {
    for (const { giveUp } of this.#faults) giveUp(why);
    this.#faults.clear();
  }
}
