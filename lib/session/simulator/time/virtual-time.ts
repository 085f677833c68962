import { setImmediate } from 'node:timers';
import type { Timer } from '../../../lock/clock.js';
import { EventHeap, ScheduledEvent } from './event-heap.js';
import type { SeededRandom } from './random.js';
import type { Timeline } from './timeline.js';

/** The wall clock of every virtual world starts at 2024-01-01, so that runs can be compared. */
const WALL_CLOCK_START_MS = 1_704_067_200_000;
/** This many events at one instant are a loop, not a schedule. */
const MAX_EVENTS_AT_ONE_INSTANT = 1_000_000;

/** Resolves when all promises that can go on have done so, however long their chain: a macrotask runs after them. */
function promisesHadTheirTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Time that moves only when a test says so, from event to event. */
export class VirtualTime implements Timeline {
  readonly #heap = new EventHeap();
  #nowMs = 0;
  #order = 0;
  #outsideWasCalled = false;
  #running = false;
  #eventsAtThisInstant = 0;

  /** @param chance decides the order of events of the same instant; without it they keep the order of scheduling */
  constructor(readonly chance: SeededRandom | undefined) {}

  now(): number {
    return this.#nowMs;
  }

  wallNow(): number {
    return WALL_CLOCK_START_MS + Math.floor(this.#nowMs);
  }

  after(delayMs: number, run: () => void): Timer {
    const tieBreak = this.chance === undefined ? 0 : this.chance.word();
    const event = new ScheduledEvent(this.#nowMs + Math.max(0, delayMs), tieBreak, this.#order, run);
    this.#order += 1;
    this.#heap.push(event);
    return event;
  }

  noteOutsideCall(): void {
    this.#outsideWasCalled = true;
  }

  /**
   * Runs events until `done` holds or time reaches `limitAt`. Promises get their turn before `done` is asked.
   * @returns whether `done` holds
   */
  async run(done: () => boolean, limitAt: number): Promise<boolean> {
    if (this.#running) throw new Error('Virtual time is already running: await one run before starting the next.');
    this.#running = true;
    try {
      // Code that was started before this run gets its turn first.
      await promisesHadTheirTurn();
      while (!done()) {
        if (!this.#step(limitAt)) return done();
        if (this.#outsideWasCalled) {
          this.#outsideWasCalled = false;
          await promisesHadTheirTurn();
        }
      }
      return true;
    } finally {
      this.#running = false;
    }
  }

  /** The same as `run`, for schedules in which no code outside the simulator takes part. */
  runAlone(done: () => boolean, limitAt: number): boolean {
    while (!done()) {
      if (!this.#step(limitAt)) return done();
    }
    return true;
  }

  #step(limitAt: number): boolean {
    const next = this.#heap.peek();
    if (next === undefined || next.atMs > limitAt) {
      this.#moveTo(Math.max(this.#nowMs, limitAt));
      return false;
    }
    this.#heap.pop();
    this.#moveTo(next.atMs);
    this.#eventsAtThisInstant += 1;
    if (this.#eventsAtThisInstant > MAX_EVENTS_AT_ONE_INSTANT) {
      throw new Error(`Virtual time stands still at ${this.#nowMs} ms: something reschedules itself without delay.`);
    }
    next.run();
    return true;
  }

  #moveTo(nowMs: number): void {
    if (nowMs === this.#nowMs) return;
    this.#nowMs = nowMs;
    this.#eventsAtThisInstant = 0;
  }
}
