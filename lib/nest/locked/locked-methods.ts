import { MethodNotes } from '../metadata.js';

/** One `@Locked`, with what the explorer checks. */
export interface LockedMethod {
  readonly method: string | symbol;
  /** `OrdersService.pay` */
  readonly by: string;
  /** The name of the connection. */
  readonly name: string;
  readonly placeholders: readonly string[];
}

const lockedMethods = new MethodNotes<readonly LockedMethod[]>();

export function addLockedMethod(prototype: object, method: LockedMethod): void {
  const before = lockedMethods.of(prototype).get(method.method) ?? [];
  lockedMethods.set(prototype, method.method, [...before, method]);
}

/** The decorated methods that this class itself declares. */
export function lockedMethodsOf(prototype: object): readonly LockedMethod[] {
  return [...lockedMethods.of(prototype).values()].flat();
}
