/**
 * Characters that end a line somewhere or move the cursor of a terminal: ASCII and Latin-1 controls and Unicode's two
 * separators.
 */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** A text on one line, for a message or a log: a caller's text must not look like a line of its own. */
export function inOneLine(text: string): string {
  return text.replace(CONTROLS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A wrong value as a message shows it, so that `"10000"` and `10000` look different. It never throws. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return 'a function';
    case 'object':
      // The value's own toString is not called: it may be missing, and the value may hold a secret.
      return value === null ? 'null' : Object.prototype.toString.call(value);
    default:
      return String(value);
  }
}
