import { Logger } from '@nestjs/common';
import type { LockService } from '../../engine/lock-service.js';
import { detailsOf, LockAbortedError, LockQueueFullError, LockTimeoutError } from '../../lock/errors.js';
import type { LockEvent } from '../../lock/events.js';
import type { LockHandle } from '../../lock/handle.js';
import { withJson } from '../../lock/json.js';
import { logLockError, logRefusal, tellOfEvent } from '../log-lock-error.js';
import type { ResolvedLockedOptions } from './locked-options.js';
import type { ParameterNote } from './notes.js';
import { recoverFor, type Recovered } from './recoveries.js';
import { serviceFor } from './service-slot.js';

/** Everything about a decorated method that is known before its first call. */
export interface LockedPlan {
  /** `OrdersService.pay` */
  readonly by: string;
  readonly method: string | symbol;
  readonly original: (...args: unknown[]) => unknown;
  readonly keyOf: (instance: unknown, args: readonly unknown[]) => string;
  /** The parameters that the lock fills. */
  readonly filled: readonly ParameterNote[];
  readonly options: ResolvedLockedOptions;
  /** What a holder that vanished has left is recovered first. */
  readonly recovered: Recovered | undefined;
}

/** The result that took the place of a call whose lock was busy. */
export class BusyInstead {
  constructor(readonly result: unknown) {}
}

/**
 * The way of every decorated call, without detours: its key, the lock, the parameters that it fills, the body.
 * @param body runs the method inside the lock, however the method gives its result
 */
// Every decorated call comes this way: an object around its parameters would be made for each of them.
// eslint-disable-next-line max-params
export async function runLocked<T>(
  plan: LockedPlan,
  instance: unknown,
  args: readonly unknown[],
  body: (args: unknown[], lock: LockHandle) => T | PromiseLike<T>,
  signal?: AbortSignal,
): Promise<T | BusyInstead> {
  const { options, by } = plan;
  let at = 'queue' as 'queue' | 'recovery' | 'method';
  let hook: LossHook | undefined;
  try {
    const key = plan.keyOf(instance, args);
    const service = serviceFor(instance, options.name, by);
    const recover = plan.recovered && recoverFor(instance, plan.recovered);
    const recovers = recover && {
      recover: (lock: LockHandle) => {
        at = 'recovery';
        return recover(lock);
      },
    };
    return await service.withLock(
      key,
      (lock) => {
        at = 'method';
        const inside = (): T | PromiseLike<T> => body(fill(args, plan.filled, lock), lock);
        if (options.onLost === undefined) return inside();
        hook = listenForLoss(service, lock, plan, options.onLost);
        return withCompensation(inside, hook);
      },
      recovers === undefined && signal === undefined
        ? options.acquire
        : { ...options.acquire, ...recovers, ...(signal && { signal }) },
    );
  } catch (error) {
    // Inside this lock, such an error comes from another lock that the body asked for, and is the body's own business.
    const isBusy = at === 'queue' && (error instanceof LockTimeoutError || error instanceof LockQueueFullError);
    if (!isBusy || options.onBusy === 'throw') {
      tellOfEvent(error, instance, plan, at === 'method');
      // No answer says who is in the way, and Nest does not log an error that has a status.
      if (isBusy) logRefusal(error);
      else logLockError(error);
      throw error;
    }
    return new BusyInstead(options.onBusy === 'skip' ? undefined : await options.onBusy(error));
  } finally {
    hook?.stopListening();
  }
}

/** The `onLost` hook of one call. */
interface LossHook {
  readonly stopListening: () => void;
  /** What the hook does about a lock that somebody has broken; undefined until then. */
  compensation: Promise<void> | undefined;
}

async function withCompensation<T>(inside: () => T | PromiseLike<T>, hook: LossHook): Promise<T> {
  try {
    return await inside();
  } finally {
    // The work under a broken lock has ended when its hook has: until then the lock's node keeps others out.
    await hook.compensation;
  }
}

/** Ends work that is over now. If its lock was lost before, the work fails with that loss. */
export function settleAs(lock: LockHandle, end: () => void, fail: (loss: unknown) => void): void {
  try {
    lock.assertHeld();
  } catch (loss) {
    return fail(loss);
  }
  end();
}

function fill(args: readonly unknown[], filled: readonly ParameterNote[], lock: LockHandle): unknown[] {
  // What a caller sent in the place of a token is overwritten: it proves nothing.
  const all = [...args];
  for (const { kind, index } of filled) all[index] = kind === 'fence' ? lock.fencingToken : lock;
  return all;
}

/** The methods whose hook has run for a loss. */
const plansTold = new WeakMap<LockEvent, Set<LockedPlan>>();

function listenForLoss(
  service: LockService,
  lock: LockHandle,
  plan: LockedPlan,
  onLost: NonNullable<ResolvedLockedOptions['onLost']>,
): LossHook {
  const { by } = plan;
  const tell = async (loss: Parameters<typeof onLost>[0]): Promise<void> => {
    try {
      await onLost(loss);
    } catch (error) {
      new Logger('Locked').error(
        `The onLost hook of ${by} failed for ${loss.key}: ${detailsOf(error)}`,
        (error as Error).stack,
      );
    }
  };
  const ownToken = lock.scope === 'fleet' ? lock.fencingToken : undefined;
  const subscription = service.events$.subscribe((event) => {
    // Other readers in this process may hold the same key, and lose it: the token tells whose loss this is.
    if (event.type !== 'lost' || event.key !== lock.key || event.token !== ownToken) return;
    // A lock of this process alone has no token: it is lost when its handle says so. The question itself may find the loss;
    // then the event for it has come, and was handled, while `isHeld()` ran.
    if (ownToken === undefined && (lock.isHeld() || subscription.closed)) return;
    subscription.unsubscribe();
    // Calls of one method that share the lock (by recursion, or side by side in one caller) lose it once.
    const plans = plansTold.get(event) ?? new Set();
    if (plans.has(plan)) return;
    plansTold.set(event, plans.add(plan));
    const told = tell(withJson({ key: event.key, token: event.token, reason: event.reason, by }));
    if (event.reason === 'broken') hook.compensation = told;
  });
  const hook: LossHook = { stopListening: () => subscription.unsubscribe(), compensation: undefined };
  return hook;
}

/** The lock was acquired, and released because the stream or iteration under it was not begun in time. Nobody aborted the wait. */
abstract class ReleasedEarlyError extends LockAbortedError {
  override readonly name = LockAbortedError.name;
}

export class NotSubscribedError extends ReleasedEarlyError {
  static override readonly outward: string = 'The lock was released, because nobody subscribed to its stream in time';

  constructor(by: string, withinMs: number, key: string) {
    super(
      `Nobody subscribed within ${withinMs} ms to what ${by} returned, so its lock ${key} was released. Subscribe to it at ` +
        'once, or raise subscribeWithinMs in @Locked',
      key,
    );
  }
}

export class NotAskedForError extends ReleasedEarlyError {
  static override readonly outward: string =
    'The lock was released, because the next value under it was not asked for in time';

  constructor(by: string, withinMs: number, key: string) {
    super(
      `Nobody asked for the next value of what ${by} returned within ${withinMs} ms of the one before, so its lock ${key} was ` +
        'released. A loop that takes longer than that for one value needs a higher subscribeWithinMs in @Locked',
      key,
    );
  }
}
