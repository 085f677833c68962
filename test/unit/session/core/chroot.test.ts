import { describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { ensureChroot } from '../../../../lib/session/core/kept-session.js';
import { ConnectionProbe } from './connection-probe.js';

const NO_NODE = -101;
const NO_AUTH = -102;

describe('a chroot that this client may not make', () => {
  it('is named where the log has it, with what to do, and not where callers from outside are told', async () => {
    const probe = ConnectionProbe.attached();
    const made = ensureChroot(probe.connection, '/tenants/acme');
    for (const answer of [NO_AUTH, NO_NODE, NO_NODE]) probe.link.answer(answer);

    const error = await made;
    expect(error).toBeInstanceOf(LockConfigurationError);
    const { key, details, message } = error as LockConfigurationError;
    expect([key, message.includes('acme')]).toEqual(['/tenants/acme', false]);
    expect(details).toContain(
      'the chroot /tenants/acme does not exist, and this client could not make it. Create it with',
    );
  });

  it('is told from one that is missing if it belongs to others', async () => {
    const probe = ConnectionProbe.attached();
    const made = ensureChroot(probe.connection, '/tenants');
    for (const answer of [NO_AUTH, NO_AUTH]) probe.link.answer(answer);
    const { details } = (await made) as LockConfigurationError;
    expect(details).toMatch(
      /^connect: ZooKeeper denies access to the chroot \/tenants: this node, or one above it, belongs to/,
    );
  });
});

describe('the root of all', () => {
  it('need not be readable for those who have no chroot', async () => {
    const probe = ConnectionProbe.attached();
    const answered = ensureChroot(probe.connection, '');
    probe.link.answer(NO_AUTH);
    expect(await answered).toBe(true);
  });
});
