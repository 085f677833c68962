import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createLockService, DistributedLockModule, type DistributedLockOptions, Locked } from '../../../lib/index.js';

/** Works under a lock once, in one of several ways, and ends at the very next statement, in one of several ways. */
const [connect = '', key = '', way = '', end = ''] = process.argv.slice(2);
const { ZOOKEEPER_CA: ca } = process.env;
const options: DistributedLockOptions = {
  connect,
  sessionTimeoutMs: 10_000,
  serverTickMs: 500,
  client: process.env['CLIENT_UNDER_TEST'] === 'native' ? 'native' : 'wire',
  ...(ca === undefined ? {} : { tls: { ca } }),
};

@Injectable()
class Work {
  @Locked((of: string) => of)
  async run(of: string): Promise<string> {
    return of;
  }

  @Locked((of: string) => of)
  async fail(of: string): Promise<string> {
    throw new Error(`the work under ${of}`);
  }
}

const WAYS: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  withLock: async () => {
    const locks = await createLockService(options);
    return () => locks.withLock(key, () => 'done');
  },
  'withLock that fails': async () => {
    const locks = await createLockService(options);
    return () =>
      locks.withLock(key, () => {
        throw new Error('of the work');
      });
  },
  'withLock of an upgraded lock': async () => {
    const locks = await createLockService(options);
    return () => locks.withLock(key, (lock) => lock.upgrade(), { mode: 'upgradeable' });
  },
  'withLock with lock-delay': async () => {
    const locks = await createLockService({ ...options, lockDelayMs: 9_000 });
    return () => locks.withLock(key, () => 'done');
  },
  'withLock of many': async () => {
    const locks = await createLockService(options);
    const keys = Array.from({ length: 50 }, (_, index) => (index === 0 ? key : `${key}-${index}`));
    return () => Promise.all(keys.map((one) => locks.withLock(one, () => 'done')));
  },
  'withLock that waits in vain': async () => {
    const locks = await createLockService(options);
    return () => locks.withLock(key, () => 'done', { waitMs: 1_000 });
  },
  '@Locked': async () => {
    const work = await startWork();
    return () => work.run(key);
  },
  '@Locked that fails': async () => {
    const work = await startWork();
    return () => work.fail(key);
  },
};

async function startWork(): Promise<Work> {
  const module = { module: class {}, imports: [DistributedLockModule.forRoot(options)], providers: [Work] };
  return (await NestFactory.createApplicationContext(module, { logger: false })).get(Work);
}

const run = await WAYS[way]!();
await run().catch(() => undefined);
if (end === 'throw') throw new Error('right behind the lock');
process.exit(0);
