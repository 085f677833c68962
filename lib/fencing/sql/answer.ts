import type { AnsweredRow } from './dialects.js';

/**
 * The first row of what a driver or an ORM answered to a statement: the rows themselves, one row, `{ rows }`, or `[rows, fields]`.
 * Undefined where there is none: an answer without rows has another form in each driver.
 */
export function firstRow(answer: unknown): AnsweredRow {
  if (Array.isArray(answer)) return firstRow(answer[0]);
  if (typeof answer !== 'object' || answer === null) return undefined;
  const row = answer as Readonly<Record<string, unknown>>;
  return Array.isArray(row['rows']) ? firstRow(row['rows']) : row;
}
