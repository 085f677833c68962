import { inspect } from 'node:util';
import { randomUUID } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { LockClosedError, LockConfigurationError, LockUnavailableError } from '../../lib/lock/errors.js';
import { createLockService, openSession, whenUp } from '../../lib/open.js';
import { resolveOptions } from '../../lib/resolve-options.js';
import { EmbeddedEnsemble } from '../../lib/session/simulator/embedded.js';
import { rejection } from './engine/support/engine-world.js';

/** Nobody listens there: the port is reserved, and refused at once on loopback. */
const NOBODY = '127.0.0.1:1';

const memory = (): string => `memory:${randomUUID()}`;

describe('createLockService()', () => {
  it('gives a service that is up, over an ensemble in this process', async () => {
    await using locks = await createLockService({ connect: memory() });
    expect(locks.connectionState).toBe('connected');
    expect(await locks.withLock('/a', (lock) => [lock.scope, lock.isHeld()])).toEqual(['fleet', true]);
  });

  it('lets services compete that name the same memory, and no others, and puts a namespace in front of every key', async () => {
    const connect = memory();
    await using one = await createLockService({ connect });
    await using same = await createLockService({ connect, namespace: '/app' });
    await using elsewhere = await createLockService({ connect: memory() });
    await using lock = await one.acquire('/app/a');
    expect(await same.tryAcquire('/a')).toBeUndefined();
    await using free = await same.tryAcquire('/app/a');
    await using other = await elsewhere.tryAcquire('/app/a');
    expect([lock.key, free?.key, free?.nodePath.startsWith('/app/app/a/'), other?.isHeld()]).toEqual([
      '/app/a',
      '/app/a',
      true,
      true,
    ]);
  });

  it.each(['zk1:0', 'zk1:2181,', 'user@zk1', 'zk1:2181/app/'])(
    'refuses the connect string %s before any I/O',
    async (connect) => {
      const error = await rejection(createLockService({ connect }));
      expect(error).toBeInstanceOf(LockConfigurationError);
      expect(error.message).toMatch(/^connect: /);
    },
  );

  it('rejects in time when no ZooKeeper answers, says why, and leaves nothing running', async () => {
    const auth = { username: 'app', password: 'correct horse battery staple' };
    const startedAt = performance.now();
    const error = await rejection(createLockService({ connect: NOBODY, connectTimeoutMs: 200, auth }));
    expect(error).toBeInstanceOf(LockUnavailableError);
    expect(error.details).toContain(NOBODY);
    // So does what prints the error as a whole, be it Node.js for one that nobody has caught. String(error) and the stack do not.
    expect(inspect(error)).toContain(error.details);
    expect(inspect(error, { depth: 10 })).not.toContain(auth.password);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('does not wait for a ZooKeeper when it is to start lazily', async () => {
    const locks = await createLockService({ connect: NOBODY, startup: 'lazy', connectTimeoutMs: 100, waitMs: 100 });
    const error = await rejection(locks.acquire('/a'));
    expect(error).toBeInstanceOf(LockUnavailableError);
    // Which server, and what it said.
    expect(error.details).toMatch(/the connection is connecting \(127\.0\.0\.1:1 .+\)$/);
    await locks.close(0);
    expect(await rejection(locks.acquire('/a'))).toBeInstanceOf(LockClosedError);
  });

  it('lets the first try wait for the connection that is only being made', async () => {
    await using locks = await createLockService({ connect: memory(), startup: 'lazy' });
    expect(locks.connectionState).toBe('connecting');
    await using lock = await locks.tryAcquire('/a');
    expect(lock?.isHeld()).toBe(true);
  });

  it("starts without ZooKeeper when it was told what to do then: whenUnavailable: 'local'", async () => {
    await using locks = await createLockService({
      connect: NOBODY,
      connectTimeoutMs: 200,
      waitMs: 200,
      whenUnavailable: 'local',
    });
    expect(await locks.withLock('/a', (lock) => [lock.scope, lock.isHeld()])).toEqual(['process', true]);
  });

  it('takes the ensemble that stands in for ZooKeeper away with the service, and leaves one with a name alone', async () => {
    const stop = jest.spyOn(EmbeddedEnsemble.prototype, 'stop');
    const connect = memory();
    await using neighbour = await createLockService({ connect });
    const locks = await createLockService({ connect, whenUnavailable: 'local' });
    expect(stop).not.toHaveBeenCalled();
    await locks.close();
    expect(stop).toHaveBeenCalledTimes(1);
    stop.mockRestore();
    expect(await neighbour.withLock('/a', (lock) => lock.isHeld())).toBe(true);
  });

  it('shows no credentials when it is printed', async () => {
    const auth = { username: 'app', password: 'correct horse battery staple' };
    await using locks = await createLockService({ connect: memory(), auth });
    expect(inspect(locks, { depth: 10, showHidden: true })).not.toContain(auth.password);
    expect(JSON.stringify(locks)).not.toContain('password');
  });
});

describe('whenUp()', () => {
  it('rejects when the session closes first, and keeps no process alive', async () => {
    const session = openSession(resolveOptions({ connect: NOBODY }));
    const up = rejection(whenUp(session, 60_000));
    await session.close(10);
    expect(await up).toBeInstanceOf(LockUnavailableError);
  });

  it('resolves at once for a session that is up', async () => {
    const session = openSession(resolveOptions({ connect: memory() }));
    await whenUp(session, 1_000);
    await whenUp(session, 0);
    await session.close();
  });
});
