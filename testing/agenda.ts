// What is to happen when: the earliest first, and of the same time in the order in which it was added.
// Pure: knows no clock.
// Used by clock.ts, and by simulations.

interface Item {
  at: number;
  order: number;
  run: () => void;
  isCancelled: boolean;
}

/** A heap of things to do. */
export class Agenda {
  readonly #heap: Item[] = [];
  #order = 0;
  #cancelled = 0;

  /** Number of things that are still to happen. */
  get size(): number {
    return this.#heap.length - this.#cancelled;
  }

  /** When the next one is due; Infinity for none. */
  get next(): number {
    while (this.#heap[0]?.isCancelled) {
      this.#take();
      this.#cancelled--;
    }
    return this.#heap[0]?.at ?? Infinity;
  }

  /** Adds something; answers how to take it back. */
  add(at: number, run: () => void): () => void {
    const item = { at, order: this.#order++, run, isCancelled: false };
    this.#heap.push(item);
    this.#rise(this.#heap.length - 1);
    return () => {
      if (!item.isCancelled) this.#cancelled++;
      item.isCancelled = true;
    };
  }

  /** Removes the next one and answers it; undefined for none. */
  take(): (() => void) | undefined {
    if (this.next === Infinity) return undefined;
    const item = this.#take();
    // What is done cannot be taken back.
    item.isCancelled = true;
    return item.run;
  }

  #take(): Item {
    const [first] = this.#heap;
    const last = this.#heap.pop()!;
    if (this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #rise(at: number): void {
    const heap = this.#heap;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(heap[at], heap[above])) return;
      [heap[at], heap[above]] = [heap[above], heap[at]];
      at = above;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    for (let at = 0;;) {
      let least = at;
      const left = 2 * at + 1, right = left + 1;
      if (left < heap.length && isBefore(heap[left], heap[least])) least = left;
      if (right < heap.length && isBefore(heap[right], heap[least])) {
        least = right;
      }
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least], heap[at]];
      at = least;
    }
  }
}

function isBefore(a: Item, b: Item): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
