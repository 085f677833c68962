import { LockError, type LockErrorJson } from './errors.js';
import { shown } from './shown.js';

/** What is left in JSON of an error that is not of this package: nobody knows what else hangs on it. */
export interface ForeignErrorJson {
  readonly name: string;
  readonly message: string;
}

/**
 * What JSON has of a value: 64-bit numbers are text, dates ISO text, errors what anybody may read of them. Unknown is only what
 * was thrown, or undefined where nothing was.
 */
export type Json<Value> = unknown extends Value
  ? LockErrorJson | ForeignErrorJson | undefined
  : Value extends bigint | Date
    ? string
    : Value extends LockError
      ? LockErrorJson
      : Value extends Error
        ? LockErrorJson | ForeignErrorJson
        : Value;

/** What JSON has of an object of the public API that holds no others like it. */
export type JsonOf<Facts> = Facts extends object
  ? { readonly [Name in keyof Facts as Exclude<Name, 'toJSON'>]: Json<Facts[Name]> }
  : never;

export interface AsJson<Value> {
  /** What `JSON.stringify` takes; to add something to it: `{ ...value.toJSON(), more }`. */
  toJSON(): Value;
}

/**
 * Gives an object what `JSON.stringify` asks for: it throws at a bigint. The method is no enumerable member, so that a copy, a
 * comparison and a structured clone have the facts alone.
 */
export function withJson<Facts extends object, Value = JsonOf<Facts>>(
  facts: Facts,
  toJSON: (this: Facts) => unknown = plain,
): Facts & AsJson<Value> {
  return Object.defineProperty(facts, 'toJSON', { value: toJSON }) as Facts & AsJson<Value>;
}

/** What JSON has of the members of an object; those that are objects with such members themselves are left as they are. */
export function jsonOf<Facts extends object>(facts: Facts): JsonOf<Facts> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => {
      if (name === 'error' && value !== undefined) return [name, errorJson(value)];
      if (typeof value === 'bigint') return [name, String(value)];
      return [name, value instanceof Date ? value.toJSON() : value];
    }),
  ) as JsonOf<Facts>;
}

function plain(this: object): unknown {
  return jsonOf(this);
}

/** Of whatever was thrown: it may be huge, or lead back to itself. */
function errorJson(error: unknown): LockErrorJson | ForeignErrorJson {
  if (error instanceof LockError) return error.toJSON();
  // Not by its class: it may be of another realm.
  const { name, message } = (error ?? {}) as { readonly name?: unknown; readonly message?: unknown };
  return {
    name: typeof name === 'string' ? name : typeof error,
    message: typeof message === 'string' ? message : shown(error),
  };
}
