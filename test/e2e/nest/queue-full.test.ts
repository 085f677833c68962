import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Injectable, Logger, Param, UseFilters } from '@nestjs/common';
import {
  createLockService,
  type ClosableLockService,
  Locked,
  LockExceptionFilter,
  LockQueueFullError,
} from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';
import { memory, startApplication, type TestApplication } from '../support/application.js';

const seenErrors: Error[] = [];

@Injectable()
class Reports {
  @Locked('/locks/:name', { maxWaiting: 0, onBusy: 'skip' })
  async skips(name: string): Promise<string | undefined> {
    return name;
  }

  @Locked('/locks/:name', { maxWaiting: 0, onBusy: (error) => (seenErrors.push(error), 'instead') })
  async replaced(name: string): Promise<string | undefined> {
    return name;
  }

  @Locked('/locks/outer', { onBusy: 'skip' })
  async fullInside(name: string): Promise<string | undefined> {
    return this.throws(name);
  }

  @Locked('/locks/:name', { maxWaiting: 0 })
  async throws(name: string): Promise<string> {
    return name;
  }
}

@Controller('reports')
class ReportsController {
  @Get(':name/plain')
  @Locked('/locks/:name', { maxWaiting: 1 })
  async plain(@Param('name') name: string): Promise<string> {
    return name;
  }

  @Get(':name/filtered')
  @UseFilters(LockExceptionFilter)
  @Locked('/locks/:name', { maxWaiting: 1 })
  async filtered(@Param('name') name: string): Promise<string> {
    return name;
  }

  @Get(':name/waits')
  @Locked('/locks/:name')
  async waits(@Param('name') name: string): Promise<string> {
    return name;
  }
}

describe('a request that finds the queue of its lock full', () => {
  let application: TestApplication;
  let others: ClosableLockService;
  const request = (path: string): Promise<Response> => fetch(`${application.url}/reports/${path}`);

  beforeAll(async () => {
    const connect = memory();
    application = await startApplication({ controllers: [ReportsController], providers: [Reports] }, { connect });
    others = await createLockService({ connect });
  });
  afterAll(async () => {
    await others.close();
    await application.app.close();
  });

  /** A request waits for a lock that another process holds: two are ahead of the next one, one of them waiting. */
  async function whileFull(name: string, work: () => Promise<void>): Promise<void> {
    const held = await others.acquire(`/locks/${name}`);
    const waiting = request(`${name}/waits`);
    const isWaiting = async (): Promise<boolean> => (await others.inspect(held.key)).queueLength === 1;
    await eventually('a request waits', isWaiting);
    await work();
    await held.release();
    expect((await waiting).status).toBe(200);
  }

  it('is answered with 429 at once, and by the filter with its code and the usual Retry-After', async () => {
    const message = 'The lock is busy, and its queue is full: try again later';
    await whileFull('a', async () => {
      const plain = await request('a/plain');
      expect(plain.status).toBe(429);
      expect(await plain.json()).toEqual({ statusCode: 429, message });
      expect(plain.headers.get('retry-after')).toBeNull();

      const filtered = await request('a/filtered');
      expect(filtered.status).toBe(429);
      expect(await filtered.json()).toEqual({ statusCode: 429, code: 'LOCK_QUEUE_FULL', message });
      expect(filtered.headers.get('retry-after')).toBe('5');
    });
  });

  it('is told when there may be a place again, where the process knows how long the lock is held', async () => {
    const work = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_050));
    await application.locks.withLock('/locks/b', work);
    await whileFull('b', async () => {
      const filtered = await request('b/filtered');
      expect([filtered.status, filtered.headers.get('retry-after')]).toEqual([429, '2']);
    });
  });

  it('is busy for onBusy as one that has waited in vain, and told once to the log at debug level', async () => {
    await using held = await others.acquire('/locks/c');
    const debug = jest.spyOn(Logger.prototype, 'debug').mockImplementation(() => undefined);
    try {
      const reports = application.get<Reports>(Reports);
      expect([await reports.skips('c'), await reports.replaced('c')]).toEqual([undefined, 'instead']);
      expect(seenErrors).toEqual([expect.any(LockQueueFullError)]);
      expect(debug).not.toHaveBeenCalled();
      // That of another lock inside is the body's own business.
      await expect(reports.fullInside('c')).rejects.toThrow(LockQueueFullError);
      expect(debug).toHaveBeenCalledTimes(1);
      expect(debug.mock.calls[0]![0]).toContain(`LOCK_QUEUE_FULL: The queue of ${held.key} is full: 1 ahead`);
    } finally {
      debug.mockRestore();
    }
  });
});
