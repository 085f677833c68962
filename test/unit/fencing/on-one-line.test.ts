import { describe, expect, it } from '@jest/globals';
import { tokenToCompare } from '../../../lib/fencing/fence.js';
import { FencedFileStore } from '../../../lib/fencing/file-store/fenced-file-store.js';
import { PostgresFence } from '../../../lib/fencing/postgres/postgres-fence.js';
import type { PostgresPool } from '../../../lib/fencing/postgres/transaction.js';
import { RedisFence } from '../../../lib/fencing/redis/redis-fence.js';
import { LockError } from '../../../lib/lock/errors.js';
import { temporaryRoot } from './file-store/support/temporary-root.js';

/** A line of its own in a log, in each way in which one begins, and a command to the terminal of who reads it. */
const NAME = 'a\nERROR b\r\nc\u0085d\u2028e\u2029f\u001b[31m';

async function textOf(refused: Promise<unknown>): Promise<string> {
  const error: unknown = await refused.catch((reason: unknown) => reason);
  if (!(error instanceof LockError)) throw new Error(`Was not refused: ${String(error)}`);
  expect(error.message).not.toContain('ERROR');
  return error.details;
}

describe('the name of a resource, in a message,', () => {
  it('is on one line in what each store says of it', async () => {
    await using files = await FencedFileStore.open({ root: temporaryRoot() });
    await files.write(NAME, 'x', 7n);
    const redis = new RedisFence({ client: { callBuffer: async () => ['stale', '7'].map((one) => Buffer.from(one)) } });
    const answers = { claim: [], highest: [{ token: '7' }] };
    const query = async (text: string) => ({ rows: text.startsWith('SELECT') ? answers.highest : answers.claim });
    const postgres = new PostgresFence({ pool: { totalCount: 1, query } as unknown as PostgresPool });
    const texts = await Promise.all(
      [
        files.write(NAME, 'late', 6n),
        files.write(NAME, Buffer.alloc(17 * 1024 * 1024), 7n),
        files.write(NAME, 7 as unknown as string, 7n),
        files.write(NAME, 'x', '7\u2028'),
        redis.claim(NAME, 6n),
        redis.write(NAME, 'late', 6n),
        postgres.claim(NAME, 6n),
        postgres.claim(NAME, 8n),
        tokenToCompare('none', NAME, {}),
        files.read(`${NAME}\0`),
      ].map(textOf),
    );
    for (const text of texts) {
      expect(text).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      expect(text).toMatch(/a(?:\\n|\\u000a)ERROR b/);
    }
  });
});
