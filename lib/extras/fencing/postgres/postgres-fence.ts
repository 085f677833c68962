import { AsyncLocalStorage } from 'node:async_hooks';
import { LockConfigurationError } from '../../../lock/errors.js';
import { checkFunction } from '../check-function.js';
import { checkResource } from '../check-resource.js';
import { checkSettings } from '../check-settings.js';
import { type Fence, type FenceSettings, tokenToCompare } from '../fence.js';
import { staleToken } from '../rule.js';
import { type FencedUpdate, highestStatement, type Statement, updateStatement } from './fenced-update.js';
import { DEFAULT_TABLE, fenceColumnSql, marksTableSql } from './migration.js';
import { isPool, type PostgresClient, type PostgresPool } from './postgres-client.js';
import { quoteMarksTable } from './quote.js';
import { inPooledTransaction, inTransactionOf, TRANSACTION_ID } from './transaction.js';
import { onOneLine } from '../on-one-line.js';

export interface PostgresFenceOptions extends FenceSettings {
  /** A `Pool` of the package `pg`, or one connection of it (a `Client`, a `PoolClient`). */
  readonly pool: PostgresPool | PostgresClient;
  /**
   * The table of the highest tokens, for `claim` and `guarded`: `app.fencing_marks`. Without a schema it is one of `public`,
   * whatever the search path of a connection is.
   * @default 'public.fencing_marks'
   */
  readonly table?: string;
  /**
   * For how long a transaction of `guarded` may stand still between two statements, in milliseconds; then PostgreSQL
   * ends it. A paused process would otherwise keep its successor waiting.
   * @default 10000
   */
  readonly idleTimeoutMs?: number;
}

/** A `guarded` around the code that asks: its row is locked by another connection. */
interface Around {
  readonly resource: string;
  /** Not any more when its work has ended; what the work left running still has this around it. */
  isOpen: boolean;
}

/** How often a refused statement looks again when the row changes under its eyes. */
const MOST_LOOKS = 5;
const LIMIT_EXCEEDED = '54000';
const MAX_IDLE_TIMEOUT_MS = 0x7fff_ffff;

/**
 * Refuses stale writers in PostgreSQL. The highest token is kept in the database that it protects, in the same
 * transaction as the write: they cannot come apart.
 *
 * Errors of PostgreSQL come out as they are. Under REPEATABLE READ and SERIALIZABLE that includes serialization failures
 * (40001): run the whole call again.
 */
export class PostgresFence {
  readonly #pool: PostgresPool | PostgresClient;
  readonly #table: string;
  readonly #idleTimeoutMs: number;
  readonly #settings: FenceSettings;
  readonly #around = new AsyncLocalStorage<readonly Around[]>();
  /** A single connection has one transaction at a time. */
  #last: Promise<unknown> = Promise.resolve();

  /** @throws LockConfigurationError for an option that is none */
  constructor(options: PostgresFenceOptions) {
    checkSettings('PostgresFence', options, ['pool', 'table', 'idleTimeoutMs']);
    const { pool, table = DEFAULT_TABLE, idleTimeoutMs = 10_000, ...settings } = options;
    if (!Number.isInteger(idleTimeoutMs) || idleTimeoutMs < 0 || idleTimeoutMs > MAX_IDLE_TIMEOUT_MS) {
      throw new LockConfigurationError(
        `idleTimeoutMs: must be a whole number of milliseconds (0 for none), not ${String(idleTimeoutMs)}`,
      );
    }
    this.#pool = pool;
    this.#table = quoteMarksTable(table);
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#settings = settings;
  }

  /** The SQL that makes the table for `claim` and `guarded`. Safe to run again. */
  static migration(table?: string): string {
    return marksTableSql(table);
  }

  /** The SQL that gives a table of yours the column for `update`. Safe to run again. */
  static columnMigration(table: string, column?: string): string {
    return fenceColumnSql(table, column);
  }

  /**
   * Raises the mark of the resource to this token: from now on no older holder can write. Do it before you read what you
   * are going to change. Over a single connection this joins the transaction that you have open there, if any.
   * @throws StaleFencingTokenError
   */
  async claim(resource: string, fence: Fence): Promise<void> {
    const token = await this.#token(resource, fence);
    this.#refuseInside(resource);
    await this.#inTurn(() => this.#claim(this.#pool, resource, token));
  }

  /**
   * Runs `work` in a transaction whose first statement is the claim. Until its end nobody else gets in, so what it reads
   * and writes over `client` is one step, however long this process is paused in between. The work must not send BEGIN,
   * COMMIT or ROLLBACK: that opens the guard.
   * @throws StaleFencingTokenError before `work` is called; what `work` throws, after a rollback; LockConfigurationError
   * where the work has ended the transaction itself, and over a single connection where a transaction of yours is open
   */
  async guarded<T>(resource: string, fence: Fence, work: (client: PostgresClient) => T | PromiseLike<T>): Promise<T> {
    const token = await this.#token(resource, fence);
    checkFunction('guarded(resource, fence, work)', work, resource);
    this.#refuseInside(resource);
    const around = this.#openAround();
    const guarded = {
      claim: (client: PostgresClient) => this.#claim(client, resource, token),
      work: async (client: PostgresClient): Promise<T> => {
        const mine: Around = { resource, isOpen: true };
        try {
          return await this.#around.run([...around, mine], () => work(client));
        } finally {
          mine.isOpen = false;
        }
      },
    };
    const pool = this.#pool;
    if (isPool(pool)) return inPooledTransaction(pool, this.#idleTimeoutMs, guarded);
    if (around.length > 0) {
      throw new LockConfigurationError(
        `guarded(${onOneLine(resource)}) inside of guarded(${onOneLine(around.map((each) => each.resource).join(', '))}): one connection has one transaction. Use a pool`,
        resource,
      );
    }
    return this.#inTurn(() => inTransactionOf(pool, this.#idleTimeoutMs, guarded));
  }

  /**
   * Changes a row that has a column for the token, in one statement. It knows nothing of the marks of `claim`: the row is
   * a resource of its own, and `resource` is what errors and signed tokens call it.
   * @returns how many rows were changed; 0: there is no such row
   * @throws StaleFencingTokenError
   */
  async update(resource: string, fence: Fence, update: FencedUpdate): Promise<number> {
    const token = await this.#token(resource, fence);
    // Over a single connection it is part of the transaction.
    if (isPool(this.#pool)) this.#refuseInside(resource);
    const write = updateStatement(update, token);
    const look = highestStatement(update);
    return this.#inTurn(() => this.#update(resource, token, write, look));
  }

  /** The highest token that was shown for the resource; undefined: none was. Does not raise it. */
  async highest(resource: string): Promise<bigint | undefined> {
    checkResource(resource);
    return this.#highest(this.#pool, resource);
  }

  async #update(resource: string, token: bigint, write: Statement, look: Statement): Promise<number> {
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      const { rowCount } = await this.#pool.query(write.text, write.values);
      if (rowCount !== null && rowCount > 0) return rowCount;
      const { rows } = await this.#pool.query<{ matched: string; highest: string }>(look.text, look.values);
      const [seen] = rows;
      if (seen === undefined || seen.matched === '0') return 0;
      if (BigInt(seen.highest) > token) throw staleToken(resource, token, BigInt(seen.highest));
    }
    throw notWritable(resource);
  }

  /** @returns the id of the transaction that it ran in */
  async #claim(client: Queryable, resource: string, token: bigint): Promise<string> {
    const text =
      `INSERT INTO ${this.#table} AS mark (resource, token, updated_at) VALUES ($1, $2::bigint, now()) ` +
      'ON CONFLICT (resource) DO UPDATE SET token = EXCLUDED.token, updated_at = EXCLUDED.updated_at ' +
      'WHERE mark.token <= EXCLUDED.token RETURNING ' +
      `${TRANSACTION_ID} AS transaction`;
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      const { rows } = await orTooLong(
        resource,
        client.query<{ transaction: string }>(text, [resource, token.toString()]),
      );
      if (rows[0] !== undefined) return rows[0].transaction;
      // Behind the refusal, so it is what refused, or higher. Where somebody has deleted the mark: once more.
      const highest = await this.#highest(client, resource);
      if (highest !== undefined && highest > token) throw staleToken(resource, token, highest);
    }
    throw notWritable(resource);
  }

  async #highest(client: Queryable, resource: string): Promise<bigint | undefined> {
    const text = `SELECT token::text AS token FROM ${this.#table} WHERE resource = $1`;
    const { rows } = await client.query<{ token: string }>(text, [resource]);
    return rows[0] === undefined ? undefined : BigInt(rows[0].token);
  }

  async #token(resource: string, fence: Fence): Promise<bigint> {
    checkResource(resource);
    return tokenToCompare(fence, resource, this.#settings);
  }

  #openAround(): readonly Around[] {
    return (this.#around.getStore() ?? []).filter(({ isOpen }) => isOpen);
  }

  /** On a single connection a statement must not slip into the transaction of another caller's `guarded`. */
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (isPool(this.#pool) || this.#openAround().length > 0) return run();
    const turn = this.#last.then(run);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** It would wait for the row that the transaction around it has locked, which waits for it. */
  #refuseInside(resource: string): void {
    if (!this.#openAround().some((each) => each.resource === resource)) return;
    throw new LockConfigurationError(
      `${onOneLine(resource)} is claimed by the guarded() around this call, which would wait for itself: write over its client`,
      resource,
    );
  }
}

/** Names that do not become short when they are compressed do not all fit into an index. */
async function orTooLong<T>(resource: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { code?: unknown }).code !== LIMIT_EXCEEDED) throw error;
    throw new LockConfigurationError(
      `PostgreSQL cannot keep a name of ${Buffer.byteLength(resource)} bytes in its index: up to 2 600 fit always. Nothing ` +
        'was written. Give the resource a shorter name, such as a digest of this one',
      resource,
      { cause: error },
    );
  }
}

function notWritable(resource: string): LockConfigurationError {
  return new LockConfigurationError(
    `The row of ${onOneLine(resource)} is there and its token is not higher, yet no statement changes it. Does a trigger or a ` +
      'row-level policy keep it from being changed?',
    resource,
  );
}

type Queryable = Pick<PostgresClient, 'query'>;
