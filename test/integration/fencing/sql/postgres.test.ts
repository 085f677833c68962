import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { PostgresFence } from '../../../../lib/fencing/postgres/postgres-fence.js';
import { claimWith } from '../../../../lib/fencing/sql/claim-with.js';
import { fenceStatement } from '../../../../lib/fencing/sql/fence-statement.js';
import { claimPromises } from '../../../support/fencing/sql/claim-promises.js';
import { addEntry, markOf, RESOURCE } from '../../../support/fencing/sql/writer.js';
import { codeOf } from '../../../support/fencing/tokens.js';
import pg from 'pg';

describe('claimWith in PostgreSQL', () => {
  const stage = claimPromises('postgres');

  it('works behind a savepoint, and inside of one', async () => {
    const connection = await stage().connect();
    const withSavepoint = { beforeClaim: () => connection.run('SAVEPOINT mine') };
    expect(await addEntry(connection, 5n, 'first', withSavepoint)).toBe('accepted');
    expect(await addEntry(connection, 4n, 'stale', withSavepoint)).toBe('STALE_FENCING_TOKEN');
  });

  it('finds a mark by its bytes, in an order that no newer library of the system changes', async () => {
    const connection = await stage().connect();
    const collation = `SELECT c.collname AS name FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation
      WHERE a.attrelid = 'public.fencing_marks'::regclass AND a.attname = 'resource'`;
    expect(await connection.rows(collation)).toEqual([{ name: 'C' }]);
  });

  it('refuses a name that its index cannot keep, and writes nothing', async () => {
    const connection = await stage().connect();
    const claim = (bytes: number): Promise<void> =>
      // Digits in no order, because PostgreSQL compresses others.
      claimWith((sql, params) => connection.run(sql, params), randomBytes(bytes / 2).toString('hex'), 5n);
    await connection.begin();
    await claim(2_690);
    await expect(claim(4_096)).rejects.toMatchObject({ code: '54000' });
    await connection.run('ROLLBACK');
  });

  it('takes a claim back with the savepoint behind which it was made, and lets an older holder in from then on', async () => {
    const [one, other] = [await stage().connect(), await stage().connect()];
    await one.begin();
    await one.run('SAVEPOINT mine');
    await claimWith((sql, params) => one.run(sql, params), RESOURCE, 7n);
    await one.run('ROLLBACK TO mine');
    expect(await addEntry(other, 5n, 'older')).toBe('accepted');
    await one.run('COMMIT');
    expect(await markOf(other)).toBe('5');
  });

  it('has one mark with PostgresFence', async () => {
    const { world, connect } = stage();
    expect(PostgresFence.migration()).toBe(fenceStatement('postgres').schema);
    const { place } = world;
    if (place.dialect !== 'postgres') throw new Error('not PostgreSQL');
    const client = new pg.Client({ connectionString: place.url });
    await client.connect();
    try {
      const fence = new PostgresFence({ pool: client });
      const connection = await connect();
      await fence.claim(RESOURCE, 5n);
      expect(await addEntry(connection, 4n, 'stale')).toBe('STALE_FENCING_TOKEN');
      expect(await addEntry(connection, 7n, 'newer')).toBe('accepted');
      expect(await codeOf(fence.claim(RESOURCE, 6n))).toBe('STALE_FENCING_TOKEN');
    } finally {
      await client.end();
    }
  });
});
