import { describe, expect, it } from '@jest/globals';
import { LockAbortedError, LockConfigurationError, LockTimeoutError } from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import type { LockMode } from '../../../../lib/lock/mode.js';
import { create, get, remove, set } from '../../../../lib/session/requests.js';
import { rejection } from '../support/engine-world.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { RefusingDialer, THROTTLED } from '../support/refusing-dialer.js';
import { RECORD_KEEPER } from '../../../../lib/queue/reserved-names.js';
import { useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/ledger';
const DELAY_MS = 2_000;

function recordOf(name: string, delayMs: number): string {
  return JSON.stringify({ inside: { name, token: '7', since: 0, policy: 'delay', delayMs } });
}

describe('a lock-delay', () => {
  const { engine, one, other } = useEngineWith({ lockDelayMs: DELAY_MS }, 'one', 'other');

  /** How long the next one waits for the lock from now on. */
  async function waitOf(mode: LockMode, waitMs?: number): Promise<number> {
    const before = engine.world.now();
    const options = waitMs === undefined ? { mode } : { mode, waitMs };
    const lock = await engine.settle(other.locks.acquire(KEY, options));
    const waitedMs = engine.world.now() - before;
    await engine.settle(lock.release());
    return waitedMs;
  }

  async function vanish(mode: LockMode): Promise<void> {
    await engine.settle(one.locks.acquire(KEY, { mode }));
    engine.faults.expire(one.session.identity!.id);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
  }

  async function recorded(key = KEY): Promise<string> {
    const { data } = await engine.settle(replyTo(one.session, get(key)));
    return Buffer.from(data).toString();
  }

  it.each<LockMode>(['exclusive', 'write'])(
    'holds back the next one after a holder in mode %s that vanished, and not the one after it',
    async (mode) => {
      await vanish(mode);
      expect(await waitOf('exclusive')).toBeGreaterThanOrEqual(DELAY_MS);
      expect(await waitOf('exclusive')).toBeLessThan(100);
    },
  );

  it.each<LockMode>(['read', 'upgradeable'])('holds back the next one when it asks for %s, too', async (mode) => {
    await vanish('exclusive');
    expect(await waitOf(mode)).toBeGreaterThanOrEqual(DELAY_MS);
    expect(await waitOf(mode)).toBeLessThan(100);
  });

  it('is not waited for by the next one of the process, where the servers are only slow to confirm a release', async () => {
    const process = engine.world.process('busy');
    const dialer = new RefusingDialer(process.dialer(), THROTTLED);
    process.dialer = () => dialer;
    const busy = await engine.client('busy', { lockDelayMs: DELAY_MS });
    const first = await engine.settle(busy.locks.acquire(KEY));
    const next = busy.locks.acquire(KEY);
    await engine.runFor(50);
    dialer.refused.add('multi');
    void first.release();
    const before = engine.world.now();
    await engine.runUntil(() => dialer.count > 0);
    dialer.refused.clear();
    const lock = await engine.settle(next);
    expect(engine.world.now() - before).toBeLessThan(DELAY_MS / 2);
    expect(engine.queue(KEY)).toHaveLength(1);
    expect(await recorded()).toContain(lock.nodePath.slice(KEY.length + 1));
  });

  it('does not hold anybody back after an orderly release, nor after a reader that vanished', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    await engine.settle(lock.release());
    expect(await waitOf('exclusive')).toBeLessThan(100);
    await vanish('read');
    expect(await waitOf('exclusive')).toBeLessThan(100);
  });

  it('counts after an upgraded holder that vanished, and not after one that released', async () => {
    const orderly = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    await engine.settle(orderly.upgrade());
    await engine.settle(orderly.release());
    expect(await waitOf('exclusive')).toBeLessThan(100);
    const doomed = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    await engine.settle(doomed.upgrade());
    engine.faults.expire(one.session.identity!.id);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    expect(await waitOf('read')).toBeGreaterThanOrEqual(DELAY_MS);
  });

  it('is waited for in full by whoever comes after one that gave up in the middle of it', async () => {
    await vanish('exclusive');
    expect(await engine.failure(other.locks.acquire(KEY, { waitMs: 1_000 }))).toBeInstanceOf(LockTimeoutError);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    expect(await waitOf('exclusive')).toBeGreaterThanOrEqual(DELAY_MS);
  });

  it('is not forgotten when the answer that told of it was lost', async () => {
    await vanish('exclusive');
    engine.faults.loseReplyOfNext(other.process, 'multi');
    expect(await waitOf('exclusive')).toBeGreaterThanOrEqual(DELAY_MS);
  });

  describe('for those who only try', () => {
    const tryIt = (mode: LockMode = 'exclusive'): Promise<LockHandle | undefined> =>
      engine.settle(other.locks.tryAcquire(KEY, { mode }));

    it.each<LockMode>(['exclusive', 'read', 'upgradeable'])('makes the key busy for %s, at once', async (mode) => {
      await vanish('exclusive');
      const before = engine.world.now();
      const writes = engine.world.stat(KEY)!.cversion;
      expect(await tryIt(mode)).toBeUndefined();
      expect(engine.world.now() - before).toBeLessThan(100);
      expect(engine.world.stat(KEY)!.cversion).toBe(writes);
      expect(await waitOf('exclusive')).toBeGreaterThanOrEqual(DELAY_MS);
    });

    it('times out at once where the wait is for no time at all', async () => {
      await vanish('exclusive');
      const before = engine.world.now();
      expect(await engine.failure(other.locks.acquire(KEY, { waitMs: 0 }))).toBeInstanceOf(LockTimeoutError);
      expect(engine.world.now() - before).toBeLessThan(100);
    });

    it.each<LockMode>(['exclusive', 'read'])(
      'is over for %s when so long ago they saw it for the first time',
      async (mode) => {
        await vanish('exclusive');
        expect(await tryIt(mode)).toBeUndefined();
        await engine.runFor(DELAY_MS - 100);
        expect(await tryIt(mode)).toBeUndefined();
        await engine.runFor(100);
        await engine.settle((await tryIt(mode))!.release());
        expect(await waitOf('exclusive')).toBeLessThan(100);
      },
    );

    it('counts anew for another holder that vanished', async () => {
      await vanish('exclusive');
      expect(await tryIt()).toBeUndefined();
      await engine.runFor(DELAY_MS);
      await vanish('exclusive');
      expect(await tryIt()).toBeUndefined();
    });

    it('does not count from a time when the holder that it is about still held', async () => {
      // An upgrade that failed, and nobody knows what became of the name that it left.
      const upgradeable = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
      const nodeName = upgradeable.nodePath.slice(KEY.length + 1);
      const record = recordOf(nodeName, DELAY_MS);
      await engine.settle(replyTo(one.session, set(KEY, Buffer.from(record))));
      expect(await tryIt('read')).toBeUndefined();
      await engine.runFor(DELAY_MS);
      await engine.settle(upgradeable.upgrade());
      engine.faults.expire(one.session.identity!.id);
      await engine.runUntil(() => engine.queue(KEY).length === 0);
      expect(await tryIt('read')).toBeUndefined();
    });

    it('leaves the name of the one that vanished when it does so between the look and the place in the queue', async () => {
      await engine.settle((await engine.settle(one.locks.acquire(KEY))).release());
      const record = recordOf('one that vanished', 7_000);
      const trying = other.locks.tryAcquire(KEY);
      await engine.runUntil(() => engine.queue(KEY).length === 1);
      await engine.settle(replyTo(one.session, set(KEY, Buffer.from(record))));
      expect(await engine.settle(trying)).toBeUndefined();
      await engine.runFor(50);
      expect([await recorded(), engine.queue(KEY)]).toEqual([record, []]);
    });
  });

  it('survives the reaping of empty parents', async () => {
    await vanish('exclusive');
    engine.faults.reapContainers();
    await engine.runFor(100);
    expect(await waitOf('exclusive')).toBeGreaterThanOrEqual(DELAY_MS);
  });

  it('survives it also where the key is a part of another one', async () => {
    await engine.settle((await engine.settle(one.locks.acquire(`${KEY}/page`))).release());
    await engine.settle(one.session.batch([remove(`${KEY}/page/${RECORD_KEEPER}`), remove(`${KEY}/page`)]));
    await vanish('exclusive');
    engine.faults.reapContainers();
    await engine.runFor(100);
    expect(await waitOf('exclusive')).toBeGreaterThanOrEqual(DELAY_MS);
  });

  it('is not for one that gave up, at whatever time, and never held', async () => {
    const recordedAt: number[] = [];
    for (let afterMs = 0; afterMs <= 12; afterMs += 1) {
      const key = `${KEY}/${afterMs}`;
      const abort = new AbortController();
      const acquiring = rejection(other.locks.acquire(key, { signal: abort.signal }));
      await engine.runFor(afterMs);
      if (engine.world.stat(key)?.dataLength) recordedAt.push(afterMs);
      abort.abort();
      if (!((await engine.settle(acquiring)) instanceof LockAbortedError)) continue;
      const before = engine.world.now();
      await engine.settle((await engine.settle(one.locks.acquire(key))).release());
      const hadToWait = engine.world.now() - before >= DELAY_MS;
      expect({ afterMs, hadToWait }).toEqual({ afterMs, hadToWait: false });
    }
    expect(recordedAt).not.toEqual([]);
  });

  it('is not for one whose upgrade failed, at whatever time, and who then released', async () => {
    for (let afterMs = 0; afterMs <= 14; afterMs += 1) {
      const key = `${KEY}/${afterMs}`;
      const abort = new AbortController();
      const upgradeable = await engine.settle(one.locks.acquire(key, { mode: 'upgradeable' }));
      const upgrading = rejection(upgradeable.upgrade({ signal: abort.signal }));
      await engine.runFor(afterMs);
      abort.abort();
      await engine.settle(upgrading);
      await engine.settle(upgradeable.release());
      expect([afterMs, await recorded(key)]).toEqual([afterMs, '']);
    }
  });

  it('is not for one whose upgrade failed, and who holds on: a reader may enter beside it at once', async () => {
    const upgradeable = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    const abort = new AbortController();
    const upgrading = rejection(upgradeable.upgrade({ signal: abort.signal }));
    await engine.runUntil(() => engine.world.stat(KEY)!.dataLength > 0);
    abort.abort();
    expect(await engine.settle(upgrading)).toBeInstanceOf(LockAbortedError);
    expect(await waitOf('read')).toBeLessThan(100);
    await engine.settle(upgradeable.release());
  });

  it('is cleared by the release also when the answer was lost that told of the name an upgrade has left', async () => {
    const upgradeable = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    engine.faults.loseReplyOfNext(one.process, 'multi');
    await engine.settle(upgradeable.upgrade());
    expect(await recorded()).toContain(upgradeable.nodePath.slice(KEY.length + 1));
    await engine.settle(upgradeable.release());
    expect(await recorded()).toBe('');
  });

  it('is the longer one where clients differ, also for whoever comes after one that gave up', async () => {
    const careful = await engine.client('careful', { lockDelayMs: 3 * DELAY_MS });
    await engine.settle(careful.locks.acquire(KEY));
    engine.faults.expire(careful.session.identity!.id);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    await engine.failure(one.locks.acquire(KEY, { waitMs: 1_000 }));
    const vanishing = rejection(one.locks.acquire(KEY));
    await engine.runFor(100);
    engine.faults.expire(one.session.identity!.id);
    await engine.settle(one.locks.close(0));
    await engine.settle(vanishing);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    expect(await waitOf('exclusive')).toBeGreaterThanOrEqual(3 * DELAY_MS);
  });

  it.each<LockMode>(['exclusive', 'read'])(
    'is an error that says so where a holder in mode %s cannot write it down',
    async (mode) => {
      const readCreateDelete = 1 | 4 | 8;
      const acl = [{ permissions: readCreateDelete, scheme: 'world', id: 'anyone' }];
      const record = Buffer.from(recordOf('one that vanished', 10));
      await engine.settle(replyTo(one.session, create('/denied', 'persistent', record, acl)));
      expect(await engine.failure(one.locks.acquire('/denied', { mode }))).toBeInstanceOf(LockConfigurationError);
      await engine.runFor(50);
      expect(engine.queue('/denied')).toEqual([]);
    },
  );
});
