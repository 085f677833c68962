import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS, SLACK_MS } from '../../support/locks/times.js';
import { outcomeOf, Witness } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';

const LOCK_DELAY_MS = 1_000;

describe('Lock-delay', () => {
  const stage = new LockStage();
  const openBrief = (): ReturnType<LockStage['open']> =>
    stage.open({ lockDelayMs: LOCK_DELAY_MS, sessionTimeoutMs: SESSION_MS });
  const open = (): ReturnType<LockStage['open']> => stage.open({ lockDelayMs: LOCK_DELAY_MS });

  it('makes the next one wait after a holder that vanished, from its own look on', async () => {
    const [vanishing, next] = [await openBrief(), await open()];
    const { key, lock, waiting } = await stage.contend(vanishing, next);

    using stalls = Stalls.watch();
    await stage.expire(vanishing);
    const [removal] = await eventually('it has been told', () => {
      const told = next.notifications({ type: 'deleted', path: lock.nodePath });
      return told.length > 0 && told;
    });
    expect((await next.service.inspect(key)).queueLength).toBe(0);
    const granted = await waiting;
    const waitedMs = performance.now() - (removal?.at ?? 0);
    expect(waitedMs).toBeGreaterThanOrEqual(LOCK_DELAY_MS);
    expect(waitedMs).toBeLessThan(LOCK_DELAY_MS + SLACK_MS + stalls.totalMs);
    await granted.release();
  });

  it('is shown as EXPIRED while nobody has looked yet', async () => {
    const [vanishing, looking] = [await openBrief(), await open()];
    const key = stage.freshKey();
    await vanishing.service.acquire(key);
    expect(await looking.service.inspect(key)).toMatchObject({ state: 'HELD' });
    await stage.expire(vanishing);
    expect(await looking.service.inspect(key)).toMatchObject({ state: 'EXPIRED', holders: [] });
    const startedAt = performance.now();
    const lock = await looking.service.acquire(key);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(LOCK_DELAY_MS);
    await lock.release();
    expect(await looking.service.inspect(key)).toMatchObject({ state: 'FREE' });
  });

  it('costs an orderly hand-over nothing, whatever the modes', async () => {
    // As long as all hand-overs together take on no machine.
    const lockDelayMs = 30 * LOCK_DELAY_MS;
    const [one, two] = [await stage.open({ lockDelayMs }), await stage.open({ lockDelayMs })];
    const key = stage.freshKey();
    const witness = new Witness();
    const startedAt = performance.now();
    for (const mode of ['exclusive', 'write', 'read', 'upgradeable', 'exclusive'] as const) {
      const lock = await one.service.acquire(key, { mode });
      if (mode === 'upgradeable') await lock.upgrade();
      witness.enter(mode, lock);
      const waiting = two.service.acquire(key, { mode: 'write' });
      await stage.untilQueueHas(key, mode === 'upgradeable' ? 3 : 2);
      witness.leave(lock);
      await lock.release();
      const next = await waiting;
      witness.enter(`after ${mode}`, next);
      witness.leave(next);
      await next.release();
    }
    expect(performance.now() - startedAt).toBeLessThan(lockDelayMs);
    expect(witness.violations).toEqual([]);
  });

  it('is not used up by one who gave up while it ran', async () => {
    const [vanishing, impatient, patient] = [await openBrief(), await open(), await open()];
    const key = stage.freshKey();
    await vanishing.service.acquire(key);
    await stage.expire(vanishing);

    expect(await outcomeOf(impatient.service.acquire(key, { waitMs: LOCK_DELAY_MS / 3 }))).toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
    await stage.untilQueueHas(key, 0);
    const startedAt = performance.now();
    const lock = await patient.service.acquire(key);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(LOCK_DELAY_MS);
    await lock.release();
    using stalls = Stalls.watch();
    const again = performance.now();
    await (await patient.service.acquire(key)).release();
    expect(performance.now() - again).toBeLessThan(SLACK_MS + stalls.totalMs);
  });

  it('keeps a reader out too, once', async () => {
    const [vanishing, reader] = [await openBrief(), await open()];
    const key = stage.freshKey();
    await vanishing.service.acquire(key, { mode: 'write' });
    await stage.expire(vanishing);
    const startedAt = performance.now();
    const first = await reader.service.acquire(key, { mode: 'read' });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(LOCK_DELAY_MS);
    using stalls = Stalls.watch();
    const again = performance.now();
    const second = await reader.service.acquire(key, { mode: 'read' });
    expect(performance.now() - again).toBeLessThan(SLACK_MS + stalls.totalMs);
    await Promise.all([first.release(), second.release()]);
  });
});
