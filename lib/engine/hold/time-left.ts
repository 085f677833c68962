import { AsyncResource } from 'node:async_hooks';
import type { Clock } from '../../lock/clock.js';
import { LockConfigurationError } from '../../lock/errors.js';
import type { Session } from '../../session/session.js';
import type { PendingTimer, Timers } from '../timers.js';

/** The leases on one hold. Each call may have set its own, and the one that ends first ends the hold. */
export class Leases {
  readonly #ends = new Map<object, PendingTimer>();

  constructor(
    private readonly timers: Timers,
    private readonly onEnded: () => void,
  ) {}

  /** When the first lease ends; Infinity where there is none. */
  get earliest(): number {
    let earliest = Infinity;
    for (const { at } of this.#ends.values()) earliest = Math.min(earliest, at);
    return earliest;
  }

  has(owner: object): boolean {
    return this.#ends.has(owner);
  }

  set(owner: object, endsAt: number): void {
    this.#ends.get(owner)?.cancel();
    this.#ends.set(owner, this.timers.set(endsAt, this.onEnded));
  }

  delete(owner: object): void {
    this.#ends.get(owner)?.cancel();
    this.#ends.delete(owner);
  }

  clear(): void {
    for (const timer of this.#ends.values()) timer.cancel();
    this.#ends.clear();
  }
}

/**
 * Finds the owner of the lease that a call extends: the first of these that has one.
 * @throws LockConfigurationError where none of them has
 */
export function leaseholder<Owner extends object>(
  leases: Leases | undefined,
  owners: readonly Owner[],
  key: string,
): Owner {
  const owner = owners.find((one) => leases?.has(one));
  if (owner !== undefined) return owner;
  const text = `The lock ${key} was acquired without leaseMs: it has no lease to extend`;
  throw new LockConfigurationError(text, key);
}

/** The lock of a watch, as far as the watch needs it. */
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
  /** Whether the callback was called, and more time has not been left since. */
  #isTold = false;
  #isStopped = false;

  constructor(
    { session, timers }: { readonly session: Session; readonly timers: Timers },
    lock: Remaining,
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

  /** Must be called when the end of the lock may be nearer than it was. */
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
