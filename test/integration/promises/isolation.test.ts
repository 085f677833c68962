import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { manyKeys } from '../../support/locks/many-keys.js';
import { LONG_SESSION_MS } from '../../support/locks/times.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { replyTo } from '../../support/sessions/reply-to.js';

describe('Isolation', () => {
  const stage = new LockStage();

  // A busy machine may stand still for seconds, which is not to be taken for trouble of one key with another.
  manyKeys(stage, 500, LONG_SESSION_MS);

  it('trouble with one key or request never harms another', async () => {
    const [client, other] = [await stage.open(), await stage.open()];
    const busy = stage.freshKey();
    const spent = stage.freshKey();
    const denied = stage.freshKey();
    const operator = await stage.operator();
    const blocker = await other.service.acquire(busy);
    const readers = [{ permissions: 1, scheme: 'world', id: 'anyone' }];
    await replyTo(operator, { op: 'create', path: denied, mode: 'persistent', data: new Uint8Array(), acl: readers });
    const foreign = `${spent}/kazoo__lock__0000000001`;
    for (const [path, mode] of [
      [spent, 'persistent'],
      [foreign, 'ephemeral'],
    ] as const) {
      await replyTo(operator, { op: 'create', path, mode, data: new Uint8Array() });
    }
    const abort = new AbortController();
    const held = await client.service.acquire(stage.freshKey());
    const { service } = client;

    const troubled = [
      service.acquire(busy, { waitMs: 300 }),
      service.acquire(busy, { signal: abort.signal }),
      service.acquire(denied),
      service.acquire(spent, { mode: 'upgradeable' }),
      service.acquire('no key'),
      service.acquire(busy, { leaseMs: -1 }),
      service.withLock(stage.freshKey(), () => Promise.reject(new Error('of the application'))),
    ].map((call) => outcomeOf(call));
    const healthy = Array.from({ length: 50 }, async () => {
      const lock = await service.acquire(stage.freshKey());
      await lock.release();
      return lock.fencingToken;
    });
    expect(new Set(await Promise.all(healthy)).size).toBe(50);
    abort.abort();

    const codes = (await Promise.all(troubled)).map((error) => (error as { code?: string }).code);
    expect(codes).toEqual([
      'LOCK_TIMEOUT',
      'LOCK_ABORTED',
      'LOCK_CONFIGURATION',
      'LOCK_CONFIGURATION',
      'INVALID_LOCK_KEY',
      'LOCK_CONFIGURATION',
      undefined,
    ]);
    expect(held.isHeld()).toBe(true);
    expect(blocker.isHeld()).toBe(true);
    expect(client.connections()).toBe(1);
    await held.release();
    await blocker.release();
    await stage.deleteNode(foreign);
  });
});
