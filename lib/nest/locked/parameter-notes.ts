import { LockConfigurationError } from '../../lock/errors.js';
import { MethodNotes } from '../metadata.js';

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

const parameterNotes = new MethodNotes<readonly ParameterNote[]>();

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
  // Parameter decorators run from the last to the first.
  parameterNotes.set(target, method, [note, ...parameterNotesOf(target, method)]);
}

/** The notes on the parameters of one method, as this class declares it. */
export function parameterNotesOf(prototype: object, method: string | symbol): readonly ParameterNote[] {
  return parameterNotes.of(prototype).get(method) ?? [];
}

/** The notes of all methods that this class declares. */
export function allParameterNotesOf(prototype: object): ReadonlyMap<string | symbol, readonly ParameterNote[]> {
  return parameterNotes.of(prototype);
}
