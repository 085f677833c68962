/** One `@Locked`, as the explorer checks it. */
export interface LockedMethod {
  readonly method: string | symbol;
  /** `OrdersService.pay` */
  readonly by: string;
  /** The connection. */
  readonly name: string;
  readonly placeholders: readonly string[];
}

const methodsByPrototype = new WeakMap<object, LockedMethod[]>();

export function addLockedMethod(prototype: object, method: LockedMethod): void {
  methodsByPrototype.set(prototype, [...(methodsByPrototype.get(prototype) ?? []), method]);
}

/** Those that this class declares. */
export function lockedMethodsOf(prototype: object): readonly LockedMethod[] {
  return methodsByPrototype.get(prototype) ?? [];
}

/** An object's prototypes, the nearest first. */
export function* prototypesOf(instance: object): Generator<object> {
  let at = Object.getPrototypeOf(instance) as object | null;
  for (; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null) yield at;
}
