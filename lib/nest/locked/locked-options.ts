import {
  ACQUIRE_RULES,
  type AcquireOptions,
  checkAcquireOptions,
  MAX_LABEL_LENGTH,
} from '../../lock/acquire-options.js';
import type { LockQueueFullError, LockTimeoutError } from '../../lock/errors.js';
import type { LossReason } from '../../lock/events.js';
import type { AsJson, JsonOf } from '../../lock/json.js';
import {
  checkIsObject,
  checkOptions,
  must,
  MUST_BE_BOOLEAN,
  mustBeMillisecondsAboveZero,
  mustBeOneOf,
  refuse,
  withDefaults,
} from '../../lock/option-rules.js';
import { MUST_BE_NAME } from '../distributed-lock-options.js';
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
export interface LockedOptions extends Omit<AcquireOptions, 'signal' | 'recover'> {
  /** Which of several connections, by the name that its module has. @default 'default' */
  readonly name?: string;
  /** Computes the placeholders from the arguments, instead of binding them one by one. */
  readonly keys?: (...args: never[]) => object;
  /**
   * What to do when others hold the lock for all of `waitMs`, or more are ahead than `maxWaiting` allows: `throw` the
   * LockTimeoutError or LockQueueFullError, `skip` the call (it resolves with undefined, a stream ends empty), or what
   * the function returns instead. @default 'throw'
   */
  readonly onBusy?: 'throw' | 'skip' | ((error: LockTimeoutError | LockQueueFullError) => unknown);
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

type Defaults = Required<Pick<LockedOptions, 'name' | 'onBusy' | 'paramNames' | 'subscribeWithinMs'>>;

/** The options with every default in place. */
export interface ResolvedLockedOptions extends Defaults {
  readonly acquire: Omit<AcquireOptions, 'signal' | 'recover'>;
  readonly keys: LockedOptions['keys'] | undefined;
  readonly onLost: LockedOptions['onLost'] | undefined;
  readonly returns: LockedReturn | undefined;
}

const DEFAULTS: Defaults = {
  name: DEFAULT_CONNECTION,
  onBusy: 'throw',
  paramNames: true,
  subscribeWithinMs: 10_000,
};
/** The longest delay of a timer: Node takes a longer one for 1 ms. */
const MAX_TIMER_MS = 0x7fff_ffff;

/** These are passed on to each acquire. */
const { mode, waitMs, leaseMs, reentrant, maxWaiting, atLeastMs, onAbandoned, label, template } = ACQUIRE_RULES;
const RULES = {
  ...{ mode, waitMs, leaseMs, reentrant, maxWaiting, atLeastMs, onAbandoned, label, template },
  name: MUST_BE_NAME,
  keys: must('a function of the arguments', isFunction),
  onBusy: must(
    'throw, skip or a function of the error',
    (value) => value === 'throw' || value === 'skip' || isFunction(value),
  ),
  onLost: must('a function', isFunction),
  returns: mustBeOneOf(['promise', 'observable', 'async-iterable'] satisfies LockedReturn[]),
  paramNames: MUST_BE_BOOLEAN,
  subscribeWithinMs: mustBeMillisecondsAboveZero(MAX_TIMER_MS),
};

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/** @throws LockConfigurationError that names the option and what was expected */
export function resolveLockedOptions(options: LockedOptions, by: string, path: unknown): ResolvedLockedOptions {
  checkIsObject('options:', options);
  if ('signal' in options) refuse('signal: is for one call, not for a method: use LockService.withLock');
  if ('recover' in options) refuse('recover: is for one call. A method has @Recover above another one of its class');
  checkOptions(options, RULES);
  const { name, keys, onBusy, onLost, returns, paramNames, subscribeWithinMs, ...acquire } = options;
  // Which of these options go together is for the lock to say. What recovers is found at the start.
  checkAcquireOptions(acquire.onAbandoned === 'recover' ? { ...acquire, recover: () => undefined } : acquire);
  return {
    ...withDefaults({ name, onBusy, paramNames, subscribeWithinMs }, DEFAULTS),
    ...{ keys, onLost, returns },
    acquire: Object.freeze({
      label: by.slice(0, MAX_LABEL_LENGTH),
      ...(typeof path === 'string' ? { template: path.slice(0, MAX_LABEL_LENGTH) } : {}),
      ...acquire,
    }),
  };
}
