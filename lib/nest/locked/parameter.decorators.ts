import { LockConfigurationError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import type { KeyValue } from './encode-key-value.js';
import { refuseMissingParentheses } from './missing-parentheses.js';
import { addParameterNote } from './parameter-notes.js';
import type { FillingDecorator, Picked } from './parameter-types.js';

/** For decorators of extras, which import what has a public name beside it. */
export { refuseMissingParentheses };

type UntypedDecorator = (target: object, method: string | symbol | undefined, index: number) => void;

const NO_NAME = "it would bind nothing. Write @LockKey('id'), with the name of a placeholder of the path";

/**
 * Binds a parameter to the placeholder of that name: `@LockKey('id') orderId: string`, or with a part of it:
 * `@LockKey('id', (order: Order) => order.id) order: Order`.
 */
export function LockKey<Class extends object, Method extends string | symbol | undefined, Index extends number>(
  name: string,
  pick?: (argument: Picked<Class, Method, Index>) => KeyValue,
): (target: Class, method: Method, index: Index) => void;
export function LockKey(name: string, pick?: (argument: never) => KeyValue, place?: unknown): UntypedDecorator {
  refuseMissingParentheses('@LockKey', [name, pick, place], NO_NAME);
  if (typeof name !== 'string' || name === '') {
    throw new LockConfigurationError(`@LockKey: the name of a placeholder must be a non-empty string`);
  }
  if (pick !== undefined && typeof pick !== 'function') {
    throw new LockConfigurationError(`@LockKey('${name}'): pick must be a function, not a ${typeof pick}`);
  }
  return (target, method, index) =>
    addParameterNote(`@LockKey('${name}')`, target, method, {
      kind: 'key',
      index,
      name,
      ...(pick === undefined ? {} : { pick }),
    });
}

/**
 * The fencing token of the lock that `@Locked` acquired, for the store that the lock protects:
 * `save(file: File, @Fence() token: bigint = injected())`. What the caller sends in its place is overwritten.
 */
export function Fence(): FillingDecorator<bigint, '@Fence() fills a parameter of type bigint'>;
export function Fence(...bare: unknown[]): UntypedDecorator {
  refuseMissingParentheses('@Fence', bare, 'it would fill nothing. Write @Fence()');
  return (target, method, index) => addParameterNote('@Fence()', target, method, { kind: 'fence', index });
}

/** The handle of the lock that `@Locked` acquired: `@CurrentLock() lock: LockHandle = injected()`. */
export function CurrentLock(): FillingDecorator<LockHandle, '@CurrentLock() fills a parameter of type LockHandle'>;
export function CurrentLock(...bare: unknown[]): UntypedDecorator {
  refuseMissingParentheses('@CurrentLock', bare, 'it would fill nothing. Write @CurrentLock()');
  return (target, method, index) => addParameterNote('@CurrentLock()', target, method, { kind: 'handle', index });
}

/**
 * The default value of a parameter that `@Locked` fills: callers may leave the argument out, and the body sees its type.
 * @throws LockConfigurationError when it is needed after all, which means that the method ran without its lock
 */
export function injected<T>(): T {
  throw new LockConfigurationError(
    'A parameter that @Locked fills was not filled: the method was called without its lock. An override without @Locked ' +
      'that calls super, or a copy of the method taken before it was decorated, does that; so does @Fence() without @Locked',
  );
}
