import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { ModuleMocker } from 'jest-mock';
import { DistributedLockTestingModule, provideLockTesting } from '../../../lib/extras/testing/index.js';
import {
  createLockService,
  DistributedLockModule,
  getLockServiceToken,
  InjectLock,
  LockHandle,
  LockService,
} from '../../../lib/index.js';

/** Without a decorator that says what to inject, as most applications write it. */
@Injectable()
class OrdersService {
  constructor(readonly locks: LockService) {}
}

@Injectable()
class InjectingOrders {
  constructor(@InjectLock() readonly locks: LockService) {}
}

@Injectable()
class OrdersWithProperty {
  @InjectLock() readonly locks!: LockService;
}

@Injectable()
class NamedOrders {
  constructor(@InjectLock('orders') readonly locks: LockService) {}
}

const CURE =
  'LockService (provided by DistributedLockModule.forRoot(...), in a test by ...provideLockTesting() from ' +
  'nestjs-zookeeper-lock/testing)';
const NAMED_CURE =
  "LockService 'orders' (provided by DistributedLockModule.forRoot({ name: 'orders', ... }), in a test by " +
  "...provideLockTesting({ name: 'orders' }) from nestjs-zookeeper-lock/testing)";

async function said(fails: Promise<unknown>): Promise<string> {
  return fails.then(
    () => 'nothing',
    (error: unknown) => (error as Error).message,
  );
}

function compile(...providers: NonNullable<Parameters<typeof Test.createTestingModule>[0]['providers']>) {
  return Test.createTestingModule({ providers }).compile();
}

describe('A class that injects the lock service where nobody provides it', () => {
  it.each<[string, Type, string]>([
    ['by its class', OrdersService, `the argument ${CURE} at index [0] is available in the RootTestModule`],
    ['by @InjectLock()', InjectingOrders, `the argument ${CURE} at index [0] is available in the RootTestModule`],
    ['by @InjectLock() above a property', OrdersWithProperty, `If ${CURE} is a provider`],
    ['by a name', NamedOrders, `the argument "${NAMED_CURE}" at index [0] is available in the RootTestModule`],
  ])('is told in a spec who does, when it asks %s', async (_how, Orders, words) => {
    const message = await said(compile(Orders));
    expect(message).toContain(`Nest can't resolve dependencies of the ${Orders.name}`);
    expect(message).toContain(words);
    expect(message).toContain('DistributedLockModule');
    expect(message).toContain('provideLockTesting(');
  });

  it.each<[string, Type, string]>([
    ['the service', OrdersService, CURE],
    ['one of several', NamedOrders, NAMED_CURE],
  ])('is told so when the application starts: %s', async (_which, Orders, cure) => {
    @Module({ providers: [Orders] })
    class AppModule {}

    const started = NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    const message = await said(started);
    expect(message).toContain(cure);
    expect(message).toContain('is available in the AppModule module');
  });

  it('is told so by module.get()', async () => {
    const module = await compile();
    expect(() => module.get(LockService)).toThrow(`Nest could not find ${CURE} element`);
    expect(() => module.get(getLockServiceToken('orders'))).toThrow(`Nest could not find ${NAMED_CURE} element`);
  });
});

describe('What the lock service is called', () => {
  it('changes nothing of how it is provided', async () => {
    const options = [provideLockTesting(), provideLockTesting({ name: 'orders' })].flat();
    const module = await compile(OrdersService, InjectingOrders, OrdersWithProperty, NamedOrders, ...options);
    const locks = module.get(LockService);
    for (const Orders of [OrdersService, InjectingOrders, OrdersWithProperty]) {
      expect(module.get<OrdersService>(Orders).locks).toBe(locks);
    }
    expect(module.get(NamedOrders).locks).toBe(module.get(getLockServiceToken('orders')));
    expect(await locks.withLock('/locks/a', ({ key }) => key)).toBe('/locks/a');
    await module.close();
  });

  it('changes nothing of how it is overridden', async () => {
    const mine = { acquire: jest.fn() };
    const imports = [DistributedLockModule.forRoot({ connect: '127.0.0.1:1', startup: 'lazy' })];
    const module = await Test.createTestingModule({ imports, providers: [OrdersService] })
      .overrideProvider(LockService)
      .useValue(mine)
      .compile();
    expect(module.get(OrdersService).locks).toBe(mine);
    await module.close();
  });

  it('can be the name of a mock', async () => {
    const mocker = new ModuleMocker(globalThis);
    const module = await Test.createTestingModule({ providers: [OrdersService] })
      .useMocker((token) => {
        const metadata = mocker.getMetadata(token as typeof LockService);
        const Mock = mocker.generateFromMetadata(metadata!) as unknown as Type<object>;
        return new Mock();
      })
      .compile();
    expect(module.get(OrdersService).locks).toBeInstanceOf(Object);
    await module.close();
  });

  it('is for the class alone: what extends it, and whoever makes one, keeps a name', async () => {
    abstract class Fake extends LockService {}
    expect(Fake.name).toBe('Fake');
    expect(LockHandle.name).toBe('LockHandle');
    const script = await createLockService({ connect: 'memory:names' });
    expect(script.constructor.name).toBe('ZookeeperLockService');
    await script.close();
    const imports = [DistributedLockTestingModule.forRoot()];
    const module = await Test.createTestingModule({ imports }).compile();
    expect(module.get(LockService).constructor.name).toBe('TestingLockService');
    await module.close();
  });
});
