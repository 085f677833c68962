import { AsyncResource } from 'node:async_hooks';
import type { Clock } from '../../lock/clock.js';
import type { Session } from '../../session/session.js';
import type { PendingTimer, Timers } from '../timers.js';

/** What a watch must know of its lock. */
interface Remaining {
  /** 0 when the lock is not held any more. */
  remainingMs(): number;
}

/** Calls back each time when so little of a lock's time is left. */
export class RemainingWatch {
  readonly #lock: Remaining;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #belowMs: number;
  readonly #callback: (remainingMs: number) => void;
  #timer: PendingTimer | undefined;
  /** Whether it was told, and more has not been left since. */
  #isTold = false;
  #isStopped = false;

  constructor(
    lock: Remaining,
    session: Session,
    timers: Timers,
    belowMs: number,
    callback: (remainingMs: number) => void,
  ) {
    this.#lock = lock;
    this.#clock = session.clock;
    this.#timers = timers;
    this.#belowMs = belowMs;
    // A timer runs in no call's context, and the callback is the business of the call that has asked for it.
    this.#callback = AsyncResource.bind(callback);
    this.#begin(session);
  }

  #begin(session: Session): void {
    const remainingMs = this.#lock.remainingMs();
    if (remainingMs > this.#belowMs) return this.#arm(remainingMs - this.#belowMs);
    // A lock that has just begun may rest on a proof from long before. That is no reason to warn, if the next one comes in time.
    this.#arm(remainingMs / 2);
    session.proveLife(this.#belowMs).then(
      () => this.look(),
      () => undefined,
    );
  }

  /** The end may be nearer than it was. */
  look(): void {
    if (!this.#isStopped) this.#arm(0);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #arm(inMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#timers.set(this.#clock.now() + inMs, () => this.#onTimer());
  }

  #onTimer(): void {
    const remainingMs = this.#lock.remainingMs();
    // The loss is told by the signal of the handle, and nothing comes after it.
    if (remainingMs === 0) return this.stop();
    if (remainingMs > this.#belowMs) {
      // Each proof of life, and each `extend`, puts the end off, so the timer only looks again when it fires.
      this.#isTold = false;
      return this.#arm(remainingMs - this.#belowMs);
    }
    this.#arm(remainingMs);
    if (this.#isTold) return;
    this.#isTold = true;
    this.#callback(remainingMs);
  }
}
