import { beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { PostgresFence } from '../../../lib/fencing/postgres/postgres-fence.js';
import { settle, usePostgres } from '../../support/fencing/postgres-scene.js';
import { codeOf } from '../../support/fencing/tokens.js';
import { eventually } from '../../support/process/eventually.js';
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
    it('writes what the work writes, and refuses the work of a stale holder before it begins', async () => {
      await fence.guarded(R, 5n, settle);
      expect(await scene().order()).toMatchObject({ state: 'settled' });
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
      expect(await scene().order()).toMatchObject({ state: 'new' });
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
      await expect(careless).rejects.toThrow(telling('PostgreSQL answered ROLLBACK to COMMIT, so nothing was written'));
      expect(await scene().order()).toMatchObject({ state: 'new' });
    });

    it('is ended by the server where its process is paused in it, so that the next holder gets in', async () => {
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
      expect(await scene().order()).toMatchObject({ state: 'new' });
      await fence.guarded(R, 6n, settle);
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
      expect(await scene().order()).toMatchObject({ state: 'settled' });
    });

    it.each(['repeatable read', 'serializable'])(
      'lets the failure to serialize under %s come out, and works again',
      async (level) => {
        const strict = scene().newPool({ options: `-c default_transaction_isolation=${level.replace(' ', '\\ ')}` });
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
});
