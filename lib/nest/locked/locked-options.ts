import { type AcquireOptions, checkAcquireOptions } from '../../lock/acquire-options.js';
import { shown } from '../../lock/shown.js';
import { LockConfigurationError, type LockError, type LockTimeoutError } from '../../lock/errors.js';
import type { LossReason } from '../../lock/events.js';
import type { AsJson, JsonOf } from '../../lock/json.js';
import { checkConnectionName } from '../distributed-lock-options.js';
import { DEFAULT_CONNECTION } from '../lock-service-token.js';

/** What an `onLost` hook is told. `JSON.stringify` takes it as it is. */
export interface LockLoss extends LossFacts, AsJson<JsonOf<LossFacts>> {}

export interface LossFacts {
  readonly key: string;
  /** The fencing token of the lock that was lost; undefined for a lock of this process alone. */
  readonly token: bigint | undefined;
  readonly reason: LossReason;
  /** The method that ran under the lock: `OrdersService.pay`. */
  readonly by: string;
}

/** What a decorated method gives its caller: it decides how long the lock is held. */
export type LockedReturn = 'promise' | 'observable' | 'async-iterable';

/** What one decorated method may choose; the rest belongs to the module. */
export interface LockedOptions extends Omit<AcquireOptions, 'signal'> {
  /** Which of several connections, by the name that its module has. @default 'default' */
  readonly name?: string;
  /** Computes the placeholders from the arguments, instead of binding them one by one. */
  readonly keys?: (...args: never[]) => object;
  /**
   * What to do when others hold the lock for all of `waitMs`: `throw` the LockTimeoutError, `skip` the call (it resolves
   * with undefined, a stream ends empty), or what the function returns instead. @default 'throw'
   */
  readonly onBusy?: 'throw' | 'skip' | ((error: LockTimeoutError) => unknown);
  /**
   * Called once when the lock is lost while the method runs, for compensation. The caller gets its LockLostError without
   * waiting for the hook; an error of the hook is logged.
   */
  readonly onLost?: (loss: LockLoss) => unknown;
  /** What the method returns, where the compiler leaves no trace of it (no `emitDecoratorMetadata`). */
  readonly returns?: LockedReturn;
  /** false: placeholders never bind by a parameter's name, which compilers may change. @default true */
  readonly paramNames?: boolean;
  /**
   * How long the lock waits for somebody to subscribe to an Observable that an `async` method returned, and for the next
   * value of an async generator to be asked for, in milliseconds.
   * @default 10000
   */
  readonly subscribeWithinMs?: number;
}

/** The options with every default in place. */
export interface ResolvedLockedOptions {
  readonly name: string;
  readonly acquire: Omit<AcquireOptions, 'signal'>;
  readonly keys: ((...args: never[]) => object) | undefined;
  readonly onBusy: 'throw' | 'skip' | ((error: LockTimeoutError) => unknown);
  readonly onLost: ((loss: LockLoss) => unknown) | undefined;
  readonly returns: LockedReturn | undefined;
  readonly paramNames: boolean;
  readonly subscribeWithinMs: number;
}

const DEFAULT_SUBSCRIBE_WITHIN_MS = 10_000;
/** The longest delay of a timer: Node takes a longer one for 1 ms. */
const MAX_TIMER_MS = 0x7fff_ffff;
const RETURNS: readonly LockedReturn[] = ['promise', 'observable', 'async-iterable'];
const MAX_LABEL_LENGTH = 200;
/** The known options. Those of the first row are passed on to each acquire. */
const KNOWN = [
  ...['mode', 'waitMs', 'leaseMs', 'reentrant', 'label'],
  ...['name', 'keys', 'onBusy', 'onLost', 'returns', 'paramNames', 'subscribeWithinMs'],
];

/** @throws LockConfigurationError that names the method, the option and what was expected */
export function resolveLockedOptions(options: LockedOptions, by: string, where: string): ResolvedLockedOptions {
  const { name, keys, onBusy, onLost, returns, paramNames, subscribeWithinMs, ...acquire } = options;
  const refuse = (option: string, what: string): never => {
    throw new LockConfigurationError(`${where}: ${option}: ${what}`);
  };
  if ('signal' in acquire) refuse('signal', 'is for one call, not for a method: use LockService.withLock');
  try {
    checkAcquireOptions(acquire, undefined, KNOWN);
    checkConnectionName(name ?? DEFAULT_CONNECTION);
  } catch (error) {
    throw new LockConfigurationError(`${where}: ${(error as LockError).details}`, undefined, { cause: error });
  }
  if (keys !== undefined && typeof keys !== 'function') refuse('keys', 'must be a function of the arguments');
  if (onBusy !== undefined && typeof onBusy !== 'function' && onBusy !== 'throw' && onBusy !== 'skip') {
    refuse('onBusy', `must be throw, skip or a function of the error, not ${shown(onBusy)}`);
  }
  if (onLost !== undefined && typeof onLost !== 'function') refuse('onLost', 'must be a function');
  if (returns !== undefined && !RETURNS.includes(returns)) {
    refuse('returns', `must be one of ${RETURNS.join(', ')}, not ${shown(returns)}`);
  }
  if (paramNames !== undefined && typeof paramNames !== 'boolean') refuse('paramNames', 'must be true or false');
  const isTime = typeof subscribeWithinMs === 'number' && subscribeWithinMs > 0 && subscribeWithinMs <= MAX_TIMER_MS;
  if (subscribeWithinMs !== undefined && !isTime) {
    const expected = `a number of milliseconds above 0 and at most ${MAX_TIMER_MS}`;
    refuse('subscribeWithinMs', `must be ${expected}, not ${shown(subscribeWithinMs)}`);
  }
  return {
    name: name ?? DEFAULT_CONNECTION,
    acquire: Object.freeze({ label: by.slice(0, MAX_LABEL_LENGTH), ...acquire }),
    keys,
    onBusy: onBusy ?? 'throw',
    onLost,
    returns,
    paramNames: paramNames ?? true,
    subscribeWithinMs: subscribeWithinMs ?? DEFAULT_SUBSCRIBE_WITHIN_MS,
  };
}
