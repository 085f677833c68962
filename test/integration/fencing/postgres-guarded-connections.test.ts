import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { PostgresFence } from '../../../lib/fencing/postgres/postgres-fence.js';
import { settle, usePostgres } from '../../support/fencing/postgres-scene.js';
import { telling } from '../../support/telling.js';

const R = '/locks/orders/42';

describe('PostgresFence', () => {
  const scene = usePostgres();
  let pool: pg.Pool;
  let fence: PostgresFence;

  beforeAll(() => {
    ({ pool, fence } = scene());
  });

  describe('guarded()', () => {
    it('gives a connection back that was cut, so that the pool does not use it again', async () => {
      const cut = fence.guarded(R, 5n, async (client) => {
        const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        await pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
        await settle(client);
      });
      await expect(cut).rejects.toThrow(/terminat|not queryable/);
      await fence.guarded(R, 5n, settle);
    });

    it('is refused inside of itself, where it would wait for itself for ever', async () => {
      const nested = fence.guarded(R, 5n, () => fence.claim(R, 5n));
      await expect(nested).rejects.toThrow(telling('is claimed by the guarded() around this call'));
      await fence.guarded(R, 5n, () => fence.guarded('another', 1n, settle));
    });

    it('runs one after the other on one connection, and no statement of others slips into the transaction', async () => {
      const client = new pg.Client({ connectionString: scene().server.url });
      await client.connect();
      try {
        const single = new PostgresFence({ pool: client });
        const failing = single.guarded(R, 5n, () => Promise.reject(new Error('mine')));
        const claiming = single.claim('another', 1n);
        const writing = single.guarded(R, 5n, settle);
        await expect(failing).rejects.toThrow('mine');
        await Promise.all([claiming, writing]);
        expect(await fence.highest('another')).toBe(1n);
        expect(await scene().order()).toMatchObject({ state: 'settled' });

        await client.query('BEGIN');
        await single.claim(R, 9n);
        await client.query('ROLLBACK');
        expect(await fence.highest(R)).toBe(5n);
        await expect(single.guarded(R, 5n, () => single.guarded('another', 1n, settle))).rejects.toThrow(
          telling('Use a pool'),
        );
      } finally {
        await client.end();
      }
    });

    it('refuses to run in a transaction of the caller on one connection, and leaves that as it is', async () => {
      const client = new pg.Client({ connectionString: scene().server.url });
      await client.connect();
      try {
        const single = new PostgresFence({ pool: client });
        for (const first of ['BEGIN', 'BEGIN; SELECT 1', `BEGIN; INSERT INTO orders (id, state) VALUES (77, 'mine')`]) {
          await client.query(first);
          await expect(single.guarded(R, 5n, settle)).rejects.toThrow(telling('a connection with an open transaction'));
          const { command } = await client.query('ROLLBACK');
          expect(command).toBe('ROLLBACK');
          expect(await scene().order(77)).toBeUndefined();
        }
        await client.query('BEGIN');
        await client.query('SELECT 1 / 0').catch(() => undefined);
        await expect(single.guarded(R, 5n, settle)).rejects.toMatchObject({ code: '25P02' });
        await client.query('ROLLBACK');
        expect(await fence.highest(R)).toBeUndefined();

        await single.guarded(R, 5n, settle);
        expect(await scene().order()).toMatchObject({ state: 'settled' });
      } finally {
        await client.end();
      }
    });

    it('refuses an update of what it has claimed, which would wait for a row that its work has changed', async () => {
      const row = { table: 'orders', set: { state: 'updated' }, where: { id: 1 } };
      const nested = fence.guarded(R, 5n, async (client) => {
        await settle(client);
        await fence.update(R, 5n, row);
      });
      await expect(nested).rejects.toThrow(telling('is claimed by the guarded() around this call'));
      expect(await scene().order()).toMatchObject({ state: 'new' });
      await fence.guarded(R, 5n, () => fence.update('another', 5n, row));
      expect(await scene().order()).toMatchObject({ state: 'updated' });
    });

    it('lets what it left running on one connection take its turn, and not in a later transaction', async () => {
      const client = new pg.Client({ connectionString: scene().server.url });
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

    it('lets what it left running claim the same resource when it is over', async () => {
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

    it('ends inside of another, without a connection left for it, when the server ends the outer one', async () => {
      const small = scene().newPool({ max: 1 });
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
  });
});
