import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../lib/fencing/file-store/fenced-file-store.js';
import type { PostgresPool } from '../../../lib/fencing/postgres/transaction.js';
import { PostgresFence } from '../../../lib/fencing/postgres/postgres-fence.js';
import { RedisFence } from '../../../lib/fencing/redis/redis-fence.js';
import { FencedZnodes } from '../../../lib/fencing/znodes/fenced-znodes.js';
import type { LockService } from '../../../lib/engine/lock-service.js';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import { temporaryRoot } from './file-store/support/temporary-root.js';

/** What a store is handed in the place of a server; a store that touches it has done so before it looked at its arguments. */
class Touched extends Error {}

const untouchable = new Proxy<Record<string | symbol, unknown>>(
  { totalCount: 1 },
  {
    get(target, name) {
      if (name in target || name === 'then') return target[name];
      return () => {
        throw new Touched(`${String(name)} was called`);
      };
    },
  },
);

type Update = (resource: string, fence: bigint, work: never) => Promise<unknown>;

const znodes = new FencedZnodes({ locks: untouchable as unknown as LockService, root: '/data' });
const redis = new RedisFence({ client: untouchable as never });
const postgres = new PostgresFence({ pool: untouchable as unknown as PostgresPool });
const STORES: readonly [string, string, Update][] = [
  ['RedisFence', 'update(resource, fence, change)', (...args) => redis.update(...args)],
  ['FencedZnodes', 'update(path, fence, change)', (path, _fence, work) => znodes.update(path, {} as never, work)],
  ['PostgresFence', 'guarded(resource, fence, work)', (...args) => postgres.guarded(...args)],
];

describe('a store that is given no function where it takes one', () => {
  it.each(STORES)('refuses that before it asks its server anything: %s', async (_store, call, update) => {
    for (const [wrong, shown] of [
      [undefined, 'undefined'],
      ['text', 'a string'],
      [Buffer.from('bytes'), 'Uint8Array'],
    ]) {
      await expect(update('/a', 7n, wrong as never)).rejects.toMatchObject({
        code: 'LOCK_CONFIGURATION',
        key: '/a',
        details: `/a: ${call} takes a function as its last argument, not ${shown as string}. Nothing was claimed or written`,
      });
    }
    // The stand-in does notice whoever comes to it.
    await expect(update('/a', 7n, (() => 'new') as never)).rejects.toThrow(Touched);
  });

  it('refuses that before it raises the mark: FencedFileStore', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    await expect(store.update('/a', 7n, 'text' as never)).rejects.toThrow(LockConfigurationError);
    expect(await store.highestToken('/a')).toBeUndefined();
    await store.write('/a', 'of an earlier holder', 6n);
  });
});
