/** A wrong value as a message shows it: `"10000"` and `10000` are not the same mistake. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
