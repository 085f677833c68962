import { LockConfigurationError } from '../../lock/errors.js';

/** What our own parameter decorators said about one parameter. Nest's route metadata would disturb its pipes. */
export type ParameterNote =
  | {
      readonly kind: 'key';
      readonly index: number;
      readonly name: string;
      readonly pick?: (argument: never) => unknown;
    }
  | { readonly kind: 'fence'; readonly index: number }
  | { readonly kind: 'handle'; readonly index: number };

type NotesByMethod = Map<string | symbol, readonly ParameterNote[]>;

const notesByPrototype = new WeakMap<object, NotesByMethod>();

/** @throws LockConfigurationError where no lock can be: on constructors and static methods */
export function addParameterNote(
  decorator: string,
  target: object,
  method: string | symbol | undefined,
  note: ParameterNote,
): void {
  if (method === undefined || typeof target === 'function') {
    const what = method === undefined ? 'a constructor' : `the static method ${String(method)}`;
    throw new LockConfigurationError(`${decorator} is for parameters of methods that have @Locked, not of ${what}`);
  }
  const notes: NotesByMethod = notesByPrototype.get(target) ?? new Map<string | symbol, readonly ParameterNote[]>();
  // Parameter decorators run from the last to the first.
  notesByPrototype.set(target, notes.set(method, [note, ...(notes.get(method) ?? [])]));
}

/** Of one method, as this class declares it. */
export function parameterNotesOf(prototype: object, method: string | symbol): readonly ParameterNote[] {
  return notesByPrototype.get(prototype)?.get(method) ?? [];
}

/** Of all methods that this class declares. */
export function allParameterNotesOf(prototype: object): ReadonlyMap<string | symbol, readonly ParameterNote[]> {
  return notesByPrototype.get(prototype) ?? new Map<string | symbol, readonly ParameterNote[]>();
}
