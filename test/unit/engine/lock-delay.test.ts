import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../../lib/lock/errors.js';
import type { LockMode } from '../../../lib/lock/mode.js';
import { type Client, EngineWorld } from './support/engine-world.js';

const KEY = '/locks/ledger';
const DELAY_MS = 2_000;

describe('a lock-delay', () => {
  let engine: EngineWorld;
  let one: Client;
  let other: Client;

  beforeEach(async () => {
    engine = new EngineWorld();
    one = await engine.client('one', { lockDelayMs: DELAY_MS });
    other = await engine.client('other', { lockDelayMs: DELAY_MS });
  });
  afterEach(() => engine.end());

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

  it.each<LockMode>(['exclusive', 'write'])(
    'after a %s holder that vanished the next one waits, and the one after does not',
    async (mode) => {
      await vanish(mode);
      expect(await waitOf('exclusive')).toBeGreaterThanOrEqual(DELAY_MS);
      expect(await waitOf('exclusive')).toBeLessThan(100);
    },
  );

  it.each<LockMode>(['read', 'upgradeable'])('also holds back the next one when it asks for %s', async (mode) => {
    await vanish('exclusive');
    expect(await waitOf(mode)).toBeGreaterThanOrEqual(DELAY_MS);
    expect(await waitOf(mode)).toBeLessThan(100);
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
    engine.faults.loseReplyOfNext(other.process, 'set');
    expect(await waitOf('exclusive')).toBeGreaterThanOrEqual(DELAY_MS);
  });

  it('survives the reaping of empty parents', async () => {
    await vanish('exclusive');
    engine.faults.reapContainers();
    await engine.runFor(100);
    expect(await waitOf('exclusive')).toBeGreaterThanOrEqual(DELAY_MS);
  });
});
