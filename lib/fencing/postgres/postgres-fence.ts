import { LockConfigurationError } from '../../lock/errors.js';
import { InTurn } from '../../lock/in-turn.js';
import { visible } from '../../lock/visible.js';
import { CallsAround } from '../calls-around.js';
import { checkFunction, checkResource, checkSettings } from '../checks.js';
import { type Fence, type FenceSettings, tokenToCompare } from '../fence.js';
import { staleToken } from '../refusals.js';
import { attempt } from '../update-loop.js';
import {
  DEFAULT_COLUMN,
  type FencedUpdate,
  highestStatement,
  quoteMarksTable,
  quoteName,
  quoteTable,
  type Statement,
  updateStatement,
} from './statements.js';
import { isPool, type PostgresClient, type PostgresPool, inTransaction } from './transaction.js';
import { postgresClaim } from '../sql/dialects.js';
import { fenceStatement } from '../sql/fence-statement.js';
import { isStale } from '../token.js';

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

/** How often a refused statement is sent when the row changes between the refusal and the look for its reason. */
const MOST_LOOKS = 5;
const DEFAULT_TABLE = 'public.fencing_marks';
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
  /** Each `guarded` around the caller: its row is locked by another connection. */
  readonly #around = new CallsAround();
  /** A single connection has one transaction at a time. */
  readonly #turns = new InTurn();

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
  static migration(table = DEFAULT_TABLE): string {
    return fenceStatement('postgres', { table }).schema;
  }

  /** The SQL that gives a table of yours the column for `update`. Safe to run again. */
  static columnMigration(table: string, column = DEFAULT_COLUMN): string {
    return `ALTER TABLE ${quoteTable(table)} ADD COLUMN IF NOT EXISTS ${quoteName(column)} bigint NOT NULL DEFAULT 0;\n`;
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
    const guarded = {
      claim: (client: PostgresClient) => this.#claim(client, resource, token),
      work: (client: PostgresClient): Promise<T> => this.#around.run(resource, () => work(client)),
    };
    const around = this.#around.resources;
    if (!isPool(this.#pool) && around.length > 0) {
      throw new LockConfigurationError(
        `guarded(${visible(resource)}) inside of guarded(${visible(around.join(', '))}): one connection has one transaction. Use a pool`,
        resource,
      );
    }
    return this.#inTurn(() => inTransaction(this.#pool, this.#idleTimeoutMs, guarded));
  }

  /**
   * Changes a row that has a column for the token, in one statement. It knows nothing of the marks of `claim`: the row is
   * a resource of its own, and `resource` is what errors and signed tokens call it.
   * @returns how many rows were changed; 0: there is no such row
   * @throws StaleFencingTokenError
   */
  async update(resource: string, fence: Fence, update: FencedUpdate): Promise<number> {
    const token = await this.#token(resource, fence);
    // Over a single connection the update is a part of the transaction around it, and waits for nothing.
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
    const once = async (): Promise<number | undefined> => {
      const { rowCount } = await this.#pool.query(write.text, write.values);
      if (rowCount !== null && rowCount > 0) return rowCount;
      // Either there is no such row, or its token is higher. Where the row changed since, neither is so: once more.
      const { rows } = await this.#pool.query<{ matched: string; highest: string }>(look.text, look.values);
      const [seen] = rows;
      if (seen === undefined || seen.matched === '0') return 0;
      if (BigInt(seen.highest) > token) throw staleToken(resource, token, BigInt(seen.highest));
      return undefined;
    };
    return attempt(MOST_LOOKS, once, () => notWritable(resource));
  }

  /** @returns the id of the transaction that it ran in */
  async #claim(client: Queryable, resource: string, token: bigint): Promise<string> {
    const { sql, params } = postgresClaim(this.#table, resource, token.toString());
    const answer = client.query<{ mark: string; transaction: string }>(sql, [...params]);
    const [claimed] = (await orTooLong(resource, answer)).rows;
    if (claimed === undefined) throw notWritable(resource);
    const highest = BigInt(claimed.mark);
    if (isStale(token, highest)) throw staleToken(resource, token, highest);
    return claimed.transaction;
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

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    // On a single connection a statement must not slip into the transaction of another caller's `guarded`. Inside of such a
    // transaction it must not wait for its end.
    return isPool(this.#pool) || this.#around.resources.length > 0 ? run() : this.#turns.run('connection', run);
  }

  /** A claim inside would wait for the row that the transaction around it has locked, which waits for the claim. */
  #refuseInside(resource: string): void {
    if (!this.#around.resources.includes(resource)) return;
    throw new LockConfigurationError(
      `${visible(resource)} is claimed by the guarded() around this call, which would wait for itself: write over its client`,
      resource,
    );
  }
}

/** Turns the error for a name that does not fit into the index into one that says so. */
async function orTooLong<T>(resource: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    // PostgreSQL compresses the entries of an index: whether a long name fits shows only when it is written.
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
    `The row of ${visible(resource)} is there and its token is not higher, yet no statement changes it. Does a trigger or a ` +
      'row-level policy keep it from being changed?',
    resource,
  );
}

type Queryable = Pick<PostgresClient, 'query'>;
