import type { LockHandle } from '../../lock/handle.js';
import { checkIsObject, checkOptions, refuse, refusingAt } from '../../lock/option-rules.js';
import { MUST_BE_NAME } from '../distributed-lock-options.js';
import { DEFAULT_CONNECTION } from '../lock-service-token.js';
import { refuseMissingParentheses } from '../metadata.js';
import { describeMethod, kindOf, methodOf } from './decorated-method.js';
import { LockKeyTemplate } from './key-template.js';
import type { CheckedPath, Placeholders, Refused } from './locked-types.js';
import { addRecovery } from './recoveries.js';

export interface RecoverOptions {
  /** Which of several connections, by the name that its module has; that of the `@Locked`. @default 'default' */
  readonly name?: string;
}

/** The placeholders as the key of the lock has them, decoded: a number comes back as its digits. */
export type RecoveredValues<Path extends string> = { readonly [Name in Placeholders<Path>]: string };

type Method = (...args: never[]) => unknown;
type GivenTo<Path extends string> = (lock: LockHandle, values: RecoveredValues<Path>) => void;

/** A function type, and not the method's own: the compiler compares parameters of methods in both directions. */
type Fits<Path extends string, Target extends Method> =
  ((...args: Parameters<Target>) => void) extends GivenTo<Path>
    ? [ReturnType<Target>] extends [PromiseLike<unknown> | void]
      ? unknown
      : Refused<'a method with @Recover is async', ReturnType<Target>>
    : Refused<
        'a method with @Recover takes (lock: LockHandle, values: { the placeholders as texts })',
        Parameters<Target>
      >;

export type RecoverDecorator<Path extends string> = <Target extends Method>(
  prototype: object,
  method: string | symbol,
  descriptor?: TypedPropertyDescriptor<Target> & Fits<Path, Target>,
) => void;

const NO_PATH =
  "it has no path and would recover nothing. Write @Recover('/locks/orders/:id'), with the path of its @Locked, as it is there";

/**
 * Repairs what a holder that vanished has left: `@Recover('/locks/orders/:id') async mend(lock: LockHandle, values: { id:
 * string })`, beside `@Locked('/locks/orders/:id', { onAbandoned: 'recover' })` in the same class. `lock.abandoned` says
 * what is known of that holder, with its last checkpoint; `values` are the placeholders, as texts.
 *
 * It runs under the lock, before the method that is called. If it fails, so does that call, and the next one recovers. It
 * must be safe to repeat: the process that recovers may die, too. A class without it, or with one that no `@Locked` asks
 * for, fails the start.
 */
export function Recover<const Path extends string>(
  path: CheckedPath<Path>,
  options?: RecoverOptions,
): RecoverDecorator<Path> {
  refuseMissingParentheses('@Recover', [path, options], NO_PATH);
  return (prototype, method, descriptor) => {
    const by = describeMethod(prototype, method);
    refusingAt(`@Recover(${typeof path === 'string' ? `'${path}'` : String(path)}) on ${by}`, () => {
      const decorated = methodOf(prototype, method, descriptor, 'recover anything');
      if (kindOf(decorated).endsWith('GeneratorFunction]')) {
        refuse('a generator does nothing until it is iterated: write `async name() { ... }`');
      }
      if (typeof path !== 'string') refuse("the argument must be the path of its @Locked, such as '/locks/:id'");
      checkIsObject('options:', options ?? {});
      checkOptions(options ?? {}, { name: MUST_BE_NAME });
      const { path: checked } = new LockKeyTemplate(path);
      addRecovery(prototype, { method, by, path: checked, name: options?.name ?? DEFAULT_CONNECTION });
    });
  };
}
