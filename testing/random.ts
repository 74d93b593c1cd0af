// Numbers that look like chance and are the same for the same seed, on every runtime.
// Pure. Not for secrets.
// Used by clock.ts, and by simulations, which draw from a stream of their own for each purpose.

/**
 * A stream of numbers (xoshiro128**). Streams of one seed but of different names
 * have nothing to do with each other: drawing more from one moves no other.
 */
export class Random {
  readonly #state: Uint32Array = new Uint32Array(4);

  /**
   * @param seed Any integer.
   * @param name What the numbers are for.
   */
  constructor(seed: number, name = "") {
    let mixed = seed | 0;
    for (let i = 0; i < name.length; i++) {
      mixed = Math.imul(mixed ^ name.charCodeAt(i), 0x01000193);
    }
    // Four words by splitmix32, as the authors advise.
    for (let i = 0; i < 4; i++) {
      mixed = (mixed + 0x9e3779b9) | 0;
      let word = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      this.#state[i] = word ^ (word >>> 15);
    }
  }

  /** 32 bits. */
  bits(): number {
    const s = this.#state;
    const result = Math.imul(rotate(Math.imul(s[1], 5), 7), 9) >>> 0;
    const shifted = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 11);
    return result;
  }

  /** From 0 up to, but not, 1. */
  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  /** An integer, from one to the other inclusive. */
  between(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  /** True in so many of all cases, from 0 to 1. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** One of several. */
  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.fraction() * from.length)];
  }

  /** Puts a list into another order, in place. */
  shuffle<T>(list: T[]): T[] {
    for (let i = list.length - 1; i > 0; i--) {
      const j = Math.floor(this.fraction() * (i + 1));
      [list[i], list[j]] = [list[j], list[i]];
    }
    return list;
  }

  /** Fills bytes. */
  fill(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.bits();
  }
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
