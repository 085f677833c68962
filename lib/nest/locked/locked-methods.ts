import { MethodNotes } from '../metadata.js';

/** One `@Locked`, as the explorer checks it. */
export interface LockedMethod {
  readonly method: string | symbol;
  /** `OrdersService.pay` */
  readonly by: string;
  /** The connection. */
  readonly name: string;
  readonly placeholders: readonly string[];
}

const lockedMethods = new MethodNotes<readonly LockedMethod[]>();

export function addLockedMethod(prototype: object, method: LockedMethod): void {
  const before = lockedMethods.of(prototype).get(method.method) ?? [];
  lockedMethods.set(prototype, method.method, [...before, method]);
}

/** Those that this class itself declares. */
export function lockedMethodsOf(prototype: object): readonly LockedMethod[] {
  return [...lockedMethods.of(prototype).values()].flat();
}
