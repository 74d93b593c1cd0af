// Messages between a leader and its followers: late, in order, and held back while a link is cut, as TCP does.
// Knows no content.
// Used by ensemble.ts.

import type { Random } from "../../testing/random.ts";
import type { Member } from "./member.ts";
import type { World } from "./world.ts";

/** One direction between a follower and its leader. */
interface Link {
  /** Nothing arrives before what was sent earlier. */
  free: number;
  /** What arrived while the link was cut. */
  backlog: (() => void)[];
}

/** Which way a message goes. */
export type Direction = "up" | "down";

/** All links of an ensemble. */
export class Messages {
  readonly #world: World;
  readonly #random: Random;
  readonly #delay: [least: number, most: number];
  readonly #links = new Map<Member, Record<Direction, Link>>();

  constructor(
    world: World,
    random: Random,
    delay: [least: number, most: number],
  ) {
    this.#world = world;
    this.#random = random;
    this.#delay = delay;
  }

  /** Delivers something later; held back while it does not come through, dropped once it is void. */
  send(
    member: Member,
    direction: Direction,
    { run, isVoid, isThrough }: {
      run: () => void;
      isVoid: () => boolean;
      isThrough: () => boolean;
    },
  ): void {
    const link = this.#of(member)[direction];
    const [least, most] = this.#delay;
    const delay = least + this.#random.fraction() * (most - least);
    link.free = Math.max(link.free, this.#world.now + delay);
    const deliver = () => {
      if (!isVoid()) run();
    };
    this.#world.at(link.free, () => {
      if (!isThrough() || link.backlog.length > 0) link.backlog.push(deliver);
      else deliver();
    });
  }

  /** What was held back arrives. */
  flush(member: Member): void {
    for (const link of Object.values(this.#of(member))) {
      for (const deliver of link.backlog.splice(0)) deliver();
    }
  }

  /** A new connection: what was held back is lost. */
  forget(member: Member): void {
    this.#links.delete(member);
  }

  #of(member: Member): Record<Direction, Link> {
    let links = this.#links.get(member);
    if (links === undefined) {
      const link = (): Link => ({ free: 0, backlog: [] });
      this.#links.set(member, links = { up: link(), down: link() });
    }
    return links;
  }
}
