import { LockConfigurationError } from '../../lock/errors.js';

/** A connection to PostgreSQL: a `Client` or a `PoolClient` of the package `pg` fits. */
export interface PostgresClient {
  query<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<PostgresResult<Row>>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

export interface PostgresResult<Row extends object = Record<string, unknown>> {
  readonly rows: Row[];
  readonly rowCount: number | null;
  /** What the server did: `COMMIT`, or `ROLLBACK` where a transaction could not be committed. */
  readonly command: string;
}

export interface PostgresPoolClient extends PostgresClient {
  /** Gives the connection back; with an error it is closed, not used again. */
  release(error?: Error): void;
}

/** A pool of connections: a `Pool` of the package `pg` fits. */
export interface PostgresPool {
  /** Tells a pool from a single connection. */
  readonly totalCount: number;
  connect(): Promise<PostgresPoolClient>;
  query<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<PostgresResult<Row>>;
}

export function isPool(from: PostgresPool | PostgresClient): from is PostgresPool {
  return 'totalCount' in from;
}

/** An expression: the 64-bit id of the transaction, as text. The newer pg_current_xact_id() is missing before 13. */
export const TRANSACTION_ID = 'txid_current()::text';

const IN_FAILED_TRANSACTION = '25P02';

/** What is done in a transaction. */
export interface GuardedWork<T> {
  /** The first statement. @returns the id of the transaction that it ran in */
  readonly claim: (client: PostgresClient) => Promise<string>;
  readonly work: (client: PostgresClient) => Promise<T>;
}

/**
 * Runs `guarded` in a transaction. A connection of a pool is given back whatever happens, and closed where it may still be in the
 * transaction. Over a single connection the caller's own transaction may be open: ours would commit it.
 * @throws what the claim and the work throw, or what PostgreSQL answered to the rest; LockConfigurationError for an open
 *   transaction, before anything is changed
 */
export async function inTransaction<T>(
  from: PostgresPool | PostgresClient,
  idleTimeoutMs: number,
  guarded: GuardedWork<T>,
): Promise<T> {
  if (!isPool(from)) {
    await refuseOpenTransaction(from);
    return new Transaction(from).run(idleTimeoutMs, guarded);
  }
  const client = await from.connect();
  const transaction = new Transaction(client);
  try {
    return await transaction.run(idleTimeoutMs, guarded);
  } finally {
    client.release(transaction.broken);
  }
}

async function refuseOpenTransaction(client: PostgresClient): Promise<void> {
  // The two are the same in the first statement of a transaction, and so outside of any. No error, which would be logged.
  const { rows } = await client.query<{ isOpen: boolean }>(`SELECT now() <> statement_timestamp() AS "isOpen"`);
  if (rows[0]?.isOpen !== false) throw isOpenAlready();
}

/** One transaction on a connection that is in none. */
class Transaction {
  /** Why the connection cannot be used any more. */
  broken: Error | undefined;

  constructor(private readonly client: PostgresClient) {}

  async run<T>(idleTimeoutMs: number, guarded: GuardedWork<T>): Promise<T> {
    let reject: (error: Error) => void = () => undefined;
    const cut = new Promise<never>((_, rejectCut) => (reject = rejectCut));
    // A connection that is cut between two statements says so by an event; without a listener that ends the process.
    const onError = (error: Error): void => {
      this.broken ??= error;
      reject(error);
    };
    // Nobody may be waiting for `cut` when it rejects.
    cut.catch(() => undefined);
    this.client.on('error', onError);
    try {
      // A process that is paused in the transaction must not keep the row locked for longer than this.
      await this.#send(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${idleTimeoutMs}`);
      const result = await this.#orRollBack(guarded, cut);
      const { command } = await this.#send('COMMIT');
      // Where a statement had failed before, PostgreSQL answers a COMMIT with ROLLBACK, and with no error.
      if (command !== 'COMMIT') throw notCommitted(command);
      return result;
    } finally {
      this.client.off('error', onError);
    }
  }

  async #orRollBack<T>({ claim, work }: GuardedWork<T>, cut: Promise<never>): Promise<T> {
    try {
      const id = await claim(this.client);
      // Work that waits for something else, such as a connection of a pool that is used up, would not notice the cut.
      const done = await Promise.race([work(this.client), cut]);
      if (!(await this.#isStillIn(id))) throw guardWasOpen();
      return done;
    } catch (error) {
      // The error of the work is told, not one that followed from it.
      if (this.broken === undefined) await this.#send('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  /** Whether the connection is still in the transaction that began with the claim. */
  async #isStillIn(transaction: string): Promise<boolean> {
    // PostgreSQL takes COMMIT and ROLLBACK from the work, too, and unlocks the row of the mark: the guard would be open.
    try {
      const { rows } = await this.client.query<{ id: string }>(`SELECT ${TRANSACTION_ID} AS id`);
      return rows[0]?.id === transaction;
    } catch (error) {
      // A statement had failed before, and the work went on: the answer to COMMIT will tell.
      if ((error as { code?: unknown }).code === IN_FAILED_TRANSACTION) return true;
      throw error;
    }
  }

  /** Sends one of the statements that begin and end the transaction. */
  async #send(text: string): Promise<PostgresResult> {
    try {
      return await this.client.query(text);
    } catch (error) {
      // The connection may still be in the transaction, so nobody else may be given it.
      this.broken ??= error instanceof Error ? error : new Error(String(error));
      throw error;
    }
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
