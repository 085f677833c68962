import { visible } from '../lock/visible.js';

/** What came from outside, as JSON on one line. A long text is cut off, so that it can stand in a log. */
export function quoted(value: unknown, mostCharacters = Infinity): string {
  const isLong = typeof value === 'string' && value.length > mostCharacters;
  // There is no JSON for undefined.
  return visible(String(JSON.stringify(isLong ? `${value.slice(0, mostCharacters)}...` : value)));
}

/** What a value is, where it must not be shown itself. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}
