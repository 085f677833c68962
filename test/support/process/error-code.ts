/**
 * The `code` of a system error, such as ENOENT. Not `instanceof`: Jest gives test files an `Error` (and a `RangeError`) of their
 * own, and what Node itself throws is an instance of neither.
 */
export function errorCode(error: unknown): string | undefined {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error;
  return hasCode && typeof error.code === 'string' ? error.code : undefined;
}
