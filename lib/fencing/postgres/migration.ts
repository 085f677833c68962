import { quoteMarksTable, quoteName, quoteTable } from './quote.js';

export const DEFAULT_TABLE = 'public.fencing_marks';
export const DEFAULT_COLUMN = 'fence';

/** The SQL that makes the table of the highest tokens. Safe to run again. */
export function marksTableSql(table = DEFAULT_TABLE): string {
  return `CREATE TABLE IF NOT EXISTS ${quoteMarksTable(table)} (
  resource text PRIMARY KEY,
  token bigint NOT NULL CHECK (token > 0),
  updated_at timestamptz NOT NULL DEFAULT now()
);
`;
}

/** The SQL that gives a table of the application a column for the highest token of each row. Safe to run again. */
export function fenceColumnSql(table: string, column = DEFAULT_COLUMN): string {
  return `ALTER TABLE ${quoteTable(table)} ADD COLUMN IF NOT EXISTS ${quoteName(column)} bigint NOT NULL DEFAULT 0;\n`;
}
