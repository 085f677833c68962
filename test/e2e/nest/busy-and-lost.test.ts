import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Logger } from '@nestjs/common';
import { lastValueFrom, Observable, of, toArray } from 'rxjs';
import {
  CurrentLock,
  injected,
  type LockHandle,
  type LockLoss,
  LockLostError,
  Locked,
  type LockError,
  LockService,
  LockTimeoutError,
} from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';
import { startApplication, type TestApplication } from '../support/application.js';
import { LONG_LEASE, loseSoon, untilLost } from '../support/until-aborted.js';

/** Long enough for an answer on a busy machine: who has none by then is told that ZooKeeper is away. */
const WAIT_MS = 2_000;
const losses: LockLoss[] = [];
const seenErrors: LockError[] = [];

@Injectable()
class Service {
  constructor(private readonly locks: LockService) {}

  @Locked('/locks/a', { waitMs: WAIT_MS })
  async throws(): Promise<string> {
    return 'ran';
  }

  @Locked('/locks/a', { waitMs: 0, onBusy: 'skip' })
  async skips(): Promise<string | undefined> {
    return 'ran';
  }

  @Locked('/locks/a', {
    waitMs: 0,
    onBusy: async (error) => {
      seenErrors.push(error);
      return 'instead';
    },
  })
  async replaced(): Promise<string> {
    return 'ran';
  }

  @Locked('/locks/a', { waitMs: 0, onBusy: 'skip' })
  skippedStream(): Observable<string> {
    return of('ran');
  }

  @Locked('/locks/a', { waitMs: 0, onBusy: () => of('one', 'two') })
  replacedStream(): Observable<string> {
    return of('ran');
  }

  @Locked('/locks/a', { waitMs: 0, onBusy: () => ({ a: 1 }) })
  replacedByValue(): Observable<object> {
    return of({});
  }

  @Locked('/locks/a', { waitMs: 0, onBusy: 'skip' })
  async *skippedRows(): AsyncGenerator<string> {
    yield 'ran';
  }

  @Locked('/locks/a', { waitMs: 0, onBusy: () => ['one', 'two'] })
  async *replacedRows(): AsyncGenerator<string> {
    yield 'ran';
  }

  @Locked('/locks/outer', { onBusy: 'skip' })
  async busyInside(): Promise<void> {
    await this.throws();
  }

  @Locked('/locks/lost', { ...LONG_LEASE, onLost: (loss) => losses.push(loss) })
  async loses(
    until: (lock: LockHandle) => Promise<void>,
    @CurrentLock() lock: LockHandle = injected(),
  ): Promise<string> {
    await until(lock);
    return 'too late';
  }

  /** Three calls share one lock. */
  @Locked('/locks/nested', { ...LONG_LEASE, onLost: (loss) => losses.push(loss) })
  async losesNested(depth: number, @CurrentLock() lock: LockHandle = injected()): Promise<void> {
    if (depth > 0) await this.losesNested(depth - 1);
    else await untilLost(lock);
  }

  @Locked('/locks/kept', { onLost: (loss) => losses.push(loss) })
  async keeps(): Promise<string> {
    const other = await this.locks.acquire('/locks/other', LONG_LEASE);
    await untilLost(other);
    return 'kept';
  }

  @Locked('/locks/readers', { mode: 'read', onLost: (loss) => losses.push(loss) })
  async readsOn(lost: Promise<unknown>): Promise<string> {
    await lost;
    return 'read';
  }

  @Locked('/locks/hook', {
    ...LONG_LEASE,
    onLost: async () => {
      throw new Error('compensation failed');
    },
  })
  async hookFails(@CurrentLock() lock: LockHandle = injected()): Promise<void> {
    await untilLost(lock);
  }
}

describe('a busy lock', () => {
  let application: TestApplication;
  let service: Service;
  let held: LockHandle;
  beforeAll(async () => {
    application = await startApplication({ providers: [Service] });
    service = application.get(Service);
    held = await application.locks.acquire('/locks/a');
  });
  afterAll(async () => {
    await held.release();
    await application.app.close();
  });

  it('throws by default', async () => {
    await expect(service.throws()).rejects.toThrow(LockTimeoutError);
  });

  it('is skipped: a promise of undefined, a stream or an iteration without values', async () => {
    expect(await service.skips()).toBeUndefined();
    expect(await lastValueFrom(service.skippedStream().pipe(toArray()))).toEqual([]);
    expect(await collect(service.skippedRows())).toEqual([]);
  });

  it('is answered with what the function makes of the error', async () => {
    expect(await service.replaced()).toBe('instead');
    expect(seenErrors).toEqual([expect.objectContaining({ code: 'LOCK_TIMEOUT', key: '/locks/a' })]);
    expect(await lastValueFrom(service.replacedStream().pipe(toArray()))).toEqual(['one', 'two']);
    expect(await lastValueFrom(service.replacedByValue())).toEqual({ a: 1 });
    expect(await collect(service.replacedRows())).toEqual(['one', 'two']);
  });

  it("does not hide a lock that was busy inside the method: that is the method's own error", async () => {
    await expect(service.busyInside()).rejects.toThrow(LockTimeoutError);
  });
});

describe('a lock that is lost', () => {
  let application: TestApplication;
  let service: Service;
  beforeAll(async () => {
    application = await startApplication({ providers: [Service] });
    service = application.get(Service);
  });
  afterAll(() => application.app.close());

  it('runs the hook once, with what is to be made good, and the caller gets the loss', async () => {
    losses.length = 0;
    let token: bigint | undefined;
    const running = service.loses(async (lock) => {
      token = lock.fencingToken;
      await untilLost(lock);
      await application.locks.withLock('/locks/x', () => undefined);
    });

    await expect(running).rejects.toThrow(LockLostError);
    await eventually('the hook ran', () => losses.length > 0);
    expect(losses).toEqual([{ key: '/locks/lost', token, reason: 'lease-ended', by: 'Service.loses' }]);
    expect(JSON.parse(JSON.stringify(losses))).toMatchObject([{ key: '/locks/lost', token: String(token) }]);
  });

  it('runs the hook also where the method is done by the time that the loss is known', async () => {
    losses.length = 0;
    const running = service.loses(async (lock) => {
      loseSoon(lock);
      const end = performance.now() + 40;
      while (performance.now() < end);
    });

    await expect(running).rejects.toThrow(LockLostError);
    expect(losses).toHaveLength(1);
  });

  it('runs the hook once, also where calls inside each other share the lock', async () => {
    losses.length = 0;

    await expect(service.losesNested(2)).rejects.toThrow(LockLostError);
    await expect(service.losesNested(2)).rejects.toThrow(LockLostError);
    expect(losses.map(({ by }) => by)).toEqual(['Service.losesNested', 'Service.losesNested']);
    expect(losses[0]?.token).not.toBe(losses[1]?.token);
  });

  it('does not run the hook of a method that lost another lock', async () => {
    losses.length = 0;

    expect(await service.keeps()).toBe('kept');
    expect(losses).toEqual([]);
  });

  it('does not run the hook of a reader beside the one that lost it', async () => {
    losses.length = 0;
    const other = await application.locks.acquire('/locks/readers', { mode: 'read', ...LONG_LEASE });

    expect(await service.readsOn(untilLost(other))).toBe('read');
    expect(losses).toEqual([]);
  });

  it('logs what the hook throws', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

    await expect(service.hookFails()).rejects.toThrow(LockLostError);
    await eventually('it is logged', () => error.mock.calls.length > 0);
    expect(error.mock.calls[0]?.[0]).toBe(
      'The onLost hook of Service.hookFails failed for /locks/hook: Error: compensation failed',
    );
    error.mockRestore();
  });
});

async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of iterable) values.push(value);
  return values;
}
