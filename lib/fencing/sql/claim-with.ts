import { LockConfigurationError } from '../../lock/errors.js';
import { checkResource, checkSettings } from '../checks.js';
import { type Fence, type FenceSettings, tokenToCompare } from '../fence.js';
import { kindOf } from '../shown.js';
import type { SqlDialect } from './dialects.js';
import { fenceStatement, type FenceStatementOptions } from './fence-statement.js';

/**
 * Runs one statement in a transaction of the caller's, and returns what the driver or the ORM answers: the rows, `{ rows }` or
 * `[rows, fields]`.
 */
export type RunSql = (sql: string, params: string[]) => unknown;

export interface ClaimWithOptions extends FenceStatementOptions, FenceSettings {
  /** `mysql` is MariaDB as well. @default 'postgres' */
  readonly dialect?: SqlDialect;
}

/**
 * Raises the mark of the resource to the token of this lock, in a transaction of the caller's own: the first thing to do in it,
 * before anything is read. From then on until the transaction ends the row of the mark is locked (in SQLite the database), so a newer
 * holder waits for its end, and an older one is refused. The mark and what the transaction writes come into force together.
 *
 * Needs the table of `fenceStatement(dialect).schema`. Let what this throws out of the transaction, so that it is rolled back. Errors of the
 * database come out as they are; after a deadlock or a failure to serialize run the whole transaction again.
 * @throws StaleFencingTokenError; LockLostError for a handle whose lock is lost; LockConfigurationError where `run` is known to be in no
 *   transaction (not to be seen in MySQL and SQLite), or answers nothing that tells the mark
 */
export async function claimWith(
  run: RunSql,
  resource: string,
  fence: Fence,
  options: ClaimWithOptions = {},
): Promise<void> {
  checkSettings('claimWith', options, ['dialect', 'table']);
  const { dialect = 'postgres', table, ...settings } = options;
  checkResource(resource);
  if (typeof run !== 'function') throw noFunction(run, resource);
  const statement = fenceStatement(dialect, table === undefined ? {} : { table });
  const token = await tokenToCompare(fence, resource, settings);
  const answers: unknown[] = [];
  for (const { sql, params } of statement.claim(resource, token)) answers.push(await run(sql, [...params]));
  statement.check(answers, resource, token);
}

function noFunction(run: unknown, resource: string): LockConfigurationError {
  return new LockConfigurationError(
    `claimWith(run, resource, fence) takes a function (sql, params) => ... as its first argument, not ${kindOf(run)}. Nothing was claimed`,
    resource,
  );
}
