import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { PostgresFence } from '../../../lib/fencing/postgres/postgres-fence.js';
import { settle, usePostgres } from '../../support/fencing/postgres-scene.js';
import { codeOf } from '../../support/fencing/tokens.js';

const R = '/locks/orders/42';

describe('PostgresFence, where a second table has the name of its own', () => {
  const scene = usePostgres();
  let fence: PostgresFence;

  beforeAll(() => {
    ({ fence } = scene());
  });
  beforeEach(() => fence.claim(R, 7n));

  /** What a stale writer is told over a connection on which `prepare` was run. */
  async function outcomes(prepare: string): Promise<{ codes: unknown[]; highest: bigint | undefined }> {
    const client = new pg.Client({ connectionString: scene().server.url });
    await client.connect();
    try {
      await client.query(prepare);
      const stale = new PostgresFence({ pool: client });
      const codes = [
        await codeOf(stale.claim(R, 5n)),
        await codeOf(stale.guarded(R, 6n, settle)),
        await codeOf(stale.claim(R, 7n)),
      ];
      return { codes, highest: await stale.highest(R) };
    } finally {
      await client.end();
    }
  }

  const asWithoutIt = { codes: ['STALE_FENCING_TOKEN', 'STALE_FENCING_TOKEN', 'accepted'], highest: 7n };

  it('refuses a stale writer whose search path leads to that of another schema', async () => {
    await scene().pool.query(`CREATE SCHEMA shop; ${PostgresFence.migration('shop.fencing_marks')}`);
    expect(await outcomes('SET search_path = shop, public')).toEqual(asWithoutIt);
    expect((await scene().pool.query('SELECT * FROM shop.fencing_marks')).rows).toEqual([]);
    await scene().pool.query('DROP SCHEMA shop CASCADE');
  });

  it('refuses a stale writer on a connection with a temporary table of that name', async () => {
    const temporary =
      'CREATE TEMP TABLE fencing_marks (resource text PRIMARY KEY, token bigint, updated_at timestamptz)';
    expect(await outcomes(temporary)).toEqual(asWithoutIt);
    expect(await scene().order()).toMatchObject({ state: 'new' });
  });

  it('needs no search path at all', async () => {
    expect(await outcomes(`SET search_path = ''`)).toEqual(asWithoutIt);
  });
});
