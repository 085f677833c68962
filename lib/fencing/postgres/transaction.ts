import { LockConfigurationError } from '../../lock/errors.js';
import type { PostgresClient, PostgresPool } from './postgres-client.js';

/** An expression: the 64-bit id of the transaction, as text. The newer pg_current_xact_id() is missing before 13. */
export const TRANSACTION_ID = 'txid_current()::text';

const IN_FAILED_TRANSACTION = '25P02';

/** What is done in a transaction. */
export interface GuardedWork<T> {
  /** The first statement. @returns the id of the transaction that it ran in */
  claim(client: PostgresClient): Promise<string>;
  work(client: PostgresClient): Promise<T>;
}

/**
 * Runs `guarded` in a transaction on a connection of the pool. Whatever happens the connection is given back, and is
 * closed where it may still be in the transaction.
 * @throws what the claim and the work throw, or what PostgreSQL answered to the rest
 */
export async function inPooledTransaction<T>(
  pool: PostgresPool,
  idleTimeoutMs: number,
  guarded: GuardedWork<T>,
): Promise<T> {
  const client = await pool.connect();
  const state: ConnectionState = { broken: undefined };
  try {
    return await inTransaction(client, idleTimeoutMs, guarded, state);
  } finally {
    client.release(state.broken);
  }
}

/**
 * The same on the one connection that a caller has, over which its own transaction may be open: ours would commit it.
 * @throws LockConfigurationError for that, before anything is changed
 */
export async function inTransactionOf<T>(
  client: PostgresClient,
  idleTimeoutMs: number,
  guarded: GuardedWork<T>,
): Promise<T> {
  // The two are the same in the first statement of a transaction, and so outside of any. No error, which would be logged.
  const { rows } = await client.query<{ isOpen: boolean }>(`SELECT now() <> statement_timestamp() AS "isOpen"`);
  if (rows[0]?.isOpen !== false) throw isOpenAlready();
  return inTransaction(client, idleTimeoutMs, guarded);
}

export interface ConnectionState {
  /** Why the connection cannot be used any more. */
  broken: Error | undefined;
}

/** The same on a connection that is not in a transaction. */
async function inTransaction<T>(
  client: PostgresClient,
  idleTimeoutMs: number,
  guarded: GuardedWork<T>,
  state: ConnectionState = { broken: undefined },
): Promise<T> {
  let reject: (error: Error) => void = () => undefined;
  const cut = new Promise<never>((_, rejectCut) => (reject = rejectCut));
  // A connection that is cut between two statements says so by an event; without a listener that ends the process.
  const onError = (error: Error): void => {
    state.broken ??= error;
    reject(error);
  };
  // Nobody may be waiting for `cut` when it rejects.
  cut.catch(() => undefined);
  client.on('error', onError);
  try {
    // A process that is paused in the transaction must not keep the row locked for longer than this.
    await orBroken(state, client.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${idleTimeoutMs}`));
    const result = await rollingBack(client, state, async () => {
      const transaction = await guarded.claim(client);
      // Work that waits for something else, such as a connection of a pool that is used up, would not notice the cut.
      const done = await Promise.race([guarded.work(client), cut]);
      if (!(await isStillIn(client, transaction))) throw guardWasOpen();
      return done;
    });
    const { command } = await orBroken(state, client.query('COMMIT'));
    // Where a statement had failed before, PostgreSQL answers a COMMIT with ROLLBACK, and with no error.
    if (command !== 'COMMIT') throw notCommitted(command);
    return result;
  } finally {
    client.off('error', onError);
  }
}

async function rollingBack<T>(client: PostgresClient, state: ConnectionState, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The error of the work is told, not one that followed from it.
    if (state.broken === undefined) await orBroken(state, client.query('ROLLBACK')).catch(() => undefined);
    throw error;
  }
}

/** Whether the connection is still in the transaction that began with the claim. */
async function isStillIn(client: PostgresClient, transaction: string): Promise<boolean> {
  // PostgreSQL takes COMMIT and ROLLBACK from the work, too, and unlocks the row of the mark: the guard would be open.
  try {
    const { rows } = await client.query<{ id: string }>(`SELECT ${TRANSACTION_ID} AS id`);
    return rows[0]?.id === transaction;
  } catch (error) {
    // A statement had failed before, and the work went on: the answer to COMMIT will tell.
    if ((error as { code?: unknown }).code === IN_FAILED_TRANSACTION) return true;
    throw error;
  }
}

/** Marks the connection as broken where one of the statements fails that begin and end the transaction. */
async function orBroken<T>(state: ConnectionState, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    // The connection may still be in the transaction, so nobody else may be given it.
    state.broken ??= error instanceof Error ? error : new Error(String(error));
    throw error;
  }
}

function isOpenAlready(): LockConfigurationError {
  return new LockConfigurationError(
    'guarded() was called over a connection with an open transaction, which it would have committed with its own. Nothing ' +
      'was done, and that transaction is as it was: claim() in it, or commit it before, or give PostgresFence a pool',
  );
}

function notCommitted(command: string): LockConfigurationError {
  return new LockConfigurationError(
    `PostgreSQL answered ${command} to COMMIT, so nothing was written: a statement of the work failed and the work went ` +
      'on. Let its error out, or put a SAVEPOINT in front of a statement that may fail',
  );
}

function guardWasOpen(): LockConfigurationError {
  return new LockConfigurationError(
    'The work has ended the transaction of guarded() by a COMMIT or ROLLBACK of its own, so the guard was open from there ' +
      'on: a newer holder may have come in between, and what the work wrote since may have been written over it. What ' +
      'was not committed has been rolled back; look at the data. Use SAVEPOINT inside of guarded()',
  );
}
