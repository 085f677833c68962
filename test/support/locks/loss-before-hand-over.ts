import { performance } from 'node:perf_hooks';
import { expect } from '@jest/globals';
import { LockLostError } from '../../../lib/lock/errors.js';
import { within } from '../process/eventually.js';
import { Stalls } from '../process/stalls.js';
import type { LockClient } from './lock-client.js';
import type { LockStage } from './lock-stage.js';
import { SESSION_MS, SLACK_MS, TICK_MS } from './times.js';
import { CertaintyWatch, noteAbort } from './witness.js';

/** The servers' own time-out, a tick for their rounding, an election or a reconnect, and a busy machine. */
export const HAND_OVER_MS = SESSION_MS + TICK_MS + SLACK_MS;

/** One holds and another waits; something happens to the holder. It knows of its loss before the other hears of it. */
export async function lossIsToldBeforeHandOver(
  stage: LockStage,
  holder: LockClient,
  other: LockClient,
  happens: () => unknown,
  withinMs: number,
  sessionMs = SESSION_MS,
): Promise<void> {
  const { lock, waiting } = await stage.contend(holder, other);
  const abort = noteAbort(lock);
  // It has proved its life at least once while it held.
  await holder.untilHeartbeat();
  expect(lock.isHeld()).toBe(true);

  using certainty = new CertaintyWatch(lock);
  expect(lock.remainingMs()).toBeLessThanOrEqual(sessionMs);
  using stalls = Stalls.watch();
  await happens();
  const happenedAt = performance.now();

  const next = await within(withinMs, 'the hand-over', waiting);
  expect(lock.isHeld()).toBe(false);
  expect(lock.signal.aborted).toBe(true);
  expect(lock.signal.reason).toBeInstanceOf(LockLostError);
  const [removal] = other.notifications({ type: 'deleted', path: lock.nodePath });
  if (removal === undefined || abort.at === undefined) throw new Error('Neither deletion nor loss was told.');
  expect(abort.at).toBeLessThan(removal.at);
  // No request sent after it can have proved anything.
  expect(certainty.until).toBeLessThan(happenedAt + sessionMs);
  expect(abort.at).toBeLessThan(certainty.until + SLACK_MS + stalls.totalMs);
  expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
  await holder.pass();
  await lock.release();
  expect(next.isHeld()).toBe(true);
  await next.release();
}
