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
