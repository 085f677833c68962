import type { Timer } from '../../../lock/clock.js';

/** Something that will happen at an instant of virtual time. */
export class ScheduledEvent implements Timer {
  cancelled = false;

  constructor(
    readonly atMs: number,
    /** Decides between events of the same instant; random where the schedule is seeded. */
    readonly tieBreak: number,
    readonly order: number,
    readonly run: () => void,
  ) {}

  cancel(): void {
    this.cancelled = true;
  }

  precedes(other: ScheduledEvent): boolean {
    if (this.atMs !== other.atMs) return this.atMs < other.atMs;
    if (this.tieBreak !== other.tieBreak) return this.tieBreak < other.tieBreak;
    return this.order < other.order;
  }
}

/** A binary heap. Cancelled events stay in it until they come up, or until they are too many. */
export class EventHeap {
  #events: ScheduledEvent[] = [];
  #sizeAfterLastSweep = 1024;

  push(event: ScheduledEvent): void {
    if (this.#events.length > 2 * this.#sizeAfterLastSweep) this.#sweep();
    this.#events.push(event);
    this.#rise(this.#events.length - 1);
  }

  /** The next event that still counts. */
  peek(): ScheduledEvent | undefined {
    while (this.#events[0]?.cancelled === true) this.#removeFirst();
    return this.#events[0];
  }

  pop(): ScheduledEvent | undefined {
    const next = this.peek();
    if (next !== undefined) this.#removeFirst();
    return next;
  }

  /** Deadlines are mostly cancelled long before they are due: without this they would pile up. */
  #sweep(): void {
    this.#events = this.#events.filter((event) => !event.cancelled).sort((a, b) => (a.precedes(b) ? -1 : 1));
    this.#sizeAfterLastSweep = Math.max(1024, this.#events.length);
  }

  #removeFirst(): void {
    const last = this.#events.pop();
    if (last === undefined || this.#events.length === 0) return;
    this.#events[0] = last;
    this.#sink(0);
  }

  #rise(start: number): void {
    const events = this.#events;
    const event = events[start] as ScheduledEvent;
    let index = start;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = events[parentIndex] as ScheduledEvent;
      if (!event.precedes(parent)) break;
      events[index] = parent;
      index = parentIndex;
    }
    events[index] = event;
  }

  #sink(start: number): void {
    const events = this.#events;
    const event = events[start] as ScheduledEvent;
    let index = start;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = events[childIndex];
      if (child === undefined) break;
      const sibling = events[childIndex + 1];
      if (sibling?.precedes(child) === true) {
        child = sibling;
        childIndex += 1;
      }
      if (!child.precedes(event)) break;
      events[index] = child;
      index = childIndex;
    }
    events[index] = event;
  }
}
