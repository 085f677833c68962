import { hostname } from 'node:os';
import { describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Logger, UseFilters } from '@nestjs/common';
import { createLockService, Locked, LockExceptionFilter } from '../../../lib/index.js';
import { memory, startApplication } from '../support/application.js';
import { recordRefusals } from '../support/refusals.js';

const KEY = '/locks/a';

@Controller()
class Orders {
  @Get('plain')
  @Locked(KEY, { waitMs: 100 })
  async plain(): Promise<string> {
    return 'done';
  }

  @Get('filtered')
  @UseFilters(LockExceptionFilter)
  async filtered(): Promise<string> {
    return this.plain();
  }

  /** The error passes through two calls with @Locked. */
  @Get('nested')
  @Locked('/locks/around')
  async nested(): Promise<string> {
    return this.plain();
  }

  @Get('skipped')
  @Locked(KEY, { waitMs: 100, onBusy: () => 'skipped' })
  async skipped(): Promise<string> {
    return 'done';
  }
}

describe('a call that @Locked refuses, as the lock is busy', () => {
  it.each([
    ['without a filter', 'plain'],
    ['with the filter', 'filtered'],
    ['through another call', 'nested'],
  ])('tells the log at debug level who holds it, once, %s', async (_how, path) => {
    const connect = memory();
    await using application = await startApplication({ controllers: [Orders] }, { connect });
    await using others = await createLockService({ connect });
    await using held = await others.acquire(KEY, { label: 'bee' });
    using refusals = recordRefusals();
    const debug = jest.spyOn(Logger.prototype, 'debug');
    const response = await fetch(`${application.url}/${path}`);

    expect(held.isHeld()).toBe(true);
    expect(response.status).toBe(423);
    expect(await response.text()).not.toContain('bee');
    expect(debug).toHaveBeenCalledTimes(1);
    expect(refusals.take()).toEqual([
      expect.stringMatching(new RegExp(`^LOCK_TIMEOUT: .*${KEY}.*bee on ${hostname()}`)),
    ]);
  });

  it('tells nothing where onBusy says what happens', async () => {
    const connect = memory();
    await using application = await startApplication({ controllers: [Orders] }, { connect });
    await using others = await createLockService({ connect });
    await using held = await others.acquire(KEY);
    using refusals = recordRefusals();

    expect(await (await fetch(`${application.url}/skipped`)).text()).toBe('skipped');
    expect(held.isHeld()).toBe(true);
    expect(refusals.take()).toEqual([]);
  });
});
