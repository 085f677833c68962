/** A binary heap, which keeps the item at hand that precedes all others. */
export class Heap<T> {
  readonly #precedes: (one: T, other: T) => boolean;
  #items: T[] = [];

  constructor(precedes: (one: T, other: T) => boolean) {
    this.#precedes = precedes;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let index = items.length;
    items.push(item);
    // The new item rises until its parent precedes it.
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#precedes(item, items[parent]!)) break;
      items[index] = items[parent]!;
      index = parent;
    }
    items[index] = item;
  }

  /** Removes the first item. */
  shift(): void {
    const items = this.#items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return;
    // The last item takes the free place at the top, and sinks until it precedes its children.
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#precedes(items[child + 1]!, items[child]!)) child += 1;
      if (!this.#precedes(items[child]!, last)) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = last;
  }

  /** Removes all items that are not wanted. */
  keep(isWanted: (item: T) => boolean): void {
    const wanted = this.#items.filter(isWanted);
    this.#items = [];
    for (const item of wanted) this.push(item);
  }

  clear(): void {
    this.#items = [];
  }
}
