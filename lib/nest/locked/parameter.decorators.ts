import type { LockHandle } from '../../lock/handle.js';
import { refuse } from '../../lock/option-rules.js';
import { refuseMissingParentheses } from '../metadata.js';
import type { KeyValue, Refused } from './locked-types.js';
import { addParameterNote } from './notes.js';

/** The type of a method's parameter; unknown where the compiler does not show it: in private methods, and in JavaScript. */
type ParameterOf<Class, Method, Index> = Method extends keyof Class
  ? Class[Method] extends (...args: infer Arguments) => unknown
    ? Index extends keyof Arguments
      ? Arguments[Index]
      : unknown
    : unknown
  : unknown;

/** The argument of a pick: the parameter, or what the pick says where the compiler does not show the parameter. */
type Picked<Class, Method, Index> =
  unknown extends ParameterOf<Class, Method, Index> ? never : ParameterOf<Class, Method, Index>;

/** Whether a parameter can take what a lock fills it with. */
type Takes<Parameter, Value, Reason extends string> = Value extends Parameter
  ? unknown
  : [Extract<Parameter, Value>] extends [never]
    ? Refused<Reason, Parameter>
    : unknown;

/** Fits the parameters that can take the value. */
type FillingDecorator<Value, Reason extends string> = <
  Class extends object,
  Method extends string | symbol | undefined,
  Index extends number,
>(
  target: Class,
  method: Method,
  index: Index & Takes<ParameterOf<Class, Method, Index>, Value, Reason>,
) => void;

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
    refuse('@LockKey: the name of a placeholder must be a non-empty string');
  }
  if (pick !== undefined && typeof pick !== 'function') {
    refuse(`@LockKey('${name}'): pick must be a function, not a ${typeof pick}`);
  }
  return (target, method, index) =>
    addParameterNote(target, method, { kind: 'key', index, decorator: `@LockKey('${name}')`, name, pick });
}

/**
 * The fencing token of the lock that `@Locked` acquired, for the store that the lock protects:
 * `save(file: File, @Fence() token: bigint = injected())`. What the caller sends in its place is overwritten.
 */
export function Fence(): FillingDecorator<bigint, '@Fence() fills a parameter of type bigint'>;
export function Fence(...bare: unknown[]): UntypedDecorator {
  refuseMissingParentheses('@Fence', bare, 'it would fill nothing. Write @Fence()');
  return (target, method, index) => addParameterNote(target, method, { kind: 'fence', index, decorator: '@Fence()' });
}

/** The handle of the lock that `@Locked` acquired: `@CurrentLock() lock: LockHandle = injected()`. */
export function CurrentLock(): FillingDecorator<LockHandle, '@CurrentLock() fills a parameter of type LockHandle'>;
export function CurrentLock(...bare: unknown[]): UntypedDecorator {
  refuseMissingParentheses('@CurrentLock', bare, 'it would fill nothing. Write @CurrentLock()');
  return (target, method, index) =>
    addParameterNote(target, method, { kind: 'handle', index, decorator: '@CurrentLock()' });
}

/**
 * The default value of a parameter that `@Locked` fills: callers may leave the argument out, and the body sees its type.
 * @throws LockConfigurationError when it is needed after all, which means that the method ran without its lock
 */
export function injected<T>(): T {
  refuse(
    'A parameter that @Locked fills was not filled: the method was called without its lock. An override without @Locked ' +
      'that calls super, or a copy of the method taken before it was decorated, does that; so does @Fence() without @Locked',
  );
}
