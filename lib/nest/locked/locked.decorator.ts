import 'reflect-metadata';
import { Observable } from 'rxjs';
import { InvalidLockKeyError, LockConfigurationError } from '../../lock/errors.js';
import { bindPlaceholders, type KnownParameters } from './bind-placeholders.js';
import { checkFilledTypes } from './declared-types.js';
import { keyBuilder, parseKeyTemplate } from './key-template.js';
import type { LockedPlan } from './locked-call.js';
import { addLockedMethod } from './locked-methods.js';
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
import { refuseMissingParentheses } from './missing-parentheses.js';
import { isWrittenAsMethod } from './parameter-list.js';
import { defaultsByPlace, parameterNames } from './parameter-names.js';
import { parameterNotesOf } from './parameter-notes.js';
import { routeParametersOf } from './route-parameters.js';
import { openServiceSlot } from './service-slot.js';
import { wrapAsyncIterable } from './wrap-async-iterable.js';
import { wrapObservable } from './wrap-observable.js';
import { wrapPromise } from './wrap-promise.js';

type AnyMethod = (...args: unknown[]) => unknown;

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
    lockMethod(path as LockedPath, (options ?? {}) as LockedOptions, prototype, method, descriptor);
  };
}

function lockMethod(
  path: LockedPath,
  given: LockedOptions,
  prototype: object,
  method: string | symbol,
  descriptor: PropertyDescriptor | undefined,
): void {
  const by = describeMethod(prototype, method);
  const where = `@Locked(${shownPath(path)}) on ${by}`;
  if (typeof path !== 'string' && typeof path !== 'function') {
    throw new LockConfigurationError(
      `${where}: the first argument must be a path such as '/locks/:id', or a function that computes the key. Where it is ` +
        'a constant of another file, the two files may import each other',
    );
  }
  const original = methodOf(prototype, method, descriptor, where);
  const options = resolveLockedOptions(given, by, where);
  const filled = parameterNotesOf(prototype, method).filter(({ kind }) => kind !== 'key');
  checkFilledTypes(filled, declaredTypesOf(prototype, method), parameterNames(innermost(original)), where);
  const { keyOf, placeholders } = keyFunction(path, options, prototype, method, original, where);
  const plan: LockedPlan = {
    by,
    method,
    original,
    options,
    keyOf,
    filled,
  };
  const wrapper = wrap(plan, options.returns ?? whatItReturns(prototype, method, original));
  makeLookLike(wrapper, original);
  originals.set(wrapper, original);
  openServiceSlot(prototype, options.name);
  addLockedMethod(prototype, { method, by, name: options.name, placeholders });
  // The descriptor is changed, not replaced: Nest's `applyDecorators` drops what a decorator returns.
  (descriptor as PropertyDescriptor).value = wrapper;
}

function shownPath(path: unknown): string {
  if (typeof path === 'function') return '(...) => key';
  return typeof path === 'string' ? `'${path}'` : String(path);
}

function methodOf(
  prototype: object,
  method: unknown,
  descriptor: PropertyDescriptor | undefined,
  where: string,
): AnyMethod {
  const refuse = (what: string): never => {
    throw new LockConfigurationError(`${where}: ${what}`);
  };
  if (typeof method === 'object') {
    return refuse("was compiled as a standard decorator; Nest's need experimentalDecorators: true in the tsconfig");
  }
  if (method === undefined) return refuse('it stands above a class: write it above each of its methods');
  if (typeof prototype === 'function')
    return refuse('a static method has no instance that Nest could give a lock service');
  if (descriptor === undefined) {
    return refuse('a property is not a method, even if it holds an arrow function: write `async name() { ... }`');
  }
  if (descriptor.get !== undefined || descriptor.set !== undefined) return refuse('an accessor cannot wait for a lock');
  if (typeof descriptor.value !== 'function') return refuse('it is not a method');
  if (Object.prototype.toString.call(descriptor.value) === '[object GeneratorFunction]') {
    return refuse('a generator cannot wait for a lock: write `async *name() { ... }`');
  }
  return descriptor.value as AnyMethod;
}

function keyFunction(
  path: LockedPath,
  options: ResolvedLockedOptions,
  prototype: object,
  method: string | symbol,
  original: AnyMethod,
  where: string,
): { keyOf: LockedPlan['keyOf']; placeholders: readonly string[] } {
  if (typeof path === 'function') {
    if (options.keys !== undefined)
      throw new LockConfigurationError(`${where}: keys: the function computes the whole key`);
    const compute = path as (...args: unknown[]) => unknown;
    return {
      placeholders: [],
      keyOf(args) {
        return checkComputed(compute.apply(this, [...args]), where);
      },
    };
  }
  const template = parseKeyTemplate(path, where);
  const { placeholders } = template;
  if (options.keys !== undefined) {
    const select = options.keys as (...args: unknown[]) => Record<string, unknown>;
    const build = keyBuilder(
      template,
      placeholders.map(
        (name) =>
          ([selected]) =>
            (selected as Record<string, unknown> | undefined)?.[name],
      ),
    );
    return {
      placeholders: [],
      keyOf(args) {
        return build([select.apply(this, [...args])]);
      },
    };
  }
  const written = innermost(original);
  const names = parameterNames(written);
  const known: KnownParameters = {
    notes: parameterNotesOf(prototype, method),
    routes: routeParametersOf(prototype.constructor, method),
    names: options.paramNames ? names : [],
    defaults: defaultsByPlace(names),
    isReplaced: !isWrittenAsMethod(written) || (typeof method === 'string' && written.name !== method),
    types: declaredTypesOf(prototype, method),
  };
  return { placeholders, keyOf: keyBuilder(template, bindPlaceholders(template, known, where)) };
}

function declaredTypesOf(prototype: object, method: string | symbol): readonly unknown[] {
  // Inherited types do not count: an override that was compiled without types may take something else.
  return (Reflect.getOwnMetadata('design:paramtypes', prototype, method) as unknown[] | undefined) ?? [];
}

/** The texts that a function makes of a value that is missing, or is no text. */
const ACCIDENTS: readonly string[] = ['undefined', 'null', 'NaN', '[object Object]'];

/** @throws InvalidLockKeyError for a key that looks like an accident: all calls with the same accident would share a lock */
function checkComputed(key: unknown, where: string): string {
  const accident = typeof key === 'string' ? key.split('/').find((segment) => ACCIDENTS.includes(segment)) : undefined;
  if (accident === undefined) return key as string;
  throw new InvalidLockKeyError(
    `${where}: the computed key ${String(key)} has the segment "${accident}": a value is missing, or is not text. ` +
      'Placeholders with keys refuse such values, and encode the others',
  );
}

function whatItReturns(prototype: object, method: string | symbol, original: AnyMethod): LockedReturn {
  if (Object.prototype.toString.call(innermost(original)) === '[object AsyncGeneratorFunction]')
    return 'async-iterable';
  const declared: unknown = Reflect.getMetadata('design:returntype', prototype, method);
  const isStream =
    typeof declared === 'function' && (declared === Observable || declared.prototype instanceof Observable);
  return isStream ? 'observable' : 'promise';
}

function wrap(plan: LockedPlan, returns: LockedReturn): AnyMethod {
  switch (returns) {
    case 'promise':
      return wrapPromise(plan);
    case 'observable':
      return wrapObservable(plan);
    case 'async-iterable':
      return wrapAsyncIterable(plan);
  }
}

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

function describeMethod(target: object, method: string | symbol | { readonly name?: unknown } | undefined): string {
  // An object in the place of a name is the context that a standard decorator is given, beside the function itself.
  if (typeof method === 'object') return String(method.name);
  const name = typeof target === 'function' ? target.name : target.constructor.name;
  return method === undefined ? name : `${name}.${String(method)}`;
}
