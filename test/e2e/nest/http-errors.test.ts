import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Body, Controller, Get, Logger, Param, Post, UseFilters } from '@nestjs/common';
import {
  DeadlockError,
  LockAbortedError,
  LockClosedError,
  LockConfigurationError,
  LockExceptionFilter,
  LockLostError,
  Locked,
  LockUnavailableError,
  StaleFencingTokenError,
} from '../../../lib/index.js';
import { startApplication, type TestApplication } from '../support/application.js';

const ERRORS: Record<string, Error> = {
  lost: new LockLostError('lost', '/k'),
  unavailable: new LockUnavailableError('unavailable'),
  closed: new LockClosedError('closed'),
  stale: new StaleFencingTokenError('stale', '/k'),
  deadlock: new DeadlockError('deadlock', '/k'),
  aborted: new LockAbortedError('aborted', '/k'),
  configuration: new LockConfigurationError('a secret of the set-up'),
};

@Controller('files')
class FilesController {
  @Get(':name/busy')
  @Locked('/locks/:name', { waitMs: 100 })
  async busy(@Param('name') name: string): Promise<string> {
    return name;
  }

  @Get(':name/widened')
  @Locked('/locks/:name', { mode: 'read' })
  async widened(@Param('name') name: string): Promise<string> {
    return this.busy(name);
  }

  @Get(':name/widened/filtered')
  @UseFilters(LockExceptionFilter)
  async widenedFiltered(@Param('name') name: string): Promise<string> {
    return this.widened(name);
  }

  @Get('errors/:kind')
  async errors(@Param('kind') kind: string): Promise<never> {
    throw ERRORS[kind] ?? new Error(kind);
  }

  @Get('filtered/:kind')
  @UseFilters(LockExceptionFilter)
  async filtered(@Param('kind') kind: string): Promise<never> {
    throw ERRORS[kind] ?? new Error(kind);
  }
}

describe('a lock error over HTTP', () => {
  let application: TestApplication;
  const request = (path: string): Promise<Response> => fetch(`${application.url}/files/${path}`);

  beforeAll(async () => {
    application = await startApplication({ controllers: [FilesController] });
  });
  afterAll(() => application.app.close());

  it('answers 423 when the lock is busy for as long as it waits', async () => {
    await using held = await application.locks.acquire('/locks/held');
    const response = await request('held/busy');

    expect(held.isHeld()).toBe(true);
    expect(response.status).toBe(423);
    expect(await response.json()).toEqual({ statusCode: 423, message: expect.stringMatching(/^The lock is busy/) });
  });

  it.each([
    ['lost', 503],
    ['unavailable', 503],
    ['closed', 503],
    ['stale', 409],
    ['deadlock', 409],
    ['aborted', 499],
  ])('answers an error that is %s with %i, and the filter adds the code', async (kind, status) => {
    const plain = await request(`errors/${kind}`);
    expect(plain.status).toBe(status);
    expect(await plain.json()).toEqual({ statusCode: status, message: ERRORS[kind]?.message });
    expect(plain.headers.get('retry-after')).toBeNull();

    const filtered = await request(`filtered/${kind}`);
    expect(filtered.status).toBe(status);
    expect(await filtered.json()).toEqual({
      statusCode: status,
      code: expect.stringMatching(/^[A-Z_]+$/),
      message: ERRORS[kind]?.message,
    });
    expect(filtered.headers.get('retry-after')).toBe(status === 503 ? '5' : null);
  });

  it('answers a misconfiguration with 500 and without its text', async () => {
    for (const path of ['errors/configuration', 'filtered/configuration']) {
      const response = await request(path);
      expect(response.status).toBe(500);
      expect(await response.text()).not.toContain('secret');
    }
  });

  it('tells the log of a misconfiguration, as nobody else hears of it; once', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const told = (): unknown[] => error.mock.calls.splice(0).map(([message]) => message as unknown);
    try {
      for (const path of ['widened', 'widened/filtered']) {
        expect((await request(`a/${path}`)).status).toBe(500);
        expect(told()).toEqual([expect.stringContaining("acquire it with mode 'upgradeable'")]);
      }
      const { locks } = application;
      const inside = (): Promise<unknown> => locks.acquire('/locks/b', { reentrant: false });
      await expect(locks.withLock('/locks/b', inside)).rejects.toThrow(LockConfigurationError);
      expect(told()).toEqual([expect.stringContaining('/locks/b is already held by this same call (acquired ')]);
      await expect(locks.tryAcquire('/locks/b', { mode: 'bad' as 'read' })).rejects.toThrow(LockConfigurationError);
      expect(told()).toEqual([expect.stringContaining('mode: must be one of')]);
      const transaction = locks.transaction.bind(locks) as (...args: unknown[]) => Promise<unknown>;
      await expect(transaction(() => 1, { waitMs: 300 })).rejects.toThrow(LockConfigurationError);
      expect(told()).toEqual([expect.stringContaining('transaction(work) takes only its work, and no options')]);
      await using held = await locks.acquire('/locks/a');
      expect((await request(`${held.key.slice(7)}/busy`)).status).toBe(423);
      expect(told()).toEqual([]);
    } finally {
      error.mockRestore();
    }
  });
});

describe('a key that the client gets wrong', () => {
  @Controller()
  class QueryController {
    @Post()
    @Locked('/locks/:body.id')
    async run(@Body() body: object): Promise<object> {
      return body;
    }
  }

  it('is answered with 400', async () => {
    await using application = await startApplication({ controllers: [QueryController] });
    const response = await fetch(application.url, { method: 'POST' });

    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ statusCode: 400, message: expect.stringContaining('name of the lock') });
  });
});
