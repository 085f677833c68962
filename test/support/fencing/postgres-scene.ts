import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import pg from 'pg';
import { PostgresFence } from '../../../lib/fencing/postgres/postgres-fence.js';
import { type PostgresServer, startPostgres } from '../postgres/start-postgres.js';

const INSTALL_MS = 400_000;

/** A database with orders, as the tests of `PostgresFence` write them, and a fence over it. */
export class PostgresScene {
  readonly pool: pg.Pool;
  readonly fence: PostgresFence;

  constructor(readonly server: PostgresServer) {
    this.pool = this.newPool();
    this.fence = new PostgresFence({ pool: this.pool });
  }

  newPool(options: pg.PoolConfig = {}): pg.Pool {
    const made = new pg.Pool({ connectionString: this.server.url, max: 8, ...options });
    made.on('error', () => undefined);
    return made;
  }

  /** One order, and no mark. */
  async reset(): Promise<void> {
    await this.pool.query('DROP TABLE IF EXISTS fencing_marks, orders');
    await this.pool.query(PostgresFence.migration());
    await this.pool.query('CREATE TABLE orders (id int PRIMARY KEY, state text, note bytea)');
    await this.pool.query(PostgresFence.columnMigration('orders'));
    await this.pool.query(`INSERT INTO orders (id, state) VALUES (1, 'new')`);
  }

  async order(id = 1): Promise<{ state: string; fence: string }> {
    const sql = 'SELECT * FROM orders WHERE id = $1';
    const { rows } = await this.pool.query<{ state: string; fence: string }>(sql, [id]);
    return rows[0]!;
  }

  async stop(): Promise<void> {
    await this.pool.end();
    await this.server.stop();
  }
}

/** For the tests of the `describe` around this call: a scene of their own, as new before each, with no connection kept by any. */
export function usePostgres(): () => PostgresScene {
  let scene: PostgresScene | undefined;
  const get = (): PostgresScene => {
    if (scene === undefined) throw new Error('PostgreSQL is only being started: use it in hooks and tests');
    return scene;
  };
  beforeAll(async () => {
    scene = new PostgresScene(await startPostgres({ durable: true }));
  }, INSTALL_MS);
  afterAll(() => scene?.stop(), 30_000);
  beforeEach(() => get().reset());
  afterEach(() => expect(get().pool.idleCount).toBe(get().pool.totalCount));
  return get;
}

/** What a holder does in `guarded()`. */
export function settle(client: { query(text: string): Promise<unknown> }): Promise<unknown> {
  return client.query(`UPDATE orders SET state = 'settled' WHERE id = 1`);
}
