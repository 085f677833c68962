import { describe, expect, it } from '@jest/globals';
import { fenceStatement } from '../../../../lib/fencing/sql/fence-statement.js';
import { claimPromises } from '../../../support/fencing/sql/claim-promises.js';
import { markOf, RESOURCE } from '../../../support/fencing/sql/writer.js';
import { telling } from '../../../support/telling.js';

describe.each(['DELETE', 'WAL'])('claimWith in SQLite with the journal mode %s', (journal) => {
  const stage = claimPromises('sqlite', journal);

  it('can be done by hand, where a transaction cannot wait for anything', async () => {
    const connection = await stage().connect();
    const fence = fenceStatement('sqlite');
    const claim = async (token: bigint): Promise<void> => {
      const answers: unknown[] = [];
      for (const { sql, params } of fence.claim(RESOURCE, token)) answers.push(await connection.rows(sql, params));
      fence.check(answers, RESOURCE, token);
    };
    await claim(5n);
    await expect(claim(4n)).rejects.toEqual(telling('has seen the fencing token 5, so 4 comes too late'));
    expect(await markOf(connection)).toBe('5');
  });
});
