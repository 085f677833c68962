import { InvalidLockKeyError } from '../../lock/errors.js';

/** A value that a placeholder may stand for. */
export type KeyValue = string | number | bigint;

/**
 * Makes a value a part of one path segment.
 * @throws InvalidLockKeyError
 */
export function encodeKeyValue(value: unknown, name: string, path: string): string {
  // A missing value must never become the text "undefined": all callers without the value would share one lock.
  if (!isKeyValue(value)) {
    throw new InvalidLockKeyError(
      `The lock key ${path} needs a value for ":${name}": a non-empty string, a finite number or a bigint, ` +
        `not ${describe(value)}`,
    );
  }
  try {
    const encoded = encodeURIComponent(String(value));
    // A segment of dots leads elsewhere in a path, and encodeURIComponent lets dots through.
    return encoded === '.' || encoded === '..' ? encoded.replaceAll('.', '%2E') : encoded;
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    const text = `The lock key ${path} needs a value for ":${name}" that is well-formed text, not half a character`;
    throw new InvalidLockKeyError(text, undefined, { cause: error });
  }
}

function isKeyValue(value: unknown): value is string | number | bigint {
  switch (typeof value) {
    case 'string':
      return value !== '';
    case 'number':
      return Number.isFinite(value) && !isInexact(value);
    default:
      return typeof value === 'bigint';
  }
}

/** Past 2^53 several integers are one number: several rows would share one lock. */
function isInexact(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

function describe(value: unknown): string {
  if (value === '') return 'an empty string';
  if (typeof value === 'number' && isInexact(value))
    return `${value}, which several integers are rounded to: use a bigint`;
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
