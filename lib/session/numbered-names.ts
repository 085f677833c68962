const ZERO = 48;
const NINE = 57;
/** A server writes ten digits. A negative number has nine or ten, behind a minus. */
const LEAST_DIGITS = 9;
const MOST_DIGITS = 10;

/**
 * Whether a name ends in one of these characters and a number, as servers give it to sequential nodes.
 *
 * @param name a text, or bytes in UTF-8 from `start` to `end`: most names of a long list are never made into texts
 * @param characters ASCII characters
 */
export function isNumberedAfter(characters: string, name: string | Uint8Array, start = 0, end = name.length): boolean {
  let at = end - 1;
  for (let digits = 0; digits < MOST_DIGITS && at >= start; digits += 1, at -= 1) {
    const code = codeAt(name, at);
    if (code < ZERO || code > NINE) break;
  }
  if (end - 1 - at < LEAST_DIGITS) return false;
  return at >= start && characters.includes(String.fromCharCode(codeAt(name, at)));
}

function codeAt(name: string | Uint8Array, index: number): number {
  return typeof name === 'string' ? name.charCodeAt(index) : (name[index] ?? 0);
}
