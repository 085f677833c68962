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
