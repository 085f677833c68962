import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  currentLock,
  DistributedLockModule,
  type DistributedLockOptions,
  LockClosedError,
  LockConfigurationError,
  Locked,
  LockService,
  LockUnavailableError,
} from '../../../lib/index.js';
import { freePort } from '../../support/proxy/ports.js';
import { boot } from '../support/boot.js';
import { memory } from '../support/application.js';
import { telling } from '../../support/telling.js';

describe('forRoot and forRootAsync, at the start,', () => {
  it.each<[string, unknown, string]>([
    ['no connect', {}, "connect: must be a string such as 'zk1:2181,zk2:2181,zk3:2181/chroot' or 'memory:'"],
    ['an unknown option', { connect: 'memory:', waitMS: 1 }, 'waitMS: is not an option'],
    [
      'a negative time',
      { connect: 'memory:', waitMs: -1 },
      'waitMs: must be a number of milliseconds, 0 or more, not -1',
    ],
    ['an unknown word', { connect: 'memory:', startup: 'late' }, 'startup: must be one of eager, lazy, not "late"'],
    ['null', { connect: 'memory:', whenUnavailable: null }, 'whenUnavailable: must be one of reject, local, not null'],
    ['nothing', undefined, 'the options must be an object such as { connect:'],
  ])('refuse %s', async (_what, options, message) => {
    const given = options as DistributedLockOptions;
    const byFactory = DistributedLockModule.forRootAsync({ name: 'orders', useFactory: () => given });
    const booting = boot([byFactory]);
    await expect(booting).rejects.toThrow(LockConfigurationError);
    await expect(booting).rejects.toThrow(`DistributedLockModule 'orders': ${message}`);

    if (given === undefined) return;
    const byValue = DistributedLockModule.forRoot({ ...given, name: 'orders' });
    await expect(boot([byValue])).rejects.toThrow(`DistributedLockModule 'orders': ${message}`);
  });

  it('refuse a name that comes too late', async () => {
    const useFactory = (): DistributedLockOptions => ({ connect: 'memory:', name: 'orders' }) as DistributedLockOptions;

    await expect(boot([DistributedLockModule.forRootAsync({ useFactory })])).rejects.toThrow(
      "DistributedLockModule 'default': name: belongs beside useFactory, useClass or useExisting",
    );
  });

  it('refuse a name that is none', () => {
    expect(() => DistributedLockModule.forRoot({ connect: 'memory:', name: '' })).toThrow(
      'name: must be a non-empty string',
    );
  });

  it.each([undefined, null, 'zk:2181', 5])('refuse forRoot(%p)', (options) => {
    const forRoot = (): unknown => DistributedLockModule.forRoot(options as unknown as DistributedLockOptions);
    expect(forRoot).toThrow(LockConfigurationError);
    expect(forRoot).toThrow('DistributedLockModule.forRoot: the options must be an object such as { connect:');
    expect(() => DistributedLockModule.forRootAsync(options as unknown as object)).toThrow(LockConfigurationError);
  });

  it('refuse isGlobal that is neither true nor false', () => {
    const isGlobal = 'no' as unknown as boolean;
    expect(() => DistributedLockModule.forRoot({ connect: 'memory:', isGlobal })).toThrow(
      'isGlobal: must be true or false, not "no"',
    );
  });

  it.each<[object, string]>([
    [{}, 'must be given one of useFactory, useClass, useExisting, not an empty object'],
    [{ useFactroy: () => ({}) }, 'not useFactroy'],
    [{ useFactory: () => ({}), useClass: class {} }, 'not useFactory and useClass'],
    [{ useFactory: { connect: 'memory:' } }, 'useFactory: must be a function that returns the options, not [object'],
    [{ useClass: 'Settings' }, 'useClass: must be a class, not "Settings"'],
  ])('refuse forRootAsync(%p)', (options, message) => {
    const forRootAsync = (): unknown => DistributedLockModule.forRootAsync(options);
    expect(forRootAsync).toThrow(LockConfigurationError);
    expect(forRootAsync).toThrow(message);
  });

  it('refuse options that depend on the request: nobody would close what each opens', async () => {
    const perRequest = DistributedLockModule.forRootAsync({
      inject: [REQUEST],
      useFactory: () => ({ connect: memory() }),
    });
    await expect(boot([perRequest])).rejects.toThrow('the factory of the options depends on the request');
  });

  it('refuse the same global connection twice', async () => {
    const make = () => DistributedLockModule.forRoot({ connect: memory() });
    await expect(boot([make(), make()])).rejects.toThrow("DistributedLockModule 'default' is imported 2 times");
  });
});

describe('the start of the application', () => {
  it('fails without ZooKeeper, and says where it was looked for and what to do', async () => {
    const connect = `127.0.0.1:${await freePort()}`;
    const starting = boot([DistributedLockModule.forRoot({ connect, connectTimeoutMs: 200 })]);

    await expect(starting).rejects.toThrow(LockUnavailableError);
    await expect(starting).rejects.toThrow(
      telling(
        new RegExp(
          `DistributedLockModule 'default' could not connect to ${connect}.*ECONNREFUSED.*startup: 'lazy'`,
          's',
        ),
      ),
    );
  });

  it('names a server that accepts, and does not answer', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const connect = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const starting = boot([DistributedLockModule.forRoot({ connect, connectTimeoutMs: 200 })]);

    await expect(starting).rejects.toThrow(telling(new RegExp(`${connect}: connected, no answer within \\d+ ms`)));
    silent.close();
  });

  it("does not ask for ZooKeeper with startup 'lazy': the first acquire does", async () => {
    const connect = `127.0.0.1:${await freePort()}`;
    const module = await boot([DistributedLockModule.forRoot({ connect, connectTimeoutMs: 200, startup: 'lazy' })]);
    const locks = module.get(LockService);
    expect(locks.connectionState).toBe('connecting');
    await expect(locks.acquire('/a', { waitMs: 300 })).rejects.toThrow(LockUnavailableError);
    await module.close();

    const other = await boot([DistributedLockModule.forRoot({ connect: memory(), startup: 'lazy' })]);
    expect(await other.get(LockService).withLock('/a', () => 'works')).toBe('works');
    expect(other.get(LockService).connectionState).toBe('connected');
    await other.close();
  });

  it("goes on without ZooKeeper with whenUnavailable 'local'", async () => {
    const connect = `127.0.0.1:${await freePort()}`;
    const module = await boot([
      DistributedLockModule.forRoot({ connect, connectTimeoutMs: 200, waitMs: 200, whenUnavailable: 'local' }),
    ]);

    expect(await module.get(LockService).withLock('/a', (lock) => lock.scope)).toBe('process');
    await module.close();
  });

  it("serves locked calls from another module's onModuleInit", async () => {
    @Injectable()
    class Early implements OnModuleInit {
      key: string | undefined;
      async onModuleInit(): Promise<void> {
        await this.prepare();
      }
      @Locked('/locks/early')
      async prepare(): Promise<void> {
        this.key = currentLock()?.key;
      }
    }
    @Module({ providers: [Early], exports: [Early] })
    class Deepest {}
    @Module({ imports: [Deepest] })
    class Deep {}
    const module = await boot([Deep, DistributedLockModule.forRoot({ connect: memory() })], [Early]);

    expect(module.get(Early).key).toBe('/locks/early');
    await module.close();
  });

  it('has the connection states as a stream, the current one first', async () => {
    const module = await boot([DistributedLockModule.forRoot({ connect: memory() })]);
    const states: string[] = [];
    module
      .get(LockService)
      .connectionState$.subscribe({ next: (state) => states.push(state), complete: () => states.push('complete') });
    await module.close();

    expect(states).toEqual(['connected', 'complete']);
    expect(module.get(LockService).connectionState).toBe('closed');
    await expect(module.get(LockService).acquire('/a')).rejects.toThrow(LockClosedError);
  });

  it('is followed by a close, too, where nothing was used', async () => {
    const module = await boot([DistributedLockModule.forRoot({ connect: memory(), startup: 'lazy' })]);
    await module.close();

    await expect(module.get(LockService).acquire('/a')).rejects.toThrow(LockClosedError);
  });
});
