import { describe, expect, it } from '@jest/globals';
import { notRemoved } from '../../../../lib/engine/upkeep/not-removed.js';
import { ZookeeperLockService } from '../../../../lib/engine/zookeeper-lock-service.js';
import { LockConfigurationError, LockUnavailableError } from '../../../../lib/lock/errors.js';
import type { LockEvent } from '../../../../lib/lock/events.js';
import { SessionError } from '../../../../lib/session/errors.js';
import { engineSettings, EngineWorld, typesOf } from '../support/engine-world.js';

const NOT_DELETE = 1 | 2 | 4;

describe('A node that the servers refuse to remove', () => {
  it('is an event with the error that says why, and goes with the session', async () => {
    const engine = new EngineWorld();
    const process = engine.world.process('one');
    const session = engine.session(process, { acl: [{ permissions: NOT_DELETE, scheme: 'world', id: 'anyone' }] });
    // The virtual clock decides how long the release waits for a removal that never comes.
    const locks = new ZookeeperLockService(session, engineSettings(process, { namespace: '/app', waitMs: 50 }));
    const events: LockEvent[] = [];
    locks.events$.subscribe((event) => events.push(event));
    await engine.runUntil(() => session.state === 'connected');
    const lock = await engine.settle(locks.acquire('/locks/a', { mode: 'write' }));
    await engine.settle(lock.release(), 100);
    expect(typesOf(events)).toEqual(['acquired', 'released', 'not-removed']);
    const event = events.at(-1) as Extract<LockEvent, { type: 'not-removed' }>;
    expect(event).toMatchObject({ key: '/locks/a', mode: 'write', nodePath: lock.nodePath });
    expect(event.error).toBeInstanceOf(LockConfigurationError);
    expect(event.error.details).toContain('DELETE');

    const other = await engine.client('other', { namespace: '/app' });
    expect(await engine.settle(other.locks.tryAcquire('/locks/a'))).toBeUndefined();
    await engine.settle(locks.close(0));
    expect(await engine.settle(other.locks.tryAcquire('/locks/a'))).toBeDefined();
    await engine.end();
  });

  it('is no matter of configuration where the servers say nothing of rights', () => {
    const path = '/locks/a/_c_0b1c2d3e-0000-8000-8000-000000000001-__READ__0000000007';
    const event = notRemoved('', path, new SessionError('SERVER_ERROR', 'scripted', path));
    expect(event).toMatchObject({ type: 'not-removed', key: '/locks/a', mode: 'read', nodePath: path });
    expect((event as { error: Error }).error).toBeInstanceOf(LockUnavailableError);
  });
});
