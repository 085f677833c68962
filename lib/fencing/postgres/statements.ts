import { LockConfigurationError } from '../../lock/errors.js';
import { quoted } from '../shown.js';

export const DEFAULT_COLUMN = 'fence';

/** Which row to change, and how. Names are quoted, values are sent as parameters: neither can be read as SQL. */
export interface FencedUpdate {
  /** `orders`, which is looked up as in SQL of your own, or `shop.orders`. The data and the token are in the same row. */
  readonly table: string;
  /** Column to value. */
  readonly set: Readonly<Record<string, unknown>>;
  /** Column to value, all of them: the key of one row. */
  readonly where: Readonly<Record<string, unknown>>;
  /** The column with the highest token. @default 'fence' */
  readonly column?: string;
}

export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** Checks and writes in one statement: nothing can come in between. */
export function updateStatement(
  { table, set, where, column = DEFAULT_COLUMN }: FencedUpdate,
  token: bigint,
): Statement {
  if (Object.keys(set).some((name) => name === column)) {
    throw new LockConfigurationError(`${table}.${column} is set to the token of the lock; leave it out of set`);
  }
  const values: unknown[] = [token.toString()];
  const assignments = Object.entries(set).map(
    ([name, value]) => `${quoteName(name)} = ${parameter(values, value, name)}`,
  );
  const fence = quoteName(column);
  const changed = [...assignments, `${fence} = $1::bigint`].join(', ');
  const rows = conditions(where, values);
  // A row from before the column may have NULL there, if the column was not made by the migration.
  return {
    text: `UPDATE ${quoteTable(table)} SET ${changed} WHERE ${rows} AND COALESCE(${fence}, 0) <= $1::bigint`,
    values,
  };
}

/** Asks what an update met that changed nothing: how many rows `matched`, and the highest token of them. */
export function highestStatement({ table, where, column = DEFAULT_COLUMN }: FencedUpdate): Statement {
  const values: unknown[] = [];
  const rows = conditions(where, values);
  const highest = `COALESCE(max(${quoteName(column)}), 0)::text AS highest`;
  return { text: `SELECT count(*)::text AS matched, ${highest} FROM ${quoteTable(table)} WHERE ${rows}`, values };
}

function conditions(where: FencedUpdate['where'], values: unknown[]): string {
  const entries = Object.entries(where);
  if (entries.length === 0) throw new LockConfigurationError('where is empty: name the row to update, by its key');
  const parts = entries.map(([name, value]) =>
    value === null ? `${quoteName(name)} IS NULL` : `${quoteName(name)} = ${parameter(values, value, name)}`,
  );
  return parts.join(' AND ');
}

function parameter(values: unknown[], value: unknown, name: string): string {
  if (value === undefined) {
    throw new LockConfigurationError(`The value of ${name} is undefined: write null for NULL, or leave the column out`);
  }
  // A bigint goes as its digits, whatever a version of pg would make of it.
  return `$${values.push(typeof value === 'bigint' ? value.toString() : value)}`;
}

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
