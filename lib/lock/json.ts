import { LockError, type LockErrorJson } from './errors.js';
import { shown } from './shown.js';

/** An error of another package in JSON. Only these two members are safe: nobody knows what else hangs on it. */
export interface ForeignErrorJson {
  readonly name: string;
  readonly message: string;
}

/**
 * A value in JSON: 64-bit numbers are text, dates are ISO text, and errors show only what anybody may read. `unknown`
 * stands for something thrown, or undefined where nothing was thrown.
 */
export type Json<Value> = unknown extends Value
  ? LockErrorJson | ForeignErrorJson | undefined
  : Value extends bigint | Date
    ? string
    : Value extends LockError
      ? LockErrorJson
      : Value extends Error
        ? LockErrorJson | ForeignErrorJson
        : Value extends AsJson<infer Plain>
          ? Plain
          : Value;

/** An object of the public API in JSON, for objects that hold no others like them. */
export type JsonOf<Facts> = Facts extends object
  ? { readonly [Name in keyof Facts as Exclude<Name, 'toJSON'>]: Json<Facts[Name]> }
  : never;

export interface AsJson<Value> {
  /** Called by `JSON.stringify`. To add something to it, write `{ ...value.toJSON(), more }`. */
  toJSON(): Value;
}

/**
 * Gives an object a `toJSON`, because `JSON.stringify` throws at a bigint. The method is not enumerable, so copies,
 * comparisons and structured clones have only the facts.
 */
export function withJson<Facts extends object, Value = JsonOf<Facts>>(
  facts: Facts,
  toJSON: (this: Facts) => unknown = plain,
): Facts & AsJson<Value> {
  return Object.defineProperty(facts, 'toJSON', { value: toJSON }) as Facts & AsJson<Value>;
}

/** An object that inherits its `toJSON`: it is made in a fraction of the time that it takes to give one to an object. */
export abstract class WithJson {
  // A member of the prototype: it is not enumerable either.
  toJSON(): JsonOf<this> {
    return jsonOf<this>(this);
  }
}

/** The members of an object in JSON. Members that are objects of this kind are left as they are. */
export function jsonOf<Facts extends object>(facts: Facts): JsonOf<Facts> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => {
      // An error's own members may hold a key, an address or a secret.
      if (name === 'error' && value !== undefined) return [name, errorJson(value)];
      if (typeof value === 'bigint') return [name, String(value)];
      return [name, value instanceof Date ? value.toJSON() : value];
    }),
  ) as JsonOf<Facts>;
}

function plain(this: object): unknown {
  return jsonOf(this);
}

/** The JSON of anything that was thrown. The thrown value itself may be huge or circular. */
function errorJson(error: unknown): LockErrorJson | ForeignErrorJson {
  if (error instanceof LockError) return error.toJSON();
  // The class is not checked, because the error may be of another realm.
  const { name, message } = (error ?? {}) as { readonly name?: unknown; readonly message?: unknown };
  return {
    name: typeof name === 'string' ? name : typeof error,
    message: typeof message === 'string' ? message : shown(error),
  };
}
