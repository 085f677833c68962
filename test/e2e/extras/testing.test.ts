import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Injectable, Logger, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  DistributedLockTestingModule,
  getLockTestingToken,
  InjectLockTesting,
  LockTesting,
  overrideLocks,
  provideLockTesting,
} from '../../../lib/extras/testing/index.js';
import {
  DistributedLockModule,
  Fence,
  getLockServiceToken,
  InjectLock,
  injected,
  Locked,
  LockService,
  LockTimeoutError,
  LockUnavailableError,
} from '../../../lib/index.js';
import { bare, KEY, Orders, start, type UnderTest } from './support/orders.js';

@Module({ imports: [DistributedLockModule.forRoot({ connect: '127.0.0.1:1', waitMs: 100 })], providers: [Orders] })
class AppModule {}

/** Of the name that the page has. */
function ordersByThemselves() {
  @Injectable()
  class Orders {
    constructor(readonly locks: LockService) {}
  }
  return Orders;
}

describe('locks in the tests of an application', () => {
  it.each<[string, () => Promise<UnderTest>]>([
    ['provideLockTesting() in a bare list of providers', () => bare()],
    [
      'DistributedLockTestingModule.forRoot()',
      async () => {
        const imports = [DistributedLockTestingModule.forRoot()];
        return start(await Test.createTestingModule({ imports, providers: [Orders] }).compile());
      },
    ],
    [
      'overrideLocks() on the whole application',
      async () => {
        const module = await overrideLocks(Test.createTestingModule({ imports: [AppModule] })).compile();
        return start(module, LockTesting.of(module.get(LockService)));
      },
    ],
  ])('work by %s', async (_how, make) => {
    await using app = await make();
    const token = await app.orders.ship('42');
    expect(await app.orders.ship('42')).toBeGreaterThan(token);

    await app.testing.makeBusy(KEY);
    await expect(app.orders.ship('42')).rejects.toThrow(LockTimeoutError);
    expect(await app.orders.ship('43')).toBeGreaterThan(token);

    await app.testing.release(KEY);
    expect(await app.orders.ship('42')).toBeGreaterThan(token);
  });

  it('are named, where a class has the service injected, by the page that quotes what Nest says then', async () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'testing.md'), 'utf8');
    const [, quoted = ''] = /^> (Nest can't resolve.* LockService .* at index \[0\].*) \.\.\.$/m.exec(page) ?? [];
    expect(quoted).not.toBe('');
    const Alone = ordersByThemselves();
    await expect(Test.createTestingModule({ providers: [Alone] }).compile()).rejects.toThrow(quoted);
    const cured = await Test.createTestingModule({ providers: [Alone, ...provideLockTesting()] }).compile();
    expect(cured.get(Alone).locks).toBe(cured.get(LockService));
    await cured.close();
  });

  it('are named by what an existing spec says whose module has none', async () => {
    @Injectable()
    class Invoices {
      @Locked('/locks/invoices', { name: 'billing' })
      async send(): Promise<void> {}
    }
    const ADVICE = "...provideLockTesting({ name: 'billing' }) from nestjs-zookeeper-lock/testing";

    const compiled = Test.createTestingModule({ providers: [Invoices] }).compile();
    await expect(compiled).rejects.toThrow(`In a test, add ${ADVICE} to the providers`);
    await expect(Test.createTestingModule({ providers: [Orders] }).compile()).rejects.toThrow(
      'add ...provideLockTesting() from nestjs-zookeeper-lock/testing to the providers',
    );
    // As specs without a module make what they test. The log says the same as the error.
    Logger.overrideLogger(false);
    await expect(new Invoices().send()).rejects.toThrow(
      `In a test, use Test.createTestingModule with ${ADVICE} in its providers`,
    );
  });

  it('take no option of the application with overrideLocks(): there may be no address where tests run', async () => {
    const unset = DistributedLockModule.forRoot({ connect: process.env['NO_SUCH_VARIABLE'] as string });
    const builder = Test.createTestingModule({ imports: [unset], providers: [Orders] });
    const module = await overrideLocks(builder).compile();
    await using app = await start(module, LockTesting.of(module.get(LockService)));
    expect(await app.orders.ship('42')).toBeGreaterThan(0n);
  });

  it('can be waited for: held, waited for, free', async () => {
    await using app = await bare();
    await app.testing.makeBusy(KEY);
    const shipped = app.orders.ship('42');
    expect(await app.testing.untilWaiting(KEY)).toMatchObject({ state: 'HELD', queueLength: 1 });

    await app.testing.release(KEY);
    await shipped;
    expect(await app.testing.untilFree(KEY)).toMatchObject({ state: 'FREE' });

    const packed = app.orders.pack('42');
    expect((await app.testing.untilHeld(KEY)).holders).toHaveLength(1);
    app.orders.gate.open();
    await packed;
  });

  it('say what was waited for in vain', async () => {
    await using app = await bare();

    await expect(app.testing.untilState('lost', 20)).rejects.toThrow(
      "Not within 20 ms: state lost. Last seen: 'connected'",
    );
  });

  it('wait for the end of the application, and say that it ended before', async () => {
    const app = await bare();
    const [closed, lost] = [app.testing.untilState('closed'), app.testing.untilState('lost')];
    const failed = expect(lost).rejects.toThrow("The lock service ended before: state lost. Last seen: 'closed'");
    await app[Symbol.asyncDispose]();

    await closed;
    await failed;
    await app.testing.untilState('closed');
  });

  it('can be read-locked by somebody else', async () => {
    await using app = await bare();
    await app.testing.makeBusy(KEY, { mode: 'read' });
    await app.testing.makeBusy(KEY, { mode: 'read' });

    expect(await app.locks.tryAcquire(KEY)).toBeUndefined();
    expect(await app.locks.withLock(KEY, ({ mode }) => mode, { mode: 'read' })).toBe('read');
    await app.testing.release(KEY);
    expect(await app.locks.withLock(KEY, ({ mode }) => mode)).toBe('exclusive');
  });

  it('are of one application alone, not of another, nor of the same module booted again', async () => {
    const imports = [DistributedLockTestingModule.forRoot()];
    const boot = async () => start(await Test.createTestingModule({ imports, providers: [Orders] }).compile());
    await using one = await boot();
    await using other = await boot();
    await one.testing.makeBusy(KEY);

    expect(await other.orders.ship('42')).toBeGreaterThan(0n);
  });

  it('fail one by one, where there are several connections', async () => {
    @Injectable()
    class Service {
      constructor(
        @InjectLock() readonly locks: LockService,
        @InjectLock('stock') readonly stock: LockService,
        @InjectLockTesting('stock') readonly testing: LockTesting,
      ) {}

      @Locked('/a', { name: 'stock' })
      async work(): Promise<string> {
        return 'done';
      }
    }
    const module = await Test.createTestingModule({
      imports: [DistributedLockTestingModule.forRoot(), DistributedLockTestingModule.forRoot({ name: 'stock' })],
      providers: [Service],
    }).compile();
    await module.init();
    const service = module.get(Service);
    expect(service.testing).toBe(module.get(getLockTestingToken('stock')));
    expect(service.stock).toBe(module.get(getLockServiceToken('stock')));

    await module.get(LockTesting).makeBusy('/a');
    expect(await service.work()).toBe('done');
    await service.testing.suspend();
    expect(service.locks.connectionState).toBe('connected');
    await expect(service.work()).rejects.toThrow(LockUnavailableError);
    await module.close();
    expect(service.stock.connectionState).toBe('closed');
  });

  it('are refused as handles where they are real ones', async () => {
    const module = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ connect: 'memory:not-for-tests', startup: 'lazy' })],
    }).compile();

    expect(() => LockTesting.of(module.get(LockService))).toThrow('this lock service is not for tests');
    await module.close();
  });

  it('are checked at boot by the module as those of the application are', async () => {
    @Injectable()
    class Wrong {
      async work(@Fence() token: bigint = injected()): Promise<bigint> {
        return token;
      }
    }
    const module = await Test.createTestingModule({
      imports: [DistributedLockTestingModule.forRoot()],
      providers: [Wrong],
    }).compile();

    await expect(module.init()).rejects.toThrow('has no @Locked beside it');
    await module.close();
  });
});
