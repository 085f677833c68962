/** Control characters, and the two of Unicode that end a line without being such. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * A name as messages show it: the name of a resource must not look like a line of its own in a log, nor reach a terminal as a
 * command.
 */
export function onOneLine(name: unknown): string {
  return String(name).replace(UNPRINTABLE, (character) => {
    return SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** What came from outside, as JSON on one line. A long text is cut off, so that it can stand in a log. */
export function quoted(value: unknown, mostCharacters = Infinity): string {
  const isLong = typeof value === 'string' && value.length > mostCharacters;
  return onOneLine(JSON.stringify(isLong ? `${value.slice(0, mostCharacters)}...` : value));
}

/** What a value is, where it must not be shown itself. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}
