import { describe, expect, it } from '@jest/globals';
import { claimWith } from '../../../../lib/fencing/sql/claim-with.js';
import { claimPromises } from '../../../support/fencing/sql/claim-promises.js';
import { addEntry, entriesOf, markOf } from '../../../support/fencing/sql/writer.js';
import { codeOf } from '../../../support/fencing/tokens.js';
import { telling } from '../../../support/telling.js';

describe('claimWith in MariaDB', () => {
  const stage = claimPromises('mysql');

  it('refuses a name that its index would cut off or take for another', async () => {
    const connection = await stage().connect();
    const claim = (name: string): Promise<void> =>
      claimWith((sql, params) => connection.run(sql, params), name, 5n, { dialect: 'mysql' });
    for (const name of ['x'.repeat(769), 'a ']) expect(await codeOf(claim(name))).toBe('LOCK_CONFIGURATION');
    await connection.begin();
    await claim('ä'.repeat(768));
    await connection.run('COMMIT');
    expect(await markOf(connection, 'ä'.repeat(768))).toBe('5');
  });

  it('refuses a connection or a table that makes another name of the resource, where a stale writer would find another mark', async () => {
    const claim = async (charset: string, name: string, token: bigint, table = 'fencing_marks'): Promise<void> => {
      const connection = await stage().connect();
      await connection.run(`SET NAMES ${charset}`);
      await connection.begin();
      const options = { dialect: 'mysql', table } as const;
      const claimed = claimWith((sql, params) => connection.run(sql, params), name, token, options);
      await claimed.catch(() => connection.run('ROLLBACK'));
      await connection.run('COMMIT');
      return claimed;
    };
    await claim('utf8mb4', '/locks/😀', 7n);
    await expect(claim('latin1', '/locks/😀', 5n)).rejects.toEqual(telling('under another name'));
    // The driver knows how this one is written in that set.
    await claim('utf8mb4', '/locks/ä', 7n);
    expect(await codeOf(claim('latin1', '/locks/ä', 5n))).toBe('STALE_FENCING_TOKEN');

    const connection = await stage().connect();
    await connection.run(
      'CREATE TABLE own_marks (resource varchar(99) PRIMARY KEY, token bigint, updated_at timestamp(6))',
    );
    await claim('utf8mb4', '/locks/a', 7n, 'own_marks');
    await expect(claim('utf8mb4', '/locks/A', 8n, 'own_marks')).rejects.toEqual(telling('another name, "/locks/a"'));
    await connection.run('DROP TABLE own_marks');
  });

  it('refuses a stale one whose snapshot is older than the mark, also where the clock of the server stands still', async () => {
    const { connect } = stage();
    const [older, newer] = [await connect(), await connect()];
    for (const connection of [older, newer]) await connection.run('SET timestamp = 1000');
    expect(await addEntry(newer, 4n, 'first')).toBe('accepted');
    const outcome = await addEntry(older, 5n, 'stale', {
      beforeClaim: async () => {
        await older.rows('SELECT content FROM documents');
        expect(await addEntry(newer, 6n, 'second')).toBe('accepted');
      },
    });
    expect(outcome).toBe('STALE_FENCING_TOKEN');
    expect(await entriesOf(newer)).toEqual(['first', 'second']);
  });

  it('lets the failure come out that MariaDB makes of a row that changed behind a snapshot, where it is told to', async () => {
    const { connect } = stage();
    const [older, newer] = [await connect(), await connect()];
    await older.run('SET SESSION innodb_snapshot_isolation = ON');
    const outcome = await addEntry(older, 7n, 'older', {
      beforeClaim: async () => {
        await older.rows('SELECT content FROM documents');
        expect(await addEntry(newer, 6n, 'newer')).toBe('accepted');
      },
    });
    expect(outcome).toBe('to repeat');
    expect(await entriesOf(newer)).toEqual(['newer']);
  });
});
