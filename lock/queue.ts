// The rules of a queue: in which order, who is ahead, whom do I wait for?
// Pure: knows no client.
// Used by contend.ts.

import { type ContenderName, parseName } from "./names.ts";

/** Numbers of a parent wrap as 32-bit integers do, so they are compared by distance. */
export function compareSequences(a: number, b: number): number {
  return (a - b) | 0;
}

/** Contenders in order, and the children that are none. */
export class Line {
  readonly contenders: readonly ContenderName[];
  readonly strangers: readonly string[];
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
    // Between equals the order only has to be the same for everybody.
    contenders.sort((a, b) =>
      compareSequences(a.sequence, b.sequence) || (a.name < b.name ? -1 : 1)
    );
    this.contenders = contenders;
    this.strangers = strangers;
  }

  /** How many are ahead of this one; -1 if it is not in the line. */
  placeOf(name: string): number {
    this.#places ??= new Map(this.contenders.map((c, i) => [c.name, i]));
    return this.#places.get(name) ?? -1;
  }

  /** Whether somebody else has the same number, so that nobody can tell who came first. */
  hasTie(place: number): boolean {
    const { sequence } = this.contenders[place];
    return this.contenders[place - 1]?.sequence === sequence ||
      this.contenders[place + 1]?.sequence === sequence;
  }
}

/**
 * Of those ahead, in order: whose going could make it my turn? Nobody: it is.
 * For a lock that one may hold it is the nearest, so that each one that goes
 * wakes exactly one other.
 */
export type Rule = (
  ahead: readonly ContenderName[],
) => readonly ContenderName[];

/** One at a time, in order. */
export const exclusive: Rule = (ahead) => ahead.slice(-1);

/** From this number on a lock gives warning; 2^20 are left then. */
export const warnFrom: number = 0x7fffffff - 0xfffff;

/** Whether a number tells an order no more: the counter has stuck, or run over. */
export function isExhausted(sequence: number): boolean {
  return sequence === 0x7fffffff || sequence < 0;
}
