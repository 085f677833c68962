import { setImmediate } from 'node:timers';
import type { Clock, Timer } from '../../../lib/lock/clock.js';

interface SetTimer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Every promise that can go on has done so when this resolves. */
export function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Time that moves when the test says so. */
export class ManualClock implements Clock {
  readonly #timers = new Set<SetTimer>();
  #now: number;
  #order = 0;

  constructor(startAt = 1_000) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    if (Number.isNaN(delayMs)) throw new Error('A timer was set for NaN ms');
    const timer = { at: this.#now + Math.max(0, delayMs), order: this.#order, callback };
    this.#order += 1;
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  /** Timers that were set, have not fired and were not cancelled. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Lets time pass: timers fire when they are due, and promises go on in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await promisesSettled();
    for (let due = this.#due(end); due !== undefined; due = this.#due(end)) {
      this.#fire(due);
      await promisesSettled();
    }
    this.#now = end;
  }

  /** As `advance`, for code that waits for no promise. */
  pass(ms: number): void {
    const end = this.#now + ms;
    for (let due = this.#due(end); due !== undefined; due = this.#due(end)) this.#fire(due);
    this.#now = end;
  }

  /** The event loop is blocked: time passes and no timer fires. What fell due meanwhile fires, late, with the next step. */
  block(ms: number): void {
    this.#now += ms;
  }

  #due(end: number): SetTimer | undefined {
    let first: SetTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > end) continue;
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  }

  #fire(timer: SetTimer): void {
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.callback();
  }
}
