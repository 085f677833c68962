import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { notRemoved } from '../../../lib/engine/not-removed.js';
import { LockConfigurationError, LockUnavailableError } from '../../../lib/lock/errors.js';
import type { LockEvent } from '../../../lib/lock/events.js';
import { createLockService } from '../../../lib/open.js';
import { SessionError } from '../../../lib/session/errors.js';

const NOT_DELETE = 1 | 2 | 4;

describe('A node that the servers refuse to remove', () => {
  it('is an event with the error that says why, and goes with the session', async () => {
    const connect = `memory:${randomUUID()}`;
    const acl = [{ permissions: NOT_DELETE, scheme: 'world', id: 'anyone' }];
    const locks = await createLockService({ connect, acl, namespace: '/app', waitMs: 50 });
    const events: LockEvent[] = [];
    locks.events$.subscribe((event) => events.push(event));
    const lock = await locks.acquire('/locks/a', { mode: 'write' });
    await lock.release();
    expect(events.map(({ type }) => type)).toEqual(['acquired', 'released', 'not-removed']);
    const event = events.at(-1) as Extract<LockEvent, { type: 'not-removed' }>;
    expect(event).toMatchObject({ key: '/locks/a', mode: 'write', nodePath: lock.nodePath });
    expect(event.error).toBeInstanceOf(LockConfigurationError);
    expect(event.error.message).toContain('DELETE');

    await locks.close(0);
    await using other = await createLockService({ connect, namespace: '/app', waitMs: 5_000 });
    expect(await other.tryAcquire('/locks/a')).toBeDefined();
  });

  it('is no matter of configuration where the servers say nothing of rights', () => {
    const path = '/locks/a/_c_0b1c2d3e-0000-8000-8000-000000000001-__READ__0000000007';
    const event = notRemoved('', path, new SessionError('SERVER_ERROR', 'scripted', path));
    expect(event).toMatchObject({ type: 'not-removed', key: '/locks/a', mode: 'read', nodePath: path });
    expect((event as { error: Error }).error).toBeInstanceOf(LockUnavailableError);
  });
});
