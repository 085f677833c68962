import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { PostgresFence } from '../../../lib/fencing/postgres/postgres-fence.js';
import { StaleFencingTokenError } from '../../../lib/lock/errors.js';
import { usePostgres } from '../../support/fencing/postgres-scene.js';
import { acceptable, acceptedInDisorder, codeOf, shuffledTokens } from '../../support/fencing/tokens.js';
import { telling } from '../../support/telling.js';

const LARGEST = 2n ** 63n - 1n;
const R = '/locks/orders/42';

describe('PostgresFence', () => {
  const scene = usePostgres();
  let pool: pg.Pool;
  let fence: PostgresFence;

  beforeAll(() => {
    ({ pool, fence } = scene());
  });

  describe('claim()', () => {
    it('says which name is too long for its index, where a name of that length fits only when it can be compressed', async () => {
      const long = randomBytes(2_048).toString('hex');
      await expect(fence.claim(long, 5n)).rejects.toMatchObject({
        code: 'LOCK_CONFIGURATION',
        details: expect.stringContaining('PostgreSQL cannot keep a name of 4096 bytes in its index'),
      });
      for (const fitting of ['x'.repeat(4_096), randomBytes(1_300).toString('hex')]) await fence.claim(fitting, 5n);
      await expect(fence.guarded(long, 5n, () => 'never')).rejects.toThrow(telling('in its index'));
    });

    it('accepts the same token again and a higher one, refuses a lower one and says what the highest is', async () => {
      await fence.claim(R, 5n);
      await fence.claim(R, 5n);
      await fence.claim(R, '7');
      const refused = await fence.claim(R, 6n).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StaleFencingTokenError);
      expect(refused).toEqual(telling('has seen the fencing token 7, so 6 comes too late'));
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

    it('refuses from eight connections at once only who is below the mark, and the highest one stands', async () => {
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
      expect(await scene().order()).toMatchObject({ state: 'new' });
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

  describe('update()', () => {
    const to = (state: unknown): { table: string; set: Record<string, unknown>; where: Record<string, unknown> } => ({
      table: 'orders',
      set: { state },
      where: { id: 1 },
    });

    it('changes the row and its fence in one statement, and refuses a stale one', async () => {
      expect(await fence.update(R, 5n, to('paid'))).toBe(1);
      expect(await scene().order()).toMatchObject({ state: 'paid', fence: '5' });
      const refused = fence.update(R, 4n, to('stale'));
      await expect(refused).rejects.toThrow(telling('has seen the fencing token 5, so 4 comes too late'));
      expect(await scene().order()).toMatchObject({ state: 'paid', fence: '5' });
    });

    it('tells a row that is not there from one that is ahead', async () => {
      expect(await fence.update(R, 5n, { ...to('paid'), where: { id: 2 } })).toBe(0);
    });

    it('is the claim of the row where there is nothing to set', async () => {
      await fence.update(R, 5n, { table: 'orders', set: {}, where: { id: 1 } });
      expect(await scene().order()).toMatchObject({ state: 'new', fence: '5' });
      expect(await codeOf(fence.update(R, 4n, to('stale')))).toBe('STALE_FENCING_TOKEN');
    });

    it('takes neither names nor values for SQL', async () => {
      const evil = `x' WHERE true; DROP TABLE orders; --`;
      expect(await fence.update(R, 5n, to(evil))).toBe(1);
      expect(await scene().order()).toMatchObject({ state: evil });
      const names = ['state" = 1; DROP TABLE orders; --', 'state = 1, "id'];
      for (const name of names) {
        expect(await codeOf(fence.update(R, 5n, { ...to('x'), set: { [name]: 1 } }))).toBe('42703');
        expect(await codeOf(fence.update(R, 5n, { ...to('x'), where: { [name]: 1 } }))).toBe('42703');
        expect(await codeOf(fence.update(R, 5n, { ...to('x'), table: name }))).toBe('42P01');
      }
      expect(await scene().order()).toMatchObject({ state: evil });
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
      expect(await scene().order(3)).toMatchObject({ fence: '5' });
    });

    it('says so when a trigger keeps the row from being changed, instead of trying for ever', async () => {
      await pool.query(
        'CREATE OR REPLACE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
      );
      await pool.query('CREATE TRIGGER keep BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION keep()');
      await expect(fence.update(R, 5n, to('x'))).rejects.toThrow(telling('Does a trigger or a row-level policy'));
    });

    it('keeps bytes and 64-bit numbers as they are', async () => {
      const note = Buffer.from([0, 255, 39, 92]);
      await pool.query('ALTER TABLE orders ADD COLUMN amount bigint');
      await fence.update(R, 5n, { table: 'orders', set: { note, amount: LARGEST }, where: { id: 1 } });
      expect(await scene().order()).toMatchObject({ note, amount: LARGEST.toString() });
    });
  });

  it('never raises the mark by a read', async () => {
    await fence.claim(R, 5n);
    await fence.highest(R);
    await fence.claim(R, 5n);
    expect(await fence.highest('unknown')).toBeUndefined();
    expect((await pool.query('SELECT * FROM fencing_marks')).rows).toHaveLength(1);
  });

  it('keeps the mark over a crash of the server', async () => {
    await fence.claim(R, 5n);
    await scene().server.crash();
    await scene().server.start();
    expect(await fence.highest(R)).toBe(5n);
    expect(await codeOf(fence.claim(R, 4n))).toBe('STALE_FENCING_TOKEN');
  });
});
