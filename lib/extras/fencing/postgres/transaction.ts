import { LockConfigurationError } from '../../../lock/errors.js';
import type { PostgresClient, PostgresPool } from './postgres-client.js';

/**
 * Runs `work` in a transaction on a connection of the pool. Whatever happens the connection is given back, and is
 * closed where it may still be in the transaction.
 * @throws what `work` throws, or what PostgreSQL answered to the rest
 */
export async function inPooledTransaction<T>(
  pool: PostgresPool,
  idleTimeoutMs: number,
  work: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  const state: ConnectionState = { broken: undefined };
  try {
    return await inTransaction(client, idleTimeoutMs, work, state);
  } finally {
    client.release(state.broken);
  }
}

export interface ConnectionState {
  /** Why the connection cannot be used any more. */
  broken: Error | undefined;
}

/** The same on a connection that is not in a transaction. */
export async function inTransaction<T>(
  client: PostgresClient,
  idleTimeoutMs: number,
  work: (client: PostgresClient) => Promise<T>,
  state: ConnectionState = { broken: undefined },
): Promise<T> {
  // A connection that is cut between two statements says so by an event; without a listener that ends the process.
  const onError = (error: Error): void => void (state.broken ??= error);
  client.on('error', onError);
  try {
    // A process that is paused in here must not keep the row locked for longer than that.
    await orBroken(state, client.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${idleTimeoutMs}`));
    const result = await rollingBack(client, state, () => work(client));
    const { command } = await orBroken(state, client.query('COMMIT'));
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
    // What went wrong in the work is told, not what followed from it.
    await orBroken(state, client.query('ROLLBACK')).catch(() => undefined);
    throw error;
  }
}

/** After a failure of these the connection may still be in the transaction. */
async function orBroken<T>(state: ConnectionState, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    state.broken ??= error instanceof Error ? error : new Error(String(error));
    throw error;
  }
}

/** PostgreSQL answers a COMMIT with ROLLBACK, and no error, where a statement had failed before. */
function notCommitted(command: string): LockConfigurationError {
  return new LockConfigurationError(
    `PostgreSQL answered ${command} to COMMIT, so nothing was written: a statement of the work failed and the work went ` +
      'on. Let its error out, or put a SAVEPOINT in front of a statement that may fail',
  );
}
