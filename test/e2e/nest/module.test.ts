import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  currentLock,
  DistributedLockModule,
  type DistributedLockOptions,
  type DistributedLockOptionsFactory,
  getLockServiceToken,
  InjectLock,
  Locked,
  LockService,
} from '../../../lib/index.js';
import { freePort } from '../../support/proxy/ports.js';
import { boot, type Imports } from '../support/boot.js';
import { memory } from '../support/application.js';

const SETTINGS = 'settings';

@Module({ providers: [{ provide: SETTINGS, useFactory: () => memory() }], exports: [SETTINGS] })
class SettingsModule {}

@Injectable()
class OptionsFactory implements DistributedLockOptionsFactory {
  constructor(@Inject(SETTINGS) private readonly connect: string) {}

  async createDistributedLockOptions(): Promise<DistributedLockOptions> {
    return { connect: this.connect };
  }
}

@Module({ imports: [SettingsModule], providers: [OptionsFactory], exports: [OptionsFactory] })
class OptionsModule {}

describe('DistributedLockModule', () => {
  it.each<[string, () => Imports[number]]>([
    ['forRoot', () => DistributedLockModule.forRoot({ connect: memory() })],
    [
      'forRootAsync with useFactory',
      () =>
        DistributedLockModule.forRootAsync({
          imports: [SettingsModule],
          inject: [SETTINGS],
          useFactory: async (connect: string) => ({ connect }),
        }),
    ],
    [
      'forRootAsync with useClass',
      () => DistributedLockModule.forRootAsync({ imports: [SettingsModule], useClass: OptionsFactory }),
    ],
    [
      'forRootAsync with useExisting',
      () => DistributedLockModule.forRootAsync({ imports: [OptionsModule], useExisting: OptionsFactory }),
    ],
  ])('gives a lock service by %s', async (_how, make) => {
    const module = await boot([make()]);

    expect(await module.get(LockService).withLock('/a', (lock) => lock.key)).toBe('/a');
    await module.close();
  });

  it('is global by default, and local to its importers when told so', async () => {
    @Injectable()
    class Service {
      constructor(@InjectLock() readonly locks: LockService) {}
    }
    @Module({ providers: [Service] })
    class Feature {}

    const module = await boot([DistributedLockModule.forRoot({ connect: memory() }), Feature]);
    expect(module.get(Service, { strict: false }).locks).toBe(module.get(LockService));
    await module.close();

    const local = DistributedLockModule.forRoot({ connect: memory(), isGlobal: false });
    await expect(boot([local, Feature])).rejects.toThrow("can't resolve dependencies of the Service");
    const asyncLocal = DistributedLockModule.forRootAsync({
      useFactory: () => ({ connect: memory() }),
      isGlobal: false,
    });
    await expect(boot([asyncLocal, Feature])).rejects.toThrow("can't resolve dependencies of the Service");
  });

  it('may be there several times, by name', async () => {
    @Injectable()
    class Service {
      constructor(
        @InjectLock() readonly locks: LockService,
        @InjectLock('orders') readonly orders: LockService,
      ) {}

      @Locked('/a', { name: 'orders' })
      async ofOrders(): Promise<boolean> {
        return this.orders.withLock('/a', (lock) => lock === currentLock() || lock.key === '/a', { reentrant: true });
      }
    }
    const module = await boot(
      [
        DistributedLockModule.forRoot({ connect: memory() }),
        DistributedLockModule.forRootAsync({ name: 'orders', useFactory: () => ({ connect: memory() }) }),
      ],
      [Service],
    );
    const { locks, orders, ...service } = module.get(Service);
    expect(Object.keys(service)).toEqual([]);
    expect(orders).toBe(module.get(getLockServiceToken('orders')));
    expect(orders).not.toBe(locks);

    const keys: string[] = [];
    orders.events$.subscribe(({ type, key }) => keys.push(`${type} ${key}`));
    expect(await module.get(Service).ofOrders()).toBe(true);
    expect(keys[0]).toBe('acquired /a');
    // The other one's key of the same name is another lock.
    await orders.withLock('/b', () => locks.withLock('/b', () => undefined));
    await module.close();
  });

  it('keeps no state between applications', async () => {
    const [one, other] = [
      await boot([DistributedLockModule.forRoot({ connect: memory() })]),
      await boot([DistributedLockModule.forRoot({ connect: memory() })]),
    ];
    expect(one.get(LockService)).not.toBe(other.get(LockService));

    await one.close();
    expect(await other.get(LockService).withLock('/a', () => 'works')).toBe('works');
    await other.close();
    expect(Object.keys(DistributedLockModule)).toEqual([]);
  });

  it('can be replaced in a test, and then connects nowhere', async () => {
    const port = await freePort();
    const fake = { withLock: (_key: string, work: () => unknown) => work() };
    @Injectable()
    class Service {
      @Locked('/a')
      async run(): Promise<string> {
        return 'ran';
      }
    }
    const module = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ connect: `127.0.0.1:${port}` })],
      providers: [Service],
    })
      .overrideProvider(LockService)
      .useValue(fake)
      .compile();
    await module.init();

    expect(await module.get(Service).run()).toBe('ran');
    await module.close();
  });

  it('shows no credentials', async () => {
    const auth = { username: 'app', password: 'hunter2' };
    const module = await boot([DistributedLockModule.forRoot({ connect: memory(), auth })]);
    const service = module.get(LockService);

    expect(inspect(service, { depth: 6 })).not.toContain('hunter2');
    expect(JSON.stringify((service as unknown as { options: object }).options)).not.toContain('hunter2');
    await module.close();
  });
});
