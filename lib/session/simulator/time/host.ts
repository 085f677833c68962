import type { Clock, Timer } from '../../../lock/clock.js';
import type { Timeline } from './timeline.js';

/**
 * One operating system process that can be stopped, continued and killed (SIGSTOP, SIGCONT, SIGKILL). Time goes on
 * while it is stopped.
 */
export class Host {
  readonly clock: Clock;
  readonly #timeline: Timeline;
  readonly #runsOutsideCode: boolean;
  #state: 'running' | 'paused' | 'killed' = 'running';
  #overdueTimers: (() => void)[] = [];
  #waitingDeliveries: (() => void)[] = [];
  #catchingUp = false;

  /**
   * @param runsOutsideCode whether code that waits for promises runs here: true for a client, false for a simulated
   * server
   */
  constructor(timeline: Timeline, runsOutsideCode: boolean) {
    this.#timeline = timeline;
    this.#runsOutsideCode = runsOutsideCode;
    this.clock = {
      now: () => timeline.now(),
      wallNow: () => timeline.wallNow(),
      setTimer: (delayMs, callback) => this.setTimer(delayMs, callback),
      ...(timeline.keepAwake === undefined ? {} : { keepAwake: timeline.keepAwake }),
    };
  }

  get alive(): boolean {
    return this.#state !== 'killed';
  }

  get paused(): boolean {
    return this.#state === 'paused';
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    let cancelled = false;
    const run = (): void => {
      if (!cancelled) this.#call(callback);
    };
    const timer = this.#timeline.after(delayMs, () => this.#admit(this.#overdueTimers, run));
    return {
      cancel: () => {
        cancelled = true;
        timer.cancel();
      },
    };
  }

  /** Delivers a message to this process. */
  deliver(callback: () => void): void {
    this.#admit(this.#waitingDeliveries, () => this.#call(callback));
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    // Promises of the code that resumed the process come first, so catching up begins with the next event.
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    this.#timeline.after(0, () => this.#catchUp());
  }

  kill(): void {
    this.#state = 'killed';
    this.#overdueTimers = [];
    this.#waitingDeliveries = [];
  }

  #admit(queue: (() => void)[], run: () => void): void {
    if (this.#state === 'killed') return;
    if (this.#state === 'paused' || this.#catchingUp) queue.push(run);
    else run();
  }

  /** Runs the waiting events one at a time, so that promises get their turn in between. */
  // Overdue timers run before messages, as in Node's event loop: the first timer after a stop still sees the old world.
  #catchUp(): void {
    const next =
      this.#state === 'running' ? (this.#overdueTimers.shift() ?? this.#waitingDeliveries.shift()) : undefined;
    if (next === undefined) {
      this.#catchingUp = false;
      return;
    }
    this.#timeline.after(0, () => this.#catchUp());
    next();
  }

  #call(callback: () => void): void {
    if (this.#runsOutsideCode) this.#timeline.noteOutsideCall();
    callback();
  }
}
