import { LockConfigurationError } from '../../lock/errors.js';
import { visible } from '../../lock/visible.js';
import { checkNames, checkResource } from '../checks.js';
import { parseToken } from '../fence.js';
import { staleToken } from '../refusals.js';
import { kindOf, quoted } from '../shown.js';
import { isStale, readToken } from '../token.js';
import { firstRow } from './answer.js';
import { DIALECTS, type SqlDialect, type SqlStep } from './dialects.js';

export interface FenceStatementOptions {
  /**
   * The table of the highest tokens, with its schema or database where it has one: `app.fencing_marks`.
   * @default 'public.fencing_marks' in PostgreSQL, 'fencing_marks' of the connection's database in MySQL, 'main.fencing_marks' in SQLite
   */
  readonly table?: string;
}

/** The SQL of a fence in one dialect. */
export interface FenceStatement {
  /** Makes the table of marks. Safe to run again; put it into a migration. */
  readonly schema: string;
  /**
   * The statements of one claim, to be run in this order in one transaction, before anything is read. `claimWith` runs them; this is for
   * code that cannot await anything in its transaction.
   * @throws InvalidFencingTokenError for what is no token, LockConfigurationError for a name that the table cannot keep
   */
  readonly claim: (resource: string, token: bigint) => readonly SqlStep[];
  /**
   * Judges what the statements answered, each in its place: rows, one row, `{ rows }` or `[rows, fields]`. The transaction must be rolled
   * back when this throws.
   * @throws StaleFencingTokenError, InvalidFencingTokenError for what is no token, LockConfigurationError for answers that tell
   *   nothing, and for a mark under another name
   */
  readonly check: (answers: readonly unknown[], resource: string, token: bigint) => void;
}

/**
 * The statements with which a database refuses stale writers, for PostgreSQL, MySQL and MariaDB, and SQLite.
 * @throws LockConfigurationError for another dialect, or a name that is none
 */
export function fenceStatement(dialect: SqlDialect, options: FenceStatementOptions = {}): FenceStatement {
  checkNames(options, ['table'], (what) => {
    throw new LockConfigurationError(`fenceStatement: ${what}`);
  });
  if (!Object.hasOwn(DIALECTS, dialect)) throw unknownDialect(dialect);
  const { defaultTable, quoteTable, schema, checkName, claim, read } = DIALECTS[dialect];
  const table = quoteTable(String(options.table ?? defaultTable));
  return {
    schema: schema(table),
    claim(resource, token) {
      checkResource(resource);
      checkName(resource);
      return claim(table, resource, parseToken(token, resource).toString());
    },
    check(answers, resource, token) {
      const claimed = parseToken(token, resource);
      const { mark, isOneTransaction, lacks, nameInHex } = read(answers.map(firstRow));
      const highest = readToken(mark);
      if (highest === undefined) throw unreadable(resource, mark, answers);
      if (lacks !== undefined) throw incomplete(resource, lacks);
      if (nameInHex !== undefined && !isNamed(resource, nameInHex)) throw underAnotherName(resource, nameInHex);
      if (isStale(claimed, highest)) throw staleToken(resource, claimed, highest);
      if (!isOneTransaction) throw noTransaction(resource);
      // The claim never lowers the mark, so a lower one is not what this claim left.
      if (highest !== claimed) throw unreadable(resource, mark, answers);
    },
  };
}

function unknownDialect(dialect: unknown): LockConfigurationError {
  return new LockConfigurationError(
    `dialect: must be one of ${Object.keys(DIALECTS).join(', ')} (mysql is MariaDB, too), not ${String(dialect)}`,
  );
}

function noTransaction(resource: string): LockConfigurationError {
  return new LockConfigurationError(
    `The claim of ${visible(resource)} ran outside of a transaction, or over several connections: it was over before the write that ` +
      'it should protect. It wrote nothing but the mark. Run the statements in the transaction of the write: over tx, manager or trx, ' +
      'not over the pool, the client or the data source',
    resource,
  );
}

function isNamed(resource: string, hex: string): boolean {
  return hex.toLowerCase() === Buffer.from(resource).toString('hex');
}

function underAnotherName(resource: string, hex: string): LockConfigurationError {
  return new LockConfigurationError(
    `The database keeps the mark of ${visible(resource)} under another name, ${quoted(Buffer.from(hex, 'hex').toString())}: a writer ` +
      'whose connection or table is another would have another mark, and get in though it is stale. Is the character set of the ' +
      'connection utf8mb4, and the table that of fenceStatement().schema, with its collation? Roll the transaction back',
    resource,
  );
}

function incomplete(resource: string, column: string): LockConfigurationError {
  return new LockConfigurationError(
    `Whether ${visible(resource)} was claimed is not known: the answers have no column ${column}. Run both statements of the claim, and ` +
      'return or check what the driver or the ORM answers, with all its columns. Roll the transaction back',
    resource,
  );
}

function unreadable(resource: string, mark: unknown, answers: readonly unknown[]): LockConfigurationError {
  const told =
    mark === undefined ? `answered ${answers.map(kindOf).join(', then ')}` : `told a mark that is ${kindOf(mark)}`;
  return new LockConfigurationError(
    `Whether ${visible(resource)} was claimed is not known: the statements ${told}. run(sql, params) must return what the driver or ` +
      'the ORM answers: the rows, { rows } or [rows, fields], with the column mark as the text that it is. Does a trigger or a row-level ' +
      'policy keep the row from being changed? Roll the transaction back',
    resource,
  );
}
