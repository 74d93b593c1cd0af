// Readings of the clock: how long ago was that, and when did we last send before then?
// Reads no clock itself: moments come in as arguments.
// Read by environment.ts; kept and compared by pulse.ts, and by lock/ for its deadline.

/** One reading of both clocks, in ms. */
export interface Moment {
  /** Never set back, but may stand still while the machine sleeps. */
  readonly mono: number;
  /** Goes on while the machine sleeps, but may be set. */
  readonly wall: number;
}

/**
 * How long ago `since` was, in ms: the larger of what the two clocks say. A
 * suspended machine shows on the wall clock alone; a wall clock that is set
 * forward only makes us believe that more time has passed, which is safe.
 */
export function elapsed(since: Moment, now: Moment): number {
  return Math.max(now.mono - since.mono, now.wall - since.wall);
}

/** More than this many moments are never looked back on: 256 of T/64 each are four timeouts. */
const kept = 256;

/**
 * When frames left on the current connection. Thinned out: what is asked for is
 * "a frame sent before then", and an older answer is a safe one.
 */
export class SentTimes {
  #moments: Moment[] = [];
  #spacing = 0;

  /** Starts again, for a new connection. */
  reset(): void {
    this.#moments = [];
  }

  /** Keeps moments that are at least this far apart, in ms. */
  thinTo(spacing: number): void {
    this.#spacing = spacing;
  }

  add(now: Moment): void {
    const last = this.#moments.at(-1);
    if (last !== undefined && now.mono - last.mono < this.#spacing) return;
    this.#moments.push(now);
    if (this.#moments.length > 2 * kept) {
      this.#moments = this.#moments.slice(-kept);
    }
  }

  /** The oldest kept moment that lies strictly after `mono`, if any. */
  after(mono: number): Moment | undefined {
    return this.#moments.find((moment) => moment.mono > mono);
  }

  /** The newest kept moment that lies strictly before `mono`, if any. */
  before(mono: number): Moment | undefined {
    for (let i = this.#moments.length - 1; i >= 0; i--) {
      if (this.#moments[i].mono < mono) return this.#moments[i];
    }
    return undefined;
  }
}
