// The rules of a queue: in which order, who is ahead, whom do I wait for?
// Pure: knows no client.
// Used by directory.ts to line up what it lists, and by contend.ts.

import { type ContenderName, parseName } from "./names.ts";

/** Numbers of a parent wrap as 32-bit integers do, so they are compared by distance. */
export function compareSequences(a: number, b: number): number {
  return (a - b) | 0;
}

/** Numbers that lie within this of each other have one order for everybody. */
const oneOrder = 2 ** 30;

/** Where somebody stands. */
export interface Standing {
  readonly own: ContenderName;
  /** Contenders in order, as seen from there… */
  readonly order: readonly ContenderName[];
  /** …and how many of them, from the first on, are ahead. */
  readonly ahead: number;
  /** Somebody else has the same number: nobody can tell who came first. */
  readonly tied: boolean;
}

/** Contenders in order, and the children that are none. */
export class Line {
  /** In the order of those who are close together, as all are but for strange names. */
  readonly contenders: readonly ContenderName[];
  readonly strangers: readonly string[];
  readonly #close: boolean;
  #places: Map<string, number> | undefined;

  /** @param names Names of the children of a lock, in any order. */
  constructor(names: readonly string[]) {
    const contenders: ContenderName[] = [];
    const strangers: string[] = [];
    for (const name of names) {
      const parsed = parseName(name);
      if (parsed) contenders.push(parsed);
      else strangers.push(name);
    }
    const from = contenders[0]?.sequence ?? 0;
    this.contenders = ordered(contenders, from);
    this.strangers = strangers;
    const first = this.contenders[0]?.sequence ?? from;
    const last = this.contenders.at(-1)?.sequence ?? from;
    // Two distances, each within 32 bits; what lies between need not be.
    const span = compareSequences(last, from) - compareSequences(first, from);
    this.#close = span < oneOrder;
  }

  /**
   * Where somebody stands; undefined if it is not in the line. Numbers far apart
   * (a child of that name made by hand) have no order that is the same for all:
   * then what counts is the distance to one's own.
   */
  standingOf(name: string): Standing | undefined {
    this.#places ??= new Map(this.contenders.map((c, i) => [c.name, i]));
    const at = this.#places.get(name);
    if (at === undefined) return undefined;
    const own = this.contenders[at];
    if (this.#close) return standing(this.contenders, at);
    const order = ordered(this.contenders, own.sequence);
    return standing(order, order.indexOf(own));
  }
}

function ordered(
  contenders: readonly ContenderName[],
  from: number,
): ContenderName[] {
  const distance = ({ sequence }: ContenderName) =>
    compareSequences(sequence, from);
  // Between equals the order only has to be the same for everybody.
  return [...contenders].sort((a, b) =>
    distance(a) - distance(b) || (a.name < b.name ? -1 : 1)
  );
}

function standing(order: readonly ContenderName[], at: number): Standing {
  const own = order[at];
  const tied = order[at - 1]?.sequence === own.sequence ||
    order[at + 1]?.sequence === own.sequence;
  return { own, order, ahead: at, tied };
}

/**
 * Of the first `ahead` in order: whose going could make it my turn? Nobody: it
 * is. For a lock that one may hold it is the nearest, so that each one that goes
 * wakes exactly one other.
 */
export type Rule = (
  order: readonly ContenderName[],
  ahead: number,
) => readonly ContenderName[];

/** One at a time, in order. */
export const exclusive: Rule = (order, ahead) =>
  ahead === 0 ? [] : [order[ahead - 1]];

/** From this number on a lock gives warning; 2^20 are left then. */
export const warnFrom: number = 0x7fffffff - 0xfffff;

/** Whether a number tells an order no more: the counter has stuck, or run over. */
export function isExhausted(sequence: number): boolean {
  return sequence === 0x7fffffff || sequence < 0;
}
