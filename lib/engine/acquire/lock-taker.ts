import { type AcquireOptions, checkAcquireOptions } from '../../lock/acquire-options.js';
import { Deadline } from '../../lock/deadline.js';
import { LockClosedError, type LockError, LockUnavailableError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import type { EngineContext } from '../context.js';
import type { Interrupt } from '../bounds/interrupt.js';
import { suspectDeadlock, type Suspicion } from '../policy/deadlock-suspicion.js';
import { raiseOnAbort } from '../bounds/interrupts.js';
import { checkKey } from './key.js';
import { Busy, obtain, tryObtain } from './obtain.js';
import { callerOf, type OwnedLock } from '../bounds/owner-context.js';
import { limitPatience } from '../policy/patience.js';
import type { LockRequest } from './place.js';
import { findReentry } from '../bounds/reentry.js';
import { busyError, timeoutError } from '../bounds/timeouts.js';

/** What is known of a call besides its options. */
export interface CallFacts {
  /** The lock service that is asked: the locks around the caller belong to services. */
  readonly service: object;
  readonly deadline: Deadline;
  /** @default that of the locks around the caller, or a new one */
  readonly owner?: string;
  /** Aborts when what the lock was to be a part of is over. Its reason is the `LockError` that ends the wait. */
  readonly end?: AbortSignal;
  /** For a wait that may be one in a circle. */
  readonly suspicion?: Suspicion | undefined;
}

/** Takes locks for callers: what can be checked before any I/O, re-entry, the deadline, the lock that stands in. */
export class LockTaker {
  readonly #context: EngineContext;
  readonly #local: LockTaker | undefined;
  #isRefusing = false;

  constructor(context: EngineContext, local: LockTaker | undefined) {
    this.#context = context;
    this.#local = local;
  }

  /** Waits for the lock, or shares the one around the caller. */
  async take(key: string, options: AcquireOptions, call: CallFacts): Promise<OwnedLock> {
    // To wait for no time at all is to try once: the deadline is for ZooKeeper's answer then.
    if ((options.waitMs ?? this.#context.settings.waitMs) === 0) {
      const taken = await this.#try(key, options, call);
      if (!(taken instanceof Busy)) return taken;
      const error = busyError(key, call.deadline, taken.holder);
      this.#report(key, options, error, call.deadline);
      throw error;
    }
    const around = this.#around(key, options, call);
    if (around !== undefined) return this.#share(around, call, options);
    const request = this.#build(key, options, call.owner);
    const connected = this.firstConnectionToTake(key, options, call);
    if (connected !== undefined) await connected;
    const interrupt = this.#interrupt(key, call, options.signal);
    try {
      if (interrupt.error !== undefined) throw interrupt.error;
      if (call.suspicion !== undefined) suspectDeadlock(this.#context, call.suspicion, interrupt);
      if (this.#local !== undefined) limitPatience(this.#context, key, call.deadline, interrupt);
      const hold = await obtain(this.#context, request, interrupt);
      return { hold, handle: hold.share() };
    } catch (error) {
      await this.#context.outbox.emptied();
      this.#report(key, options, error as Error, call.deadline);
      if (this.#local === undefined || !(error instanceof LockUnavailableError)) throw error;
      this.#context.events.next({ type: 'degraded', key, mode: request.mode, label: options.label });
      return this.#local.take(key, options, call);
    } finally {
      interrupt.dispose();
    }
  }

  /** @returns undefined when the lock is busy */
  async tryTake(key: string, options: AcquireOptions, call: CallFacts): Promise<OwnedLock | undefined> {
    const taken = await this.#try(key, options, call);
    return taken instanceof Busy ? undefined : taken;
  }

  async #try(key: string, options: AcquireOptions, call: CallFacts): Promise<OwnedLock | Busy> {
    const around = this.#around(key, options, call);
    if (around !== undefined) return this.#share(around, call, options);
    const request = this.#build(key, options, call.owner);
    try {
      const hold = await this.interruptibly(key, call, options.signal, (interrupt) => {
        if (this.#local !== undefined) limitPatience(this.#context, key, call.deadline, interrupt);
        return tryObtain(this.#context, request, interrupt);
      });
      if (!(hold instanceof Busy)) return { hold, handle: hold.share() };
      await this.#context.outbox.emptied();
      return hold;
    } catch (error) {
      await this.#context.outbox.emptied();
      this.#report(key, options, error as Error, call.deadline);
      if (this.#local === undefined || !(error instanceof LockUnavailableError)) throw error;
      this.#context.events.next({ type: 'degraded', key, mode: request.mode, label: options.label });
      return this.#local.#try(key, options, call);
    }
  }

  /**
   * What waits for the connection that is being made for the first time, which has a time of its own: the call's begins then.
   * Nobody waits for less than the time of the call, though little may be left of that of the connection.
   * Undefined for those that need not: a call that says how long it waits, or tries once, does so connected or not, and who has
   * a lock that stands in waits no longer than for any other link.
   */
  firstConnection(key: string, options: AcquireOptions, call: CallFacts): Promise<void> | undefined {
    const { uplink, settings, clock } = this.#context;
    if (this.#local !== undefined || options.waitMs !== undefined || settings.waitMs === 0) return undefined;
    const leftMs = uplink.firstConnectionMs(settings.connectTimeoutMs);
    if (leftMs === 0) return undefined;
    const deadline = Deadline.after(clock, Math.max(leftMs, call.deadline.remainingMs()));
    return this.#awaitFirstConnection(key, options, call, deadline);
  }

  async #awaitFirstConnection(
    key: string,
    options: AcquireOptions,
    call: CallFacts,
    deadline: Deadline,
  ): Promise<void> {
    const { uplink } = this.#context;
    await this.interruptibly(key, { ...call, deadline }, options.signal, (interrupt) => uplink.whenUp(interrupt));
    call.deadline.putOff(deadline.startedAt);
  }

  /** The same for a call that is to take a lock: that it fails is an event. */
  firstConnectionToTake(key: string, options: AcquireOptions, call: CallFacts): Promise<void> | undefined {
    const askedAt = Deadline.after(this.#context.clock, 0);
    return this.firstConnection(key, options, call)?.catch((error: unknown) => {
      this.#report(key, options, error as Error, askedAt);
      throw error;
    });
  }

  /** Checks everything that can be checked before any I/O. */
  request(key: string, options: AcquireOptions, owner?: string): LockRequest {
    checkKey(key);
    checkAcquireOptions(options, key);
    return this.#build(key, options, owner);
  }

  #build(key: string, options: AcquireOptions, owner: string | undefined): LockRequest {
    if (this.#isRefusing) throw closedError();
    const { settings, clock, identifiers } = this.#context;
    return {
      key,
      options,
      queuePath: settings.namespace + key,
      mode: options.mode ?? 'exclusive',
      owner: owner ?? callerOf(identifiers),
      askedAt: clock.now(),
    };
  }

  /** Runs `work` with what can end it from outside, and cleans that up. */
  async interruptibly<T>(
    key: string,
    call: CallFacts,
    signal: AbortSignal | undefined,
    work: (interrupt: Interrupt) => Promise<T>,
  ): Promise<T> {
    const interrupt = this.#interrupt(key, call, signal);
    try {
      if (interrupt.error !== undefined) throw interrupt.error;
      return await work(interrupt);
    } finally {
      interrupt.dispose();
    }
  }

  #interrupt(key: string, { deadline, end }: CallFacts, signal: AbortSignal | undefined): Interrupt {
    const { interrupts } = this.#context;
    const interrupt = interrupts.open(key, deadline, signal, (waiting) =>
      timeoutError(this.#context, key, deadline, waiting),
    );
    if (end !== undefined) raiseOnAbort(interrupt, end, (reason) => reason as LockError);
    return interrupt;
  }

  /** From now on every new request and everybody who waits is told that the service is closing; holders go on. */
  refuse(): void {
    this.#isRefusing = true;
    this.#context.interrupts.raiseAll(closedError);
  }

  /** The lock around the caller. It may be shared to the end, also while the service refuses new requests. */
  #around(key: string, options: AcquireOptions, { service }: CallFacts): OwnedLock | undefined {
    checkKey(key);
    checkAcquireOptions(options, key);
    return findReentry(service, key, options.mode ?? 'exclusive', options);
  }

  /** Another handle on a lock the caller has around it; waits for proof while the link is down. */
  async #share({ hold }: OwnedLock, call: CallFacts, options: AcquireOptions): Promise<OwnedLock> {
    const { signal, leaseMs } = options;
    const handle: LockHandle = hold.share();
    try {
      await this.interruptibly(handle.key, call, signal, (interrupt) => interrupt.guard(handle.whenSure()));
      if (leaseMs !== undefined) hold.lease(handle, leaseMs);
      return { hold, handle };
    } catch (error) {
      void handle.release();
      this.#report(handle.key, options, error as Error, call.deadline);
      throw error;
    }
  }

  #report(key: string, options: AcquireOptions, error: Error, deadline: Deadline): void {
    const { events } = this.#context;
    const { mode = 'exclusive', label } = options;
    events.next({ type: 'failed', key, mode, label, error, waitedMs: Math.round(deadline.elapsedMs()) });
  }
}

function closedError(): LockClosedError {
  return new LockClosedError('The lock service is closing, or closed: the application shuts down');
}
