import 'reflect-metadata';
import { Observable } from 'rxjs';
import { InvalidLockKeyError } from '../../lock/errors.js';
import { refuse, refusingAt } from '../../lock/option-rules.js';
import { refuseMissingParentheses } from '../metadata.js';
import { bindPlaceholders } from './bind-placeholders.js';
import { type AnyMethod, describeMethod, kindOf, methodOf } from './decorated-method.js';
import { LockKeyTemplate } from './key-template.js';
import { checkFilledTypes, type KnownParameters, knownParameters } from './known-parameters.js';
import type { LockedPlan } from './locked-call.js';
import {
  type LockedOptions,
  type LockedReturn,
  type ResolvedLockedOptions,
  resolveLockedOptions,
} from './locked-options.js';
import type {
  CheckedPath,
  LockableMethod,
  LockedDecorator,
  LockedOptionsFor,
  LockedPath,
  OptionTexts,
} from './locked-types.js';
import { addLockedMethod } from './notes.js';
import type { Recovered } from './recoveries.js';
import { openServiceSlot } from './service-slot.js';
import { wrapAsyncIterable } from './wrap-async-iterable.js';
import { wrapObservable, wrapPromise } from './wrap-promise-or-observable.js';

const NO_PATH =
  "it has no path and would lock nothing. Write @Locked('/locks/orders/:id'), with the path of what is to be locked";

/** The method that each wrapper was put around, which has the names of the parameters. */
const originals = new WeakMap<object, AnyMethod>();

/**
 * Runs the method while a lock is held: of all processes that use the key, one at a time.
 *
 * `@Locked('/locks/orders/:id')` binds `:id` to the parameter with `@LockKey('id')`, to Nest's `@Param('id')`, `@Query`,
 * `@Body`, `@Payload`, `@MessageBody` or `@Args`, or to the parameter of that name; `:body.order.id` leads into an
 * object. `keys: (order: Order) => ({ id: order.id })` or a function in place of the path compute it. A placeholder that
 * binds to nothing is an error while the class is being defined.
 *
 * The lock is held until the promise settles, the Observable or the iteration ends. Decorators run from top to bottom:
 * write it above `@Transactional()`, or the lock goes back before the commit.
 */
export function Locked<
  const Path extends LockedPath<Target>,
  Options extends LockedOptionsFor<Path, Target>,
  Target extends LockableMethod = LockableMethod,
>(path: CheckedPath<Path>, options?: Options & OptionTexts): LockedDecorator<Path, Options, Target> {
  refuseMissingParentheses('@Locked', [path, options], NO_PATH);
  return (prototype, method, descriptor) => {
    const by = describeMethod(prototype, method);
    const where = `@Locked(${shownPath(path)}) on ${by}`;
    refusingAt(where, () => {
      const original = methodOf(prototype, method, descriptor, 'wait for a lock');
      if (kindOf(original) === '[object GeneratorFunction]') {
        refuse('a generator cannot wait for a lock: write `async *name() { ... }`');
      }
      const resolved = resolveLockedOptions((options ?? {}) as LockedOptions, by, path);
      const wrapper = wrapperOf(original, { prototype, method, by, where }, path as LockedPath, resolved);
      // The descriptor is changed, not replaced: Nest's `applyDecorators` drops what a decorator returns.
      (descriptor as PropertyDescriptor).value = wrapper;
    });
  };
}

/** A method that is being decorated. */
interface Decorated {
  readonly prototype: object;
  readonly method: string | symbol;
  /** `OrdersService.pay` */
  readonly by: string;
  /** `@Locked('/locks/orders/:id') on OrdersService.pay` */
  readonly where: string;
}

function wrapperOf(
  original: AnyMethod,
  { prototype, method, by, where }: Decorated,
  path: LockedPath,
  options: ResolvedLockedOptions,
): AnyMethod {
  const written = innermost(original);
  const known = knownParameters(prototype, method, written, options.paramNames);
  checkFilledTypes(known);
  const filled = known.notes.filter(({ kind }) => kind !== 'key');
  const { placeholders, keyOf, template } = keyFunction(path, options.keys as KeySelector | undefined, known, where);
  const recovered = recoveredBy(prototype, by, options, template);
  const wrap = WRAPPERS[options.returns ?? whatItReturns(prototype, method, written)];
  const wrapper = wrap({ by, method, original, options, keyOf, filled, recovered });
  makeLookLike(wrapper, original);
  originals.set(wrapper, original);
  openServiceSlot(prototype, options.name);
  addLockedMethod(prototype, { method, by, name: options.name, placeholders, recovers: recovered?.template.path });
  return wrapper;
}

function shownPath(path: unknown): string {
  if (typeof path === 'function') return '(...) => key';
  return typeof path === 'string' ? `'${path}'` : String(path);
}

type KeySelector = (...args: unknown[]) => Readonly<Record<string, unknown>> | undefined;

/** The placeholders are those that take their values from parameters. */
function keyFunction(
  path: LockedPath,
  select: KeySelector | undefined,
  known: KnownParameters,
  where: string,
): { keyOf: LockedPlan['keyOf']; placeholders: readonly string[]; template?: LockKeyTemplate } {
  if (typeof path === 'function') {
    if (select !== undefined) refuse('keys: the function computes the whole key');
    const compute = path as (...args: unknown[]) => unknown;
    return { placeholders: [], keyOf: (instance, args) => checkComputed(compute.apply(instance, [...args]), where) };
  }
  if (typeof path !== 'string') {
    refuse(
      "the first argument must be a path such as '/locks/:id', or a function that computes the key. Where it is " +
        'a constant of another file, the two files may import each other',
    );
  }
  const template = new LockKeyTemplate(path);
  if (select !== undefined) {
    return { template, placeholders: [], keyOf: (instance, args) => template.keyOf(select.apply(instance, [...args])) };
  }
  const readers = bindPlaceholders(template, known);
  return {
    template,
    placeholders: template.placeholders,
    keyOf: (_, args) => template.keyFrom((_name, index) => readers[index]?.(args)),
  };
}

/** @returns undefined where the method asks for no recovery */
function recoveredBy(
  prototype: object,
  by: string,
  { name, acquire }: ResolvedLockedOptions,
  template: LockKeyTemplate | undefined,
): Recovered | undefined {
  if (acquire.onAbandoned !== 'recover') return undefined;
  if (template !== undefined) return { prototype, by, name, template };
  return refuse(
    "onAbandoned: 'recover' finds its @Recover by the path: write one with placeholders, and keys if need be",
  );
}

/** The texts that a function makes of a value that is missing, or is no text. */
const ACCIDENTS: readonly string[] = ['undefined', 'null', 'NaN', '[object Object]'];

/** @throws InvalidLockKeyError for a key that looks like an accident */
function checkComputed(key: unknown, where: string): string {
  const accident = typeof key === 'string' ? key.split('/').find((segment) => ACCIDENTS.includes(segment)) : undefined;
  if (accident === undefined) return key as string;
  // All calls with the same accident would share a lock.
  throw new InvalidLockKeyError(
    `${where}: the computed key ${String(key)} has the segment "${accident}": a value is missing, or is not text. ` +
      'Placeholders with keys refuse such values, and encode the others',
  );
}

function whatItReturns(prototype: object, method: string | symbol, written: AnyMethod): LockedReturn {
  if (kindOf(written) === '[object AsyncGeneratorFunction]') return 'async-iterable';
  const declared: unknown = Reflect.getMetadata('design:returntype', prototype, method);
  const isStream =
    typeof declared === 'function' && (declared === Observable || declared.prototype instanceof Observable);
  return isStream ? 'observable' : 'promise';
}

const WRAPPERS: Readonly<Record<LockedReturn, (plan: LockedPlan) => AnyMethod>> = {
  promise: wrapPromise,
  observable: wrapObservable,
  'async-iterable': wrapAsyncIterable,
};

/** Gives the wrapper the name, the properties and the metadata of the method. */
function makeLookLike(wrapper: AnyMethod, original: AnyMethod): void {
  // Decorators of routes, guards, patterns and cron jobs keep what they know on the method, and some look at its name.
  for (const property of Reflect.ownKeys(original)) {
    if (property === 'prototype' || property === 'arguments' || property === 'caller') continue;
    Object.defineProperty(wrapper, property, Object.getOwnPropertyDescriptor(original, property) ?? {});
  }
  for (const key of Reflect.getOwnMetadataKeys(original) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, original), wrapper);
  }
}

function innermost(method: AnyMethod): AnyMethod {
  const inner = originals.get(method);
  return inner === undefined ? method : innermost(inner);
}
