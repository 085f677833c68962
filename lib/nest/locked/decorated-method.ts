import { refuse } from '../../lock/option-rules.js';

export type AnyMethod = (...args: unknown[]) => unknown;

/**
 * The method that a decorator stands above.
 * @param purpose what the method is to do, as texts say what cannot do it
 * @throws LockConfigurationError where it stands above something else
 */
export function methodOf(
  prototype: object,
  method: unknown,
  descriptor: PropertyDescriptor | undefined,
  purpose: string,
): AnyMethod {
  if (typeof method === 'object') {
    refuse("was compiled as a standard decorator; Nest's need experimentalDecorators: true in the tsconfig");
  }
  if (method === undefined) refuse('it stands above a class: write it above each of its methods');
  if (typeof prototype === 'function') refuse('a static method has no instance that Nest could give a lock service');
  if (descriptor === undefined) {
    refuse('a property is not a method, even if it holds an arrow function: write `async name() { ... }`');
  }
  if (descriptor.get !== undefined || descriptor.set !== undefined) refuse(`an accessor cannot ${purpose}`);
  if (typeof descriptor.value !== 'function') refuse('it is not a method');
  return descriptor.value as AnyMethod;
}

/** `[object GeneratorFunction]` for a generator, `[object AsyncGeneratorFunction]` for an async one. */
export function kindOf(method: AnyMethod): string {
  return Object.prototype.toString.call(method);
}

export function describeMethod(
  target: object,
  method: string | symbol | { readonly name?: unknown } | undefined,
): string {
  // An object in the place of a name is the context that a standard decorator is given, beside the function itself.
  if (typeof method === 'object') return String(method.name);
  const name = typeof target === 'function' ? target.name : target.constructor.name;
  return method === undefined ? name : `${name}.${String(method)}`;
}
