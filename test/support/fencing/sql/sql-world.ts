import type { SqlDialect } from '../../../../lib/fencing/sql/dialects.js';

/** Where the database of a test is: what a process needs to connect to it. */
export type SqlPlace =
  | { readonly dialect: 'postgres'; readonly url: string }
  | { readonly dialect: 'mysql'; readonly port: number; readonly packages: string }
  | { readonly dialect: 'sqlite'; readonly file: string; readonly packages: string };

export type SqlRow = Readonly<Record<string, unknown>>;

/** One connection, as the tests of `claimWith` use it. */
export interface SqlConnection {
  readonly dialect: SqlDialect;
  /** Answers what the driver answers. */
  run(sql: string, params?: readonly unknown[]): Promise<unknown>;
  rows(sql: string, params?: readonly unknown[]): Promise<SqlRow[]>;
  /** @param level one of `LEVELS` */
  begin(level?: string): Promise<unknown>;
  close(): Promise<void>;
}

/** The ways in which a transaction may begin. */
export const LEVELS: Readonly<Record<SqlDialect, readonly string[]>> = {
  postgres: ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'],
  mysql: ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'],
  sqlite: ['DEFERRED', 'IMMEDIATE', 'EXCLUSIVE'],
};

/** MariaDB: a deadlock, a row that changed behind a snapshot, a wait for a lock that took too long. */
const MYSQL_TO_REPEAT = [1_213, 1_020, 1_205];
/** PostgreSQL: no order of the transactions would give this result, a deadlock. */
const POSTGRES_TO_REPEAT = ['40001', '40P01'];

/** Whether the database says that the whole transaction is to be run again. */
export function isToRepeat(error: unknown): boolean {
  const { code, errno, message } = error as { code?: unknown; errno?: unknown; message?: unknown };
  return (
    POSTGRES_TO_REPEAT.includes(String(code)) ||
    MYSQL_TO_REPEAT.includes(Number(errno)) ||
    // SQLITE_BUSY, in the words of SQLite: where the number stands differs between its drivers.
    String(message).includes('database is locked')
  );
}
