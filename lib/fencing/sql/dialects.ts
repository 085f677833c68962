import { LockConfigurationError } from '../../lock/errors.js';
import { visible } from '../../lock/visible.js';
import { quoteMarksTable } from '../postgres/statements.js';
import { TRANSACTION_ID } from '../postgres/transaction.js';
import { quoted } from '../shown.js';

/** How a database speaks SQL; `mysql` is MariaDB as well. */
export type SqlDialect = 'postgres' | 'mysql' | 'sqlite';

/** A statement with the placeholders of its dialect, each of which stands once and in the order of `params`. */
export interface SqlStep {
  readonly sql: string;
  readonly params: readonly string[];
}

/** What the statements of one claim have told. */
export interface ClaimAnswer {
  /** The highest token, after the claim. */
  readonly mark: unknown;
  /** Known to be false where each statement was a transaction of its own. */
  readonly isOneTransaction: boolean;
  /** What the answers lack that they must have beside the mark. */
  readonly lacks?: string | undefined;
  /** The name that the mark is under, its UTF-8 in hexadecimal digits, where the connection may have made another of it. */
  readonly nameInHex?: string;
}

export interface Dialect {
  readonly defaultTable: string;
  readonly quoteTable: (table: string) => string;
  readonly schema: (table: string) => string;
  /** @throws LockConfigurationError for a name that the table cannot keep */
  readonly checkName: (resource: string) => void;
  readonly claim: (table: string, resource: string, token: string) => readonly SqlStep[];
  /** @param rows the first row that each statement of the claim answered */
  readonly read: (rows: readonly AnsweredRow[]) => ClaimAnswer;
}

export type AnsweredRow = Readonly<Record<string, unknown>> | undefined;

/*
 * The rules of all three: the first statement writes the row of the mark whatever the mark is, so that the row is locked to the
 * end of the transaction, and so that a database that judges transactions at their end sees two claims as a conflict. It never
 * lowers the mark. What the mark is then comes as text: a driver may make a rounded number of anything else. The token goes as
 * text for the same reason, and is cast by the server, which would compare text and integer as two doubles.
 */
export const DIALECTS: Readonly<Record<SqlDialect, Dialect>> = {
  postgres: {
    defaultTable: 'public.fencing_marks',
    quoteTable: quoteMarksTable,
    // An index in the order of a language goes wrong when the library of the system orders anew: a mark that it does not find would be
    // made a second time.
    schema: (table) => `CREATE TABLE IF NOT EXISTS ${table} (
  resource text COLLATE "C" PRIMARY KEY,
  token bigint NOT NULL CHECK (token > 0),
  updated_at timestamptz NOT NULL DEFAULT now()
);
`,
    checkName: () => undefined,
    claim: (table, resource, token) => [
      postgresClaim(table, resource, token),
      { sql: `SELECT ${TRANSACTION_ID} AS transaction`, params: [] },
    ],
    read: ([claimed, after]) => ({
      mark: claimed?.['mark'],
      isOneTransaction: claimed?.['transaction'] === after?.['transaction'],
      // Without the ids, two that are missing would be the same.
      lacks: lackOf(claimed, 'transaction') ?? lackOf(after, 'transaction'),
    }),
  },
  mysql: {
    defaultTable: 'fencing_marks',
    quoteTable: (table) => quoteParts(table, '`'),
    // The collation takes only equal texts for equal (and those that differ in spaces at their ends, which are refused). The engine
    // is named because others lock nothing, or nothing to the end of a transaction.
    schema: (table) => `CREATE TABLE IF NOT EXISTS ${table} (
  resource VARCHAR(${MYSQL_MAX_CHARACTERS}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
  token BIGINT NOT NULL CHECK (token > 0),
  updated_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
`,
    checkName: checkMysqlName,
    claim: (table, resource, token) => [
      {
        sql:
          `INSERT INTO ${table} (resource, token) VALUES (?, CAST(? AS SIGNED)) ON DUPLICATE KEY UPDATE ` +
          'token = GREATEST(token, CAST(? AS SIGNED)), updated_at = CURRENT_TIMESTAMP(6)',
        params: [resource, token, token],
      },
      {
        // Without FOR UPDATE this would read the snapshot of a transaction under REPEATABLE READ, where the mark is an old one if the
        // first statement changed nothing: two claims may have the same time.
        // Only MariaDB carries out the comment: MySQL has no such variable.
        // The name comes back in digits that every character set has: over a connection whose set is another, or into a column whose
        // collation takes other texts for equal, the mark would be that of another name, and this one would have two.
        sql:
          'SELECT CAST(token AS CHAR) AS mark, HEX(CONVERT(resource USING utf8mb4)) AS name ' +
          `/*M!100000 , @@in_transaction AS inside */ FROM ${table} WHERE resource = ? FOR UPDATE`,
        params: [resource],
      },
    ],
    read: ([, seen]) => ({
      mark: seen?.['mark'],
      isOneTransaction: seen?.['inside'] === undefined || isOne(seen),
      lacks: lackOf(seen, 'name'),
      nameInHex: String(seen?.['name']),
    }),
  },
  sqlite: {
    defaultTable: 'main.fencing_marks',
    // With the schema a temporary table of that name is not meant.
    quoteTable: (table) => quoteParts(table.includes('.') ? table : `main.${table}`, '"'),
    schema: (table) => `CREATE TABLE IF NOT EXISTS ${table} (
  resource TEXT NOT NULL PRIMARY KEY,
  token INTEGER NOT NULL CHECK (typeof(token) = 'integer' AND token > 0),
  updated_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
`,
    checkName: () => undefined,
    claim: (table, resource, token) => [
      {
        sql:
          `INSERT INTO ${table} (resource, token) VALUES (?, CAST(? AS INTEGER)) ON CONFLICT (resource) DO UPDATE SET ` +
          'token = max(token, excluded.token), updated_at = CURRENT_TIMESTAMP',
        params: [resource, token],
      },
      // Not RETURNING: several drivers tell a statement that answers rows by its first word.
      { sql: `SELECT CAST(token AS TEXT) AS mark FROM ${table} WHERE resource = ?`, params: [resource] },
    ],
    read: ([, seen]) => ({ mark: seen?.['mark'], isOneTransaction: true }),
  },
};

/** The claim of PostgreSQL in one statement, which answers the `mark` after it, and the id of its `transaction`. */
export function postgresClaim(table: string, resource: string, token: string): SqlStep {
  return {
    sql:
      // The token is sent as text and cast: a driver that asks the server for the type would take a bigint for a number of its own.
      `INSERT INTO ${table} AS fence (resource, token, updated_at) VALUES ($1, $2::text::bigint, now()) ` +
      'ON CONFLICT (resource) DO UPDATE SET token = GREATEST(fence.token, EXCLUDED.token), ' +
      'updated_at = CASE WHEN fence.token <= EXCLUDED.token THEN EXCLUDED.updated_at ELSE fence.updated_at END ' +
      `RETURNING fence.token::text AS mark, ${TRANSACTION_ID} AS transaction`,
    params: [resource, token],
  };
}

/** What fits into an index of InnoDB: 3 072 bytes, four for a character. */
const MYSQL_MAX_CHARACTERS = 768;

function checkMysqlName(resource: string): void {
  const characters = [...resource].length;
  if (characters <= MYSQL_MAX_CHARACTERS && !resource.endsWith(' ')) return;
  throw new LockConfigurationError(
    `MySQL and MariaDB keep marks under names of up to ${MYSQL_MAX_CHARACTERS} characters that do not end in a space; ` +
      `${visible(resource)} has ${characters}. Nothing was written. Give the resource another name, such as a digest of this one`,
    resource,
  );
}

function lackOf(row: AnsweredRow, column: string): string | undefined {
  return row?.[column] === undefined ? column : undefined;
}

/** A driver may have made a number, a bigint or text of it. */
function isOne(seen: NonNullable<AnsweredRow>): boolean {
  return String(seen['inside']) === '1';
}

function quoteParts(table: string, quote: string): string {
  const parts = table.split('.');
  if (parts.some((part) => part === '' || part.includes('\0'))) {
    throw new LockConfigurationError(
      `Not the name of a table: ${quoted(table)}. It is one name, or two with a dot, without NUL`,
    );
  }
  return parts.map((part) => `${quote}${part.replaceAll(quote, quote + quote)}${quote}`).join('.');
}
