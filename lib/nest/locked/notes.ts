import { refuse } from '../../lock/option-rules.js';
import { NamedNotes } from '../metadata.js';

/** What our own parameter decorators said about one parameter. Nest's route metadata would disturb its pipes. */
export type ParameterNote = { readonly index: number; /** `@Fence()` */ readonly decorator: string } & (
  | { readonly kind: 'fence' | 'handle' }
  | { readonly kind: 'key'; readonly name: string; readonly pick: ((argument: never) => unknown) | undefined }
);

/** One `@Locked`, with what the explorer checks. */
export interface LockedMethod {
  readonly method: string | symbol;
  /** `OrdersService.pay` */
  readonly by: string;
  /** The name of the connection. */
  readonly name: string;
  readonly placeholders: readonly string[];
  /** Its path, where it asks for the recovery of what a holder that vanished has left. */
  readonly recovers: string | undefined;
}

/** By the class that declares a method, and its name. */
export const parameterNotes = new NamedNotes<readonly ParameterNote[]>();
export const lockedMethods = new NamedNotes<readonly LockedMethod[]>();

/** @throws LockConfigurationError where no lock can be: on constructors and static methods */
export function addParameterNote(target: object, method: string | symbol | undefined, note: ParameterNote): void {
  if (method === undefined || typeof target === 'function') {
    const what = method === undefined ? 'a constructor' : `the static method ${String(method)}`;
    refuse(`${note.decorator} is for parameters of methods that have @Locked, not of ${what}`);
  }
  // Parameter decorators run from the last to the first.
  parameterNotes.set(target, method, [note, ...(parameterNotes.get(target, method) ?? [])]);
}

export function addLockedMethod(prototype: object, locked: LockedMethod): void {
  const before = lockedMethods.get(prototype, locked.method) ?? [];
  lockedMethods.set(prototype, locked.method, [...before, locked]);
}

/** The decorated methods that this class itself declares. */
export function lockedMethodsOf(prototype: object): readonly LockedMethod[] {
  return [...lockedMethods.of(prototype).values()].flat();
}
