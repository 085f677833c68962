import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { PostgresFence } from '../../../lib/extras/fencing/postgres/postgres-fence.js';
import { StaleFencingTokenError } from '../../../lib/lock/errors.js';
import { acceptable, acceptedInDisorder, codeOf, shuffledTokens } from '../../support/fencing/tokens.js';
import { eventually } from '../../support/process/eventually.js';
import { type PostgresServer, startPostgres } from '../../support/postgres/start-postgres.js';

const INSTALL_MS = 400_000;
const LARGEST = 2n ** 63n - 1n;
const R = '/locks/orders/42';

describe('PostgresFence', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let fence: PostgresFence;

  beforeAll(async () => {
    server = await startPostgres({ durable: true });
    pool = newPool();
    fence = new PostgresFence({ pool });
  }, INSTALL_MS);
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  }, 30_000);
  beforeEach(async () => {
    await pool.query('DROP TABLE IF EXISTS fencing_marks, orders');
    await pool.query(PostgresFence.migration());
    await pool.query('CREATE TABLE orders (id int PRIMARY KEY, state text, note bytea)');
    await pool.query(PostgresFence.columnMigration('orders'));
    await pool.query(`INSERT INTO orders (id, state) VALUES (1, 'new')`);
  });
  afterEach(() => expect(pool.idleCount).toBe(pool.totalCount));

  function newPool(options: pg.PoolConfig = {}): pg.Pool {
    const made = new pg.Pool({ connectionString: server.url, max: 8, ...options });
    made.on('error', () => undefined);
    return made;
  }

  async function order(id = 1): Promise<{ state: string; fence: string }> {
    const { rows } = await pool.query<{ state: string; fence: string }>('SELECT * FROM orders WHERE id = $1', [id]);
    return rows[0]!;
  }

  describe('claim', () => {
    it('accepts the same token again and a higher one, refuses a lower one and says what the highest is', async () => {
      await fence.claim(R, 5n);
      await fence.claim(R, 5n);
      await fence.claim(R, '7');
      const refused = await fence.claim(R, 6n).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StaleFencingTokenError);
      expect(String(refused)).toContain('has seen the fencing token 7, so 6 comes too late');
      expect(await fence.highest(R)).toBe(7n);
      await fence.claim('another', 1n);
    });

    it('is exact up to 2^63 - 1, where numbers of JavaScript are not', async () => {
      await fence.claim(R, 2n ** 53n + 1n);
      expect(await codeOf(fence.claim(R, 2n ** 53n))).toBe('STALE_FENCING_TOKEN');
      expect(await fence.highest(R)).toBe(2n ** 53n + 1n);
      await fence.claim(R, LARGEST);
      expect(await codeOf(fence.claim(R, LARGEST - 1n))).toBe('STALE_FENCING_TOKEN');
      expect(await fence.highest(R)).toBe(LARGEST);
      expect(await codeOf(fence.claim(R, LARGEST + 1n))).toBe('INVALID_FENCING_TOKEN');
    });

    it('never lets the mark go down, in whatever order 1 000 tokens come', async () => {
      const { accepted, refusals } = await acceptedInDisorder(1_000, (token) => fence.claim(R, token));
      expect(accepted).toEqual(acceptable(shuffledTokens(1_000)));
      expect([...refusals]).toEqual(['STALE_FENCING_TOKEN']);
    });

    it('from eight connections at once: who was refused was below the mark, and the highest one stands', async () => {
      const tokens = shuffledTokens(400, 7);
      const codes = await Promise.all(tokens.map((token) => codeOf(fence.claim(R, token))));
      expect(new Set(codes)).toEqual(new Set(['accepted', 'STALE_FENCING_TOKEN']));
      expect(codes[tokens.indexOf(400n)]).toBe('accepted');
      expect(await fence.highest(R)).toBe(400n);
    });

    it('does not take the resource, the table or the token for SQL', async () => {
      const name = `'; DROP TABLE orders; -- "\\ $1`;
      await fence.claim(name, 3n);
      expect(await fence.highest(name)).toBe(3n);
      const odd = new PostgresFence({ pool, table: 'mar"ks; DROP TABLE orders' });
      await pool.query(PostgresFence.migration('mar"ks; DROP TABLE orders'));
      await odd.claim(R, 3n);
      expect(await odd.highest(R)).toBe(3n);
      expect(await codeOf(fence.claim(R, '1; DROP TABLE orders'))).toBe('INVALID_FENCING_TOKEN');
      expect(await order()).toMatchObject({ state: 'new' });
      await pool.query('DROP TABLE "mar""ks; DROP TABLE orders"');
    });

    it('finds a table of a schema that is not in the search path', async () => {
      await pool.query('CREATE SCHEMA IF NOT EXISTS shop');
      await pool.query(PostgresFence.migration('shop.marks'));
      const shop = new PostgresFence({ pool, table: 'shop.marks' });
      await shop.claim(R, 3n);
      expect((await pool.query('SELECT token FROM shop.marks')).rows).toEqual([{ token: '3' }]);
      await pool.query('DROP SCHEMA shop CASCADE');
    });
  });

  describe('guarded', () => {
    const settle = (client: { query(text: string): Promise<unknown> }): Promise<unknown> =>
      client.query(`UPDATE orders SET state = 'settled' WHERE id = 1`);

    it('writes what the work writes, and refuses the work of a stale holder before it begins', async () => {
      await fence.guarded(R, 5n, settle);
      expect(await order()).toMatchObject({ state: 'settled' });
      let began = false;
      expect(await codeOf(fence.guarded(R, 4n, () => (began = true)))).toBe('STALE_FENCING_TOKEN');
      expect(began).toBe(false);
    });

    it('takes all back when the work fails, the mark too, and its error comes out as it is', async () => {
      const mine = new Error('mine');
      const failing = fence.guarded(R, 5n, async (client) => {
        await settle(client);
        throw mine;
      });
      await expect(failing).rejects.toBe(mine);
      expect(await order()).toMatchObject({ state: 'new' });
      expect(await fence.highest(R)).toBeUndefined();
      await expect(fence.guarded(R, 5n, (client) => client.query('SELECT nonsense'))).rejects.toMatchObject({
        code: '42703',
      });
    });

    it('keeps a newer holder waiting until the end, so that it reads all that was acknowledged', async () => {
      let finish: () => void = () => undefined;
      const finished = new Promise<void>((resolve) => (finish = resolve));
      let hasBegun: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => (hasBegun = resolve));
      const first = fence.guarded(R, 5n, async (client) => {
        hasBegun();
        await finished;
        await settle(client);
      });
      await begun;
      const order2 = fence.guarded(R, 6n, async (client) => (await client.query('SELECT state FROM orders')).rows);
      await untilSomebodyWaits();
      finish();
      await first;
      expect(await order2).toEqual([{ state: 'settled' }]);
    });

    it('says so when a statement of the work failed and the work went on: PostgreSQL committed nothing', async () => {
      const careless = fence.guarded(R, 5n, async (client) => {
        await settle(client);
        await client.query('SELECT nonsense').catch(() => undefined);
      });
      await expect(careless).rejects.toThrow('PostgreSQL answered ROLLBACK to COMMIT, so nothing was written');
      expect(await order()).toMatchObject({ state: 'new' });
    });

    it('of a process that is paused in it is ended by the server, so that the next holder gets in', async () => {
      const impatient = new PostgresFence({ pool, idleTimeoutMs: 100 });
      let next: Promise<void> | undefined;
      const paused = impatient.guarded(R, 5n, async (client) => {
        await settle(client);
        // Stands still, as a paused process does, until the next holder has got in.
        next = fence.claim(R, 6n);
        await next;
        await client.query('SELECT 1');
      });
      await expect(paused).rejects.toThrow(/idle-in-transaction|Connection terminated|not queryable/);
      await next;
      expect(await order()).toMatchObject({ state: 'new' });
      await fence.guarded(R, 6n, settle);
    });

    it('gives a connection back that was cut, so that the pool does not use it again', async () => {
      const cut = fence.guarded(R, 5n, async (client) => {
        const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        await pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
        await settle(client);
      });
      await expect(cut).rejects.toThrow(/terminat|not queryable/);
      await fence.guarded(R, 5n, settle);
    });

    it('inside of itself is refused, where it would wait for itself for ever', async () => {
      const nested = fence.guarded(R, 5n, () => fence.claim(R, 5n));
      await expect(nested).rejects.toThrow('is claimed by the guarded() around this call');
      await fence.guarded(R, 5n, () => fence.guarded('another', 1n, settle));
    });

    it('on one connection: one after the other, and statements of others do not slip into the transaction', async () => {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      try {
        const single = new PostgresFence({ pool: client });
        const failing = single.guarded(R, 5n, () => Promise.reject(new Error('mine')));
        const claiming = single.claim('another', 1n);
        const writing = single.guarded(R, 5n, settle);
        await expect(failing).rejects.toThrow('mine');
        await Promise.all([claiming, writing]);
        expect(await fence.highest('another')).toBe(1n);
        expect(await order()).toMatchObject({ state: 'settled' });

        await client.query('BEGIN');
        await single.claim(R, 9n);
        await client.query('ROLLBACK');
        expect(await fence.highest(R)).toBe(5n);
        await expect(single.guarded(R, 5n, () => single.guarded('another', 1n, settle))).rejects.toThrow('Use a pool');
      } finally {
        await client.end();
      }
    });

    it('on one connection: what it left running takes its turn, and is not in a later transaction', async () => {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      try {
        const single = new PostgresFence({ pool: client });
        let go: () => void = () => undefined;
        const gone = new Promise<void>((resolve) => (go = resolve));
        let leaked: Promise<void> | undefined;
        await single.guarded(R, 5n, () => {
          leaked = gone.then(() => single.claim('another', 9n));
        });
        const failing = single.guarded(R, 6n, async (own) => {
          go();
          // Time for the claim to be sent, if it is.
          for (let times = 0; times < 5; times += 1) await own.query('SELECT 1');
          throw new Error('mine');
        });
        await expect(failing).rejects.toThrow('mine');
        await leaked;
        expect(await fence.highest('another')).toBe(9n);
      } finally {
        await client.end();
      }
    });

    it('what it left running may claim the same resource when it is over', async () => {
      let go: () => void = () => undefined;
      const gone = new Promise<void>((resolve) => (go = resolve));
      let later: Promise<unknown> | undefined;
      await fence.guarded(R, 5n, () => {
        later = gone.then(async () => {
          await fence.claim(R, 6n);
          await fence.guarded(R, 6n, settle);
        });
      });
      go();
      await later;
      expect(await fence.highest(R)).toBe(6n);
    });

    it.each(['COMMIT', 'COMMIT AND CHAIN', 'ROLLBACK; BEGIN'])(
      'says so when the work ends the transaction with %s: the guard is open from there on',
      async (statement) => {
        const careless = fence.guarded(R, 5n, async (client) => {
          await client.query(statement);
          await settle(client);
        });
        await expect(careless).rejects.toThrow('The work has ended the transaction of guarded()');
        await fence.guarded(R, 6n, settle);
      },
    );

    it('lets the work have savepoints, and a BEGIN that does nothing', async () => {
      await fence.guarded(R, 5n, async (client) => {
        await client.query('BEGIN');
        await client.query('SAVEPOINT mine');
        await client.query('SELECT nonsense').catch(() => client.query('ROLLBACK TO SAVEPOINT mine'));
        await settle(client);
      });
      expect(await order()).toMatchObject({ state: 'settled' });
    });

    it('inside of another, without a connection left for it: ends when the server ends the outer one', async () => {
      const small = newPool({ max: 1 });
      try {
        const impatient = new PostgresFence({ pool: small, idleTimeoutMs: 100 });
        let inner: Promise<unknown> | undefined;
        const outer = impatient.guarded(R, 5n, () => (inner = impatient.guarded('another', 1n, settle)));
        await expect(outer).rejects.toThrow(/idle-in-transaction|Connection terminated/);
        // The connection of the outer one is free for it now.
        await inner;
        expect(await fence.highest(R)).toBeUndefined();
        expect(await fence.highest('another')).toBe(1n);
      } finally {
        await small.end();
      }
    });

    it.each(['repeatable read', 'serializable'])(
      'under %s: the failure to serialize comes out, and again works',
      async (level) => {
        const strict = newPool({ options: `-c default_transaction_isolation=${level.replace(' ', '\\ ')}` });
        try {
          const strictFence = new PostgresFence({ pool: strict });
          let finish: () => void = () => undefined;
          const finished = new Promise<void>((resolve) => (finish = resolve));
          let hasBegun: () => void = () => undefined;
          const begun = new Promise<void>((resolve) => (hasBegun = resolve));
          const first = strictFence.guarded(R, 5n, async () => {
            hasBegun();
            await finished;
          });
          await begun;
          const second = codeOf(strictFence.guarded(R, 6n, settle));
          await untilSomebodyWaits();
          finish();
          await first;
          expect(await second).toBe('40001');
          await strictFence.guarded(R, 6n, settle);
          expect(await codeOf(strictFence.guarded(R, 5n, settle))).toBe('STALE_FENCING_TOKEN');
        } finally {
          await strict.end();
        }
      },
    );

    async function untilSomebodyWaits(): Promise<void> {
      const waits = async (): Promise<boolean> =>
        (await pool.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rows.length > 0;
      await eventually('somebody waits for a row', waits, { everyMs: 5 });
    }
  });

  describe('update', () => {
    const to = (state: unknown): { table: string; set: Record<string, unknown>; where: Record<string, unknown> } => ({
      table: 'orders',
      set: { state },
      where: { id: 1 },
    });

    it('changes the row and its fence in one statement, and refuses a stale one', async () => {
      expect(await fence.update(R, 5n, to('paid'))).toBe(1);
      expect(await order()).toMatchObject({ state: 'paid', fence: '5' });
      const refused = fence.update(R, 4n, to('stale'));
      await expect(refused).rejects.toThrow('has seen the fencing token 5, so 4 comes too late');
      expect(await order()).toMatchObject({ state: 'paid', fence: '5' });
    });

    it('tells a row that is not there from one that is ahead', async () => {
      expect(await fence.update(R, 5n, { ...to('paid'), where: { id: 2 } })).toBe(0);
    });

    it('with nothing to set is the claim of the row', async () => {
      await fence.update(R, 5n, { table: 'orders', set: {}, where: { id: 1 } });
      expect(await order()).toMatchObject({ state: 'new', fence: '5' });
      expect(await codeOf(fence.update(R, 4n, to('stale')))).toBe('STALE_FENCING_TOKEN');
    });

    it('takes neither names nor values for SQL', async () => {
      const evil = `x' WHERE true; DROP TABLE orders; --`;
      expect(await fence.update(R, 5n, to(evil))).toBe(1);
      expect(await order()).toMatchObject({ state: evil });
      const names = ['state" = 1; DROP TABLE orders; --', 'state = 1, "id'];
      for (const name of names) {
        expect(await codeOf(fence.update(R, 5n, { ...to('x'), set: { [name]: 1 } }))).toBe('42703');
        expect(await codeOf(fence.update(R, 5n, { ...to('x'), where: { [name]: 1 } }))).toBe('42703');
        expect(await codeOf(fence.update(R, 5n, { ...to('x'), table: name }))).toBe('42P01');
      }
      expect(await order()).toMatchObject({ state: evil });
    });

    it('refuses what can only be a mistake', async () => {
      const refusals: [object, string][] = [
        [{ where: {} }, 'where is empty'],
        [{ where: { id: undefined } }, 'The value of id is undefined'],
        [{ set: { state: undefined } }, 'The value of state is undefined'],
        [{ set: { fence: 9 } }, 'is set to the token of the lock'],
      ];
      for (const [wrong, text] of refusals) {
        await expect(fence.update(R, 5n, { ...to('x'), ...wrong })).rejects.toThrow(text);
      }
    });

    it('finds rows by NULL, and takes a missing fence for none', async () => {
      await pool.query('ALTER TABLE orders ALTER fence DROP NOT NULL');
      await pool.query('INSERT INTO orders (id, state, fence) VALUES (3, NULL, NULL)');
      expect(await fence.update(R, 5n, { table: 'orders', set: { state: 'x' }, where: { id: 3, state: null } })).toBe(
        1,
      );
      expect(await order(3)).toMatchObject({ fence: '5' });
    });

    it('says so when a trigger keeps the row from being changed, instead of trying for ever', async () => {
      await pool.query(
        'CREATE OR REPLACE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
      );
      await pool.query('CREATE TRIGGER keep BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION keep()');
      await expect(fence.update(R, 5n, to('x'))).rejects.toThrow('Does a trigger or a row-level policy');
    });

    it('keeps bytes and 64-bit numbers as they are', async () => {
      const note = Buffer.from([0, 255, 39, 92]);
      await pool.query('ALTER TABLE orders ADD COLUMN amount bigint');
      await fence.update(R, 5n, { table: 'orders', set: { note, amount: LARGEST }, where: { id: 1 } });
      expect(await order()).toMatchObject({ note, amount: LARGEST.toString() });
    });
  });

  it('reads never raise the mark', async () => {
    await fence.claim(R, 5n);
    await fence.highest(R);
    await fence.claim(R, 5n);
    expect(await fence.highest('unknown')).toBeUndefined();
    expect((await pool.query('SELECT * FROM fencing_marks')).rows).toHaveLength(1);
  });

  it('the mark outlives a crash of the server', async () => {
    await fence.claim(R, 5n);
    await server.crash();
    await server.start();
    expect(await fence.highest(R)).toBe(5n);
    expect(await codeOf(fence.claim(R, 4n))).toBe('STALE_FENCING_TOKEN');
  });
});
