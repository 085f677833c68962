import { describe, expect, it, jest } from '@jest/globals';
import { ModuleRef } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { LockHealthIndicator } from '../../../../lib/extras/terminus/lock-health.indicator.js';
import { loadTerminus } from '../../../../lib/extras/terminus/lock-health.indicator.js';
import type { ConnectionState } from '../../../../lib/index.js';
import { getLockServiceToken } from '../../../../lib/nest/lock-service-token.js';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';

async function indicatorFor(connectionState: ConnectionState, sessionId?: string) {
  const watch = jest.fn();
  const locks = { connectionState, sessionId, watch };
  const module = await Test.createTestingModule({
    providers: [LockHealthIndicator, { provide: getLockServiceToken(), useValue: locks }],
  }).compile();
  return { indicator: module.get(LockHealthIndicator), watch };
}

describe('LockHealthIndicator', () => {
  it.each<ConnectionState>(['connected', 'reconnected'])('is up, with session id and state, when %s', async (state) => {
    const { indicator, watch } = await indicatorFor(state, '0x1000abcdef');

    expect(await indicator.isHealthy('locks')).toEqual({
      locks: { status: 'up', state, sessionId: '0x1000abcdef' },
    });
    expect(watch).not.toHaveBeenCalled();
  });

  it.each<[ConnectionState, string]>([
    ['suspended', 'The link to ZooKeeper is down'],
    ['lost', 'There is no ZooKeeper session, or it may have ended'],
    ['closed', 'was closed'],
  ])('is down when %s, and says why', async (state, text) => {
    const { indicator, watch } = await indicatorFor(state);

    expect(await indicator.isHealthy('locks')).toEqual({
      locks: { status: 'down', state, message: expect.stringContaining(text) },
    });
    expect(watch).not.toHaveBeenCalled();
  });

  it('has a lazy connection begin, as an instance that is never ready is never asked for a lock', async () => {
    const { indicator, watch } = await indicatorFor('connecting');

    expect(await indicator.isHealthy('locks')).toMatchObject({ locks: { status: 'down', state: 'connecting' } });
    expect(watch).toHaveBeenCalledTimes(1);
  });

  it('says which connection is not there', async () => {
    const module = await Test.createTestingModule({}).compile();
    const indicator = new LockHealthIndicator(module.get(ModuleRef));

    await expect(indicator.isHealthy('locks', { name: 'orders' })).rejects.toThrow(
      "there is no lock connection 'orders'",
    );
  });
});

describe('loading @nestjs/terminus', () => {
  it('says what to install where it is not installed', async () => {
    const cause = new Error("Cannot find package '@nestjs/terminus'");
    const failure = loadTerminus(() => Promise.reject(cause));

    await expect(failure).rejects.toThrow(LockConfigurationError);
    await expect(failure).rejects.toMatchObject({
      message: expect.stringContaining('npm install @nestjs/terminus'),
      cause,
    });
  });
});
