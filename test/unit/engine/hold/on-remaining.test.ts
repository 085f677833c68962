import { describe, expect, it } from '@jest/globals';
import { currentLock } from '../../../../lib/engine/bounds/owner-context.js';
import { LockConfigurationError, LockLostError } from '../../../../lib/lock/errors.js';
import { remove } from '../../../../lib/session/requests.js';
import { ContextCensus } from '../../../support/process/context-census.js';
import { SESSION_TIMEOUT_MS } from '../support/engine-world.js';
import { useEngine } from '../support/use-engine.js';

const KEY = '/locks/report';
const LONG_MS = 10 * SESSION_TIMEOUT_MS;

describe('onRemaining()', () => {
  const { engine, one } = useEngine('one');

  it('warns before the signal aborts, once the servers are not heard of any more', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    const told: unknown[] = [];
    lock.onRemaining(1_000, (remainingMs) => told.push([remainingMs, lock.signal.aborted, lock.isHeld()]));
    await engine.runFor(LONG_MS);
    expect(told).toEqual([]);

    engine.faults.refuse(one.process);
    await engine.runUntil(() => lock.signal.aborted);
    expect(told).toEqual([[expect.any(Number), false, true]]);
    const [[remainingMs]] = told as [[number]];
    expect(remainingMs).toBeGreaterThan(950);
    expect(remainingMs).toBeLessThanOrEqual(1_000);
  });

  it('warns again when the time was long again in between', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    let warnings = 0;
    lock.onRemaining(1_000, () => (warnings += 1));
    for (const expected of [1, 2]) {
      engine.faults.refuse(one.process);
      await engine.runUntil(() => warnings === expected);
      engine.faults.accept(one.process);
      await engine.runFor(SESSION_TIMEOUT_MS);
    }
    expect([warnings, lock.isHeld()]).toEqual([2, true]);
  });

  it('lets a lease be renewed by its own warning', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { leaseMs: 3_000 }));
    let renewals = 0;
    const stop = lock.onRemaining(1_000, () => {
      renewals += 1;
      lock.extend(3_000);
    });
    await engine.runFor(9_000);
    expect([renewals, lock.isHeld()]).toEqual([4, true]);
    stop();
    await engine.runFor(4_000);
    expect([renewals, lock.isHeld()]).toEqual([4, false]);
  });

  it('does not warn of a lock that begins in a session which has rested, and is proved to live at once', async () => {
    await engine.runFor(LONG_MS);
    for (let round = 0; round < 20; round += 1) {
      const lock = await engine.settle(one.locks.acquire(`/locks/rested/${round}`));
      let warnings = 0;
      lock.onRemaining(1_000, () => (warnings += 1));
      await engine.runFor(137);
      await engine.settle(lock.release());
      await engine.runFor(SESSION_TIMEOUT_MS * 0.9);
      expect(warnings).toBe(0);
    }
  });

  it('notices that a lease has become shorter', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { leaseMs: 60_000 }));
    let warnings = 0;
    lock.onRemaining(1_000, () => (warnings += 1));
    await engine.runFor(10);
    lock.extend(1_500);
    await engine.runFor(600);
    expect(warnings).toBe(1);
  });

  it('warns soon where so little is left already, and never inside the call', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { leaseMs: 500 }));
    let warnings = 0;
    lock.onRemaining(1_000, () => (warnings += 1));
    expect(warnings).toBe(0);
    await engine.runFor(260);
    expect(warnings).toBe(1);
  });

  it('runs the callback in the context of the call that asked for it', async () => {
    let seen: unknown;
    const work = one.locks.withLock(
      KEY,
      async (lock) => {
        lock.onRemaining(1_000, () => (seen = currentLock()?.key));
        await one.sleep(1_000);
      },
      { leaseMs: 1_500 },
    );
    await engine.settle(work);
    expect(seen).toBe(KEY);
  });

  it('is over with the release, and with the loss', async () => {
    const warnings: string[] = [];
    const released = await engine.settle(one.locks.acquire(KEY, { leaseMs: 2_000 }));
    released.onRemaining(1_000, () => warnings.push('released'));
    await engine.settle(released.release());
    const lost = await engine.settle(one.locks.acquire(KEY));
    lost.onRemaining(1_000, () => warnings.push('lost'));
    await engine.runFor(1_000);
    await engine.settle(one.session.batch([remove(lost.nodePath)]));
    await engine.runUntil(() => lost.signal.aborted);
    engine.faults.refuse(one.process);
    await engine.runFor(LONG_MS);
    expect(warnings).toEqual([]);
    expect(() => lost.onRemaining(1_000, () => undefined)).toThrow(LockLostError);
  });

  it('keeps nothing of a warning that was stopped, though the lock is held on', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    const census = new ContextCensus();
    for (let batch = 0; batch < 100; batch += 1) census.run(() => lock.onRemaining(1_000, () => undefined))();
    await engine.runFor(LONG_MS);
    expect(lock.isHeld()).toBe(true);
    expect(await census.retained()).toBe(0);
  });

  it('refuses what is no time, and what is no function', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    expect(() => lock.onRemaining(0, () => undefined)).toThrow(LockConfigurationError);
    expect(() => lock.onRemaining(5, undefined as never)).toThrow(LockConfigurationError);
  });
});
