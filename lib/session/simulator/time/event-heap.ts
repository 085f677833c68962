import type { Timer } from '../../../lock/clock.js';
import { Heap } from '../../../lock/heap.js';

/** An event that will happen at an instant of virtual time. */
export class ScheduledEvent implements Timer {
  cancelled = false;

  constructor(
    readonly atMs: number,
    /** Orders events of the same instant. It is random where the schedule is seeded. */
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

/** Events by time. Cancelled events stay in the heap until they come up, or until there are too many of them. */
export class EventHeap {
  readonly #events = new Heap<ScheduledEvent>((one, other) => one.precedes(other));
  #sizeAfterLastSweep = 1024;

  push(event: ScheduledEvent): void {
    // The sweep waits until the heap has doubled, so that it costs little per event.
    if (this.#events.size > 2 * this.#sizeAfterLastSweep) this.#sweep();
    this.#events.push(event);
  }

  /** The next event that is not cancelled. */
  peek(): ScheduledEvent | undefined {
    while (this.#events.first?.cancelled === true) this.#events.shift();
    return this.#events.first;
  }

  pop(): ScheduledEvent | undefined {
    const next = this.peek();
    this.#events.shift();
    return next;
  }

  #sweep(): void {
    // Deadlines are mostly cancelled long before they are due, so cancelled events would pile up without this sweep.
    this.#events.keep((event) => !event.cancelled);
    this.#sizeAfterLastSweep = Math.max(1024, this.#events.size);
  }
}
