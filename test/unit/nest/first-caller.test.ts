import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ManagedLockService } from '../../../lib/nest/managed-lock-service.js';
import { createLockService } from '../../../lib/open.js';
import { resolveOptions } from '../../../lib/resolve-options.js';
import { ContextCensus } from '../../support/process/context-census.js';

const KEY = '/locks/stock';

describe('a service that a call opens', () => {
  let census: ContextCensus;
  let service: ManagedLockService;
  const seenIn: unknown[] = [];

  beforeAll(() => void Logger.overrideLogger(false));
  beforeEach(() => {
    census = new ContextCensus();
    seenIn.length = 0;
    const options = resolveOptions({ connect: 'memory:first-caller', startup: 'lazy' });
    service = new ManagedLockService('first caller', options);
    service.connectionState$.subscribe((state) => {
      if (state === 'connected' || state === 'closed') seenIn.push(census.current);
    });
  });
  afterEach(() => service.onApplicationShutdown());

  it('is no part of that call: neither what it tells later, nor what it keeps', async () => {
    await census.run(() => service.withLock(KEY, () => undefined));
    expect(seenIn).toEqual([undefined]);
    expect([census.size, await census.retained()]).toEqual([1, 0]);
  });

  it('lets go of every call that it serves', async () => {
    const handle = await service.acquire(KEY);
    const waiting = census.run(() => service.acquire(KEY, { waitMs: 60_000 }));
    await census.run(() => service.acquire(KEY, { waitMs: 5 }).catch(() => undefined));
    await handle.release();
    await (await waiting).release();
    // The timer of the longest wait goes on for those that are set behind it.
    for (let calls = 0; calls < 100; calls += 1)
      await census.run(() => service.withLock(`${KEY}-${calls}`, () => undefined, { waitMs: 1_000 + calls }));
    await service.withLock(KEY, () => undefined);
    expect(census.size).toBe(102);
    // The handle of the one that waited is in this function's hands.
    expect(await census.retained()).toBeLessThanOrEqual(1);
  });

  it('is no part of it without Nest either', async () => {
    const locks = await census.run(() => createLockService({ connect: 'memory:first-caller' }));
    const contexts: unknown[] = [];
    locks.connectionState$.subscribe(() => contexts.push(census.current));
    await locks.withLock(KEY, () => undefined);
    expect(await census.retained()).toBe(0);
    await locks.close(0);
    expect(contexts).toEqual([undefined, undefined]);
  });
});
