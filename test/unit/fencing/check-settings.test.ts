import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../lib/fencing/file-store/fenced-file-store.js';
import { VerificationKeys } from '../../../lib/fencing/signed/keys.js';
import { PostgresFence } from '../../../lib/fencing/postgres/postgres-fence.js';
import { RedisFence } from '../../../lib/fencing/redis/redis-fence.js';
import { FencedZnodes } from '../../../lib/fencing/znodes/fenced-znodes.js';

const keys = new VerificationKeys([{ id: 'k', algorithm: 'HS256', secret: 'x'.repeat(40) }]);

const stores: [string, (options: object) => unknown, object][] = [
  ['FencedFileStore', (options) => FencedFileStore.open(options as never), { root: '/nowhere' }],
  ['FencedZnodes', (options) => new FencedZnodes(options as never), { locks: {}, root: '/data' }],
  ['PostgresFence', (options) => new PostgresFence(options as never), { pool: {} }],
  ['RedisFence', (options) => new RedisFence(options as never), { client: {} }],
];

describe.each(stores)('%s', (name, make, needed) => {
  const making = async (options: object): Promise<unknown> => make(options);

  it('refuses keys under a wrong name, without which it would take any number', async () => {
    for (const wrong of ['key', 'verificationKeys']) {
      await expect(making({ ...needed, [wrong]: keys })).rejects.toMatchObject({
        code: 'LOCK_CONFIGURATION',
        message: expect.stringMatching(
          new RegExp(`^${name}: ${wrong}: is not an option \\(the options are: .*keys, lockKey\\)`),
        ),
      });
    }
  });

  it.each([
    ['no options', undefined, 'the options must be an object such as {'],
    ['keys that were not checked', { keys: [] }, 'keys: must be made with new VerificationKeys'],
    ['keys that are null', { keys: null }, 'keys: must be made with new VerificationKeys'],
    ['a lockKey that is none', { lockKey: '/locks' }, 'lockKey: must be a function'],
  ])('refuses %s', async (_what, wrong, expected) => {
    const options = wrong === undefined ? undefined : { ...needed, ...wrong };
    await expect(making(options as object)).rejects.toThrow(`${name}: ${expected}`);
  });
});
