import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LockConfigurationError } from '../../../lib/lock/errors.js';
import { createLockService } from '../../../lib/open.js';
import { create, multi, remove } from '../../../lib/session/requests.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { closeOpenSessions, openWire, untilUp } from '../../support/sessions/wire-session.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const KEY = '/locks/files';
const NAMES_IN_A_MULTI = 1_000;
const NAME_LENGTH = 700;
/** 34 MB of names. */
const MULTIS = 48;
const LIST_BYTES = MULTIS * NAMES_IN_A_MULTI * (4 + NAME_LENGTH);

type Part = ReturnType<typeof create> | ReturnType<typeof remove>;

function each(of: (path: string) => Part): ReturnType<typeof multi>[] {
  const path = (index: number): string => `${KEY}/${String(index).padStart(NAME_LENGTH, 'x')}`;
  return Array.from({ length: MULTIS }, (_, at) =>
    multi(Array.from({ length: NAMES_IN_A_MULTI }, (_name, index) => of(path(at * NAMES_IN_A_MULTI + index)))),
  );
}

const open = (connect: string): ReturnType<typeof createLockService> =>
  createLockService({ connect, serverTickMs: 500, sessionTimeoutMs: 10_000 });

describe('a key with 34 MB of keys below it', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500, jvmFlags: ['-Xmx600m'] });
    const visitor = openWire([server.port]);
    await untilUp(visitor);
    await visitor.batch([create('/locks', 'persistent'), create(KEY, 'persistent')]);
    for (const request of each((path) => create(path, 'persistent'))) await replyTo(visitor, request);
  }, 120_000);
  afterAll(async () => {
    await closeOpenSessions();
    await server.stop();
  });

  it('is refused, and its list is read past: the connection, a held lock and other calls go on', async () => {
    await using proxy = await startProxy({ target: server.port, raw: true });
    await using locks = await open(proxy.connect);
    const states: string[] = [];
    locks.connectionState$.subscribe((state) => states.push(state));
    const held = await locks.acquire('/locks/held');
    await locks.withLock('/locks/innocent', () => undefined);
    const refused = locks.acquire(KEY).catch((error: unknown) => error as LockConfigurationError);
    await locks.withLock('/locks/innocent', () => undefined);
    const error = (await refused) as LockConfigurationError;

    expect(error).toMatchObject({ code: 'LOCK_CONFIGURATION', key: KEY });
    expect(error.details).toMatch(/has 4800[01] children, whose names take 32\.\d MB/);

    for (let calls = 0; calls < 50; calls += 1) {
      const again: unknown = await locks.acquire(KEY).catch((reason: unknown) => reason);
      expect(again).toMatchObject({ code: 'LOCK_CONFIGURATION' });
    }
    expect(proxy.counts().bytesToClient / LIST_BYTES).toBeCloseTo(1, 1);
    expect([held.isHeld(), states]).toEqual([true, ['connected']]);
    await held.release();
  });

  it('is listed once where many ask for it at once', async () => {
    await using proxy = await startProxy({ target: server.port, raw: true });
    await using locks = await open(proxy.connect);
    const held = await locks.acquire('/locks/held');
    const many = Array.from({ length: 30 }, () => locks.acquire(KEY).catch((error: { code: string }) => error.code));
    expect(new Set(await Promise.all(many))).toEqual(new Set(['LOCK_CONFIGURATION']));
    expect(proxy.counts().bytesToClient / LIST_BYTES).toBeCloseTo(1, 1);
    expect(held.isHeld()).toBe(true);
    await held.release();
  });

  it('is to be had again when they are gone', async () => {
    await using locks = await open(server.connect);
    await expect(locks.acquire(KEY)).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    const visitor = openWire([server.port]);
    await untilUp(visitor);
    for (const request of each((path) => remove(path))) await replyTo(visitor, request);
    await (await locks.acquire(KEY)).release();
  }, 60_000);
});
