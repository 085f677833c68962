import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { FencedFileStore, PostgresFence } from '../../../lib/fencing/index.js';
import { refusal } from '../../../lib/session/patient-link.js';
import { type LockError, LockConfigurationError } from '../../../lib/lock/errors.js';
import { SessionError } from '../../../lib/session/errors.js';
import { temporaryRoot } from './file-store/support/temporary-root.js';

async function caught(failing: Promise<unknown>): Promise<LockError> {
  const error: unknown = await failing.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LockConfigurationError);
  return error as LockError;
}

/** GraphQL, and event streams, show a message to whoever called. */
function expectQuiet(error: LockError, resource: string): void {
  expect(error.message).toBe('The lock is misconfigured or misused: the details are in the log');
  expect(error.key).toBe(resource);
}

describe('what stores say to those outside of a resource that they cannot keep', () => {
  it.each(['tenants/acme', '\n'])(
    'a damaged journal, whose folder is called as the resource is: %j',
    async (resource) => {
      const root = temporaryRoot();
      {
        await using store = await FencedFileStore.open({ root });
        await store.claim(resource, 5n);
        await store.claim(resource, 9n);
      }
      const path = join(root, encodeURIComponent(resource), 'journal.0');
      const bytes = await readFile(path);
      bytes[bytes.indexOf('claim')]! ^= 1;
      await writeFile(path, bytes);

      await using store = await FencedFileStore.open({ root });
      for (const failing of [store.read(resource), store.write(resource, 'x', 10n)]) {
        const error = await caught(failing);
        expectQuiet(error, resource);
        expect(error.details).toContain(`${path} is damaged between byte`);
      }
    },
  );

  it('a name that is too long for PostgreSQL', async () => {
    const resource = `/tenants/acme/${'x'.repeat(3_000)}`;
    const query = (): Promise<never> => Promise.reject(Object.assign(new Error('too long'), { code: '54000' }));
    const fence = new PostgresFence({ pool: { totalCount: 1, query, connect: query } });
    const error = await caught(fence.claim(resource, 5n));
    expect(`${error.message} ${error.details}`).not.toContain('acme');
    expect(error.key).toBe(resource);
  });

  it('a node that must not be written', () => {
    expectQuiet(refusal(new SessionError('NO_AUTH', 'no'), '/tenants/acme') as LockError, '/tenants/acme');
  });
});
