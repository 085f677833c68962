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
 * What our decorators say about methods. It is kept by the class that declares a method, and not on the function: another
 * decorator may put a new function in its place.
 */
export class MethodNotes<Note> {
  readonly #byPrototype = new WeakMap<object, Map<string | symbol, Note>>();

  set(prototype: object, method: string | symbol, note: Note): void {
    const notes = this.#byPrototype.get(prototype) ?? new Map<string | symbol, Note>();
    this.#byPrototype.set(prototype, notes.set(method, note));
  }

  /** The notes on the methods that this class itself declares. */
  of(prototype: object): ReadonlyMap<string | symbol, Note> {
    return this.#byPrototype.get(prototype) ?? new Map<string | symbol, Note>();
  }

  /** The note of this class, or else of the nearest class that it extends. */
  nearest(prototype: object, method: string | symbol): Note | undefined {
    for (const declaring of chainOf(prototype)) {
      const note = this.#byPrototype.get(declaring)?.get(method);
      if (note !== undefined) return note;
    }
    return undefined;
  }
}
