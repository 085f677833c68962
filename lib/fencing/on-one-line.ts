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
