/** What ends a line somewhere, or moves about in a terminal: the controls of ASCII and Latin-1, Unicode's two separators. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** A text in one line, as a message or a log takes it: what callers chose must not look like a line of its own. */
export function inOneLine(text: string): string {
  return text.replace(CONTROLS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A wrong value as a message shows it: `"10000"` and `10000` are not the same mistake. Whatever it is, this does not throw. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return 'a function';
    case 'object':
      // Not its own toString: it may have none, and what it holds may be a secret.
      return value === null ? 'null' : Object.prototype.toString.call(value);
    default:
      return String(value);
  }
}
