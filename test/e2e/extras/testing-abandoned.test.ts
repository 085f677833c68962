import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { LockTesting, provideLockTesting } from '../../../lib/extras/testing/index.js';
import {
  LockAbandonedError,
  LockConfigurationError,
  type LockHandle,
  Locked,
  LockService,
  LockTimeoutError,
  Recover,
} from '../../../lib/index.js';

const KEY = '/accounts/42';

@Injectable()
class Accounts {
  readonly done: unknown[] = [];

  @Locked('/accounts/:id', { onAbandoned: 'recover' })
  async pay(id: string): Promise<void> {
    this.done.push(`paid ${id}`);
  }

  @Recover('/accounts/:id')
  async mend(lock: LockHandle, { id }: { id: string }): Promise<void> {
    this.done.push([`mended ${id}`, lock.abandoned?.checkpoint]);
  }
}

async function start() {
  const module = await Test.createTestingModule({ providers: [Accounts, ...provideLockTesting()] }).compile();
  await module.init();
  return {
    accounts: module.get(Accounts),
    testing: module.get(LockTesting),
    locks: module.get(LockService),
    [Symbol.asyncDispose]: () => module.close(),
  };
}

describe('a holder that vanished inside, in the tests of an application,', () => {
  it('is recovered from by its @Recover, once', async () => {
    await using app = await start();
    await app.testing.abandon(KEY, { checkpoint: { debited: 5 } });
    await app.accounts.pay('42');
    await app.accounts.pay('42');
    expect(app.accounts.done).toEqual([['mended 42', { debited: 5 }], 'paid 42', 'paid 42']);
  });

  it('tells its policy to those that come after it', async () => {
    await using app = await start();
    await app.testing.abandon('/a');
    await using told = await app.locks.acquire('/a');
    expect(told.abandoned).toMatchObject({ label: 'LockTesting', checkpoint: undefined });
    await app.testing.abandon('/b', { onAbandoned: 'hold' });
    await expect(app.locks.acquire('/b')).rejects.toThrow(LockAbandonedError);
    await app.testing.abandon('/c', { onAbandoned: 'recover' });
    await expect(app.locks.acquire('/c')).rejects.toThrow(LockAbandonedError);
    await expect(app.testing.abandon('/d', { onAbandoned: 'delay' })).rejects.toThrow(LockConfigurationError);
  });

  it('leaves alone what the other process holds, and waits for its turn', async () => {
    await using app = await start();
    await app.testing.makeBusy('/busy');
    await app.testing.abandon(KEY);
    await expect(app.locks.acquire('/busy', { waitMs: 0 })).rejects.toThrow(LockTimeoutError);
    const abandoned = app.testing.abandon('/busy');
    await app.testing.untilWaiting('/busy');
    await app.testing.release('/busy');
    await abandoned;
    await using told = await app.locks.acquire('/busy');
    expect(told.abandoned).toBeDefined();
  });
});
