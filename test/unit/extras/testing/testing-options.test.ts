import { beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TestingLockService } from '../../../../lib/extras/testing/testing-lock-service.js';
import { resolveTestingOptions } from '../../../../lib/extras/testing/testing-lock-service.js';

describe('the options of locks under test', () => {
  beforeAll(() => void Logger.overrideLogger(false));

  it('lead to a server that nobody else has', async () => {
    const services = ['one', 'other'].map((name) => new TestingLockService(name, resolveTestingOptions({})));
    const held = await Promise.all(services.map((locks) => locks.acquire('/a')));

    expect(held.map((lock) => lock.isHeld())).toEqual([true, true]);
    await Promise.all(held.map((lock) => lock.release()));
    await Promise.all(services.map((locks) => locks.onApplicationShutdown()));
  });

  it('do not connect where the application does', () => {
    expect(resolveTestingOptions({ connect: 'zk1:2181', serverTickMs: 3_000 })).toMatchObject({
      connect: expect.stringMatching(/^memory:/),
      serverTickMs: 2_000,
    });
  });

  it('wait for a busy lock for less than a test may take, unless told otherwise', () => {
    expect(resolveTestingOptions({}).waitMs).toBe(1_000);
    expect(resolveTestingOptions({ waitMs: 20 }).waitMs).toBe(20);
  });

  it('have a tick that fits the session', () => {
    expect(resolveTestingOptions({ sessionTimeoutMs: 500 })).toMatchObject({
      sessionTimeoutMs: 500,
      serverTickMs: 100,
    });
  });

  it('keep the other options of the application', () => {
    const options = resolveTestingOptions({ namespace: '/shop', onSuspended: 'stop', startup: 'lazy' });

    expect(options).toMatchObject({ namespace: '/shop', onSuspended: 'stop', startup: 'lazy' });
  });

  it('are checked as those of the application, and the error names the connection', () => {
    expect(() => resolveTestingOptions({ name: 'orders', waitMs: -1 })).toThrow(
      "DistributedLockModule 'orders': waitMs: must be a number of milliseconds",
    );
    expect(() => resolveTestingOptions({ sessionTimeoutMs: Number.NaN })).toThrow('sessionTimeoutMs: must be');
  });
});
