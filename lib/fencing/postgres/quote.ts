import { LockConfigurationError } from '../../lock/errors.js';
import { quoted } from '../shown.js';

/** PostgreSQL cuts a longer name off, which makes it another name. */
const MAX_NAME_BYTES = 63;

/**
 * A name as PostgreSQL takes it literally, whatever characters it has. Names are case-sensitive this way: those made
 * without quotes are in lower case.
 * @throws LockConfigurationError
 */
export function quoteName(name: string): string {
  if (typeof name === 'string' && name !== '' && !name.includes('\0') && Buffer.byteLength(name) <= MAX_NAME_BYTES) {
    return `"${name.replaceAll('"', '""')}"`;
  }
  throw new LockConfigurationError(
    `Not a name for PostgreSQL: ${quoted(name)}. It takes 1 to ${MAX_NAME_BYTES} bytes, and no NUL`,
  );
}

/** `orders`, or `shop.orders` where it is not in the search path. @throws LockConfigurationError */
export function quoteTable(table: string): string {
  return String(table).split('.').map(quoteName).join('.');
}

/** The schema of a table of marks whose name has none. */
const SCHEMA_OF_MARKS = 'public';

/**
 * The name of a table of marks with its schema, so that no search path decides: the path differs between connections, and a
 * temporary table comes first in it. With two tables of one name there are two marks, and each writer is the newest in one.
 * @throws LockConfigurationError
 */
export function quoteMarksTable(table: string): string {
  return quoteTable(String(table).includes('.') ? table : `${SCHEMA_OF_MARKS}.${table}`);
}
