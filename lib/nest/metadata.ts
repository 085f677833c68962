import { refuse } from '../lock/option-rules.js';

/** An object and its prototypes, the nearest first. `Object.prototype` is left out: every object has it, no class declares it. */
export function* chainOf(object: object | null): Generator<object> {
  for (let at = object; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null)
    yield at;
}

/** The prototypes of an instance: one for its class, and one for each class that this one extends. */
export function prototypesOf(instance: object): Generator<object> {
  return chainOf(Object.getPrototypeOf(instance) as object | null);
}

/** The methods of a class by their names, in place of those that they override. */
export function methodsOf(prototype: object): ReadonlyMap<string, object> {
  const methods = new Map<string, object>();
  const seen = new Set(['constructor']);
  for (const declaring of chainOf(prototype)) {
    for (const name of Object.getOwnPropertyNames(declaring)) {
      if (seen.has(name)) continue;
      seen.add(name);
      // A property is looked up, never read: a getter would run, without the instance that it was written for.
      const method: unknown = Object.getOwnPropertyDescriptor(declaring, name)?.value;
      if (typeof method === 'function') methods.set(name, method);
    }
  }
  return methods;
}

/**
 * Whether a stub's own method, or that of a class in between, stands in front of the method of this prototype. The method is
 * not read: a Proxy that `instrument` has put around the instance gives another function each time.
 */
export function isHidden(object: object, prototype: object, method: string | symbol): boolean {
  for (const at of chainOf(object)) {
    if (at === prototype) return false;
    if (Object.hasOwn(at, method)) return true;
  }
  return false;
}

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** Functions and methods have a prototype that can be replaced, or none. */
export function isClass(value: unknown): value is { readonly name: string } {
  return typeof value === 'function' && Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
}

/**
 * What is noted of objects, by names: of classes, what our decorators say about their methods. It is kept by the class that
 * declares a method, and not on the function: another decorator may put a new function in its place.
 */
export class NamedNotes<Note> {
  readonly #byObject = new WeakMap<object, Map<string | symbol, Note>>();

  set(object: object, name: string | symbol, note: Note): void {
    const notes = this.#byObject.get(object) ?? new Map<string | symbol, Note>();
    this.#byObject.set(object, notes.set(name, note));
  }

  /** The note on the object itself: of a class, on a method that this class itself declares. */
  get(object: object, name: string | symbol): Note | undefined {
    return this.#byObject.get(object)?.get(name);
  }

  /** All notes on the object itself. */
  of(object: object): ReadonlyMap<string | symbol, Note> {
    return this.#byObject.get(object) ?? new Map<string | symbol, Note>();
  }

  /** The note on the object, or else on the nearest of its prototypes. */
  nearest(object: object, name: string | symbol): Note | undefined {
    for (const at of chainOf(object)) {
      const note = this.get(at, name);
      if (note !== undefined) return note;
    }
    return undefined;
  }
}

/**
 * Refuses `@Locked method() {}`, where the decorator is handed what it decorates in the place of its arguments. In JavaScript no
 * compiler minds, and what the decorator gives back would be dropped.
 * @param args what the decorator was called with
 * @param cure what it would do, and what to write
 * @throws LockConfigurationError
 */
export function refuseMissingParentheses(decorator: string, args: readonly unknown[], cure: string): void {
  const where = whereItStands(args);
  if (where === undefined) return;
  refuse(`${decorator} ${where} has no parentheses, so ${cure}`);
}

function whereItStands([target, member, place]: readonly unknown[]): string | undefined {
  const owner = ownerOf(target);
  const isNamed = typeof member === 'string' || typeof member === 'symbol';
  if (owner !== undefined && typeof place === 'number') {
    return `before a parameter of ${isNamed ? `${owner}.${String(member)}` : `the constructor of ${owner}`}`;
  }
  if (owner !== undefined && isNamed) return `above ${owner}.${String(member)}`;
  // A standard decorator's context.
  if (typeof member === 'object' && member !== null && 'kind' in member && 'name' in member) {
    return `above ${String(member.name)}`;
  }
  return isClass(target) ? `above the class ${target.name}` : undefined;
}

function ownerOf(target: unknown): string | undefined {
  // The target of a static member is its class, and of another one the prototype. A path or a name is neither.
  if (typeof target === 'function') return target.name;
  return typeof target === 'object' && target !== null ? (target.constructor?.name ?? 'a class') : undefined;
}
