import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { LockStage } from '../../support/locks/lock-stage.js';
import { HAND_OVER_MS, lossIsToldBeforeHandOver } from '../../support/locks/loss-before-hand-over.js';
import { LONG_SESSION_MS, SESSION_MS, SLACK_MS } from '../../support/locks/times.js';
import { outcomeOf, untilPassed } from '../../support/locks/witness.js';
import { eventually, within } from '../../support/process/eventually.js';
import { ofType, startNodeChild } from '../../support/process/node-child.js';

const JUMPS_MS = [3_600_000, -3_600_000];
const JUMPED_WAIT_MS = 2_000;

describe('Loss is told first, with one server,', () => {
  const stage = new LockStage(1, { maxSessionTimeoutMs: SESSION_MS });

  it('a holder in a black hole hears of it by the time-out that was granted and not the one that was asked for', async () => {
    const holder = await stage.open({ sessionTimeoutMs: 60_000 });
    const other = await stage.open();
    await lossIsToldBeforeHandOver(stage, holder, other, () => holder.blackHole(), HAND_OVER_MS);
    expect(holder.eventsOf('lost')).toMatchObject([{ reason: 'uncertain' }]);
  });

  it('a holder hears of it when nothing that it says arrives any more', async () => {
    const [holder, other] = [await stage.open(), await stage.open()];
    await lossIsToldBeforeHandOver(stage, holder, other, () => holder.proxy.swallow('toServer'), HAND_OVER_MS);
  });

  it('a holder hears of it when it hears nothing any more, and no connection can be made', async () => {
    const [holder, other] = [await stage.open(), await stage.open()];
    const deafen = async (): Promise<void> => {
      holder.proxy.swallow('toClient');
      await holder.proxy.refuse();
    };
    // Its own pings keep its session alive until it gives the connection up.
    await lossIsToldBeforeHandOver(stage, holder, other, deafen, 2 * HAND_OVER_MS);
  });

  it('the first line of code hears of it that runs in a process that stood still for longer than S', async () => {
    const other = await stage.open();
    const key = stage.freshKey();
    const script = new URL('../../support/locks/paused-holder-process.ts', import.meta.url);
    await using child = await startNodeChild(script, { args: [stage.connect, key, `${SESSION_MS}`] });
    const { token } = await child.next('holds', ofType('holds'));
    const waiting = other.service.acquire(key);
    await stage.untilQueueHas(key, 2);

    child.send({ type: 'spin' });
    await eventually('it spins', () => child.output().includes('spinning'), { everyMs: 1 });
    await child.pause();
    const pausedAt = performance.now();
    const next = await within(HAND_OVER_MS + SLACK_MS, 'the hand-over', waiting);
    // The servers count from its last word, which was a little before.
    await untilPassed(SESSION_MS + 10, pausedAt);
    await child.resume();

    const firstLine = await child.next('first line', ofType('first line'));
    expect(firstLine).toMatchObject({ isHeld: false, remainingMs: 0, lossCode: 'LOCK_LOST' });
    expect(firstLine['stoodStillMs']).toBeGreaterThan(SESSION_MS);
    expect(await child.next('later', ofType('later'))).toMatchObject({ isHeld: false, aborted: true });
    expect(next.isHeld()).toBe(true);
    expect(next.fencingToken).toBeGreaterThan(token as bigint);
    await next.release();
  });
});

describe('Loss is told first, with one server and a session that outlives any stall,', () => {
  const stage = new LockStage();

  it('nobody hears of a loss because the wall clock jumps an hour either way', async () => {
    const [holder, other] = [await stage.open(), await stage.open()];
    for (const jumpMs of JUMPS_MS) {
      await whileWallClockJumped(jumpMs, async () => {
        const key = stage.freshKey();
        const lock = await holder.service.acquire(key);
        const waiting = other.service.acquire(key, { waitMs: 5_000 });
        await stage.untilQueueHas(key, 2);
        expect(lock.isHeld()).toBe(true);
        expect(lock.remainingMs()).toBeLessThanOrEqual(LONG_SESSION_MS);
        await lock.release();
        expect((await waiting).isHeld()).toBe(true);
        await (await waiting).release();
      });
    }
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key, { leaseMs: 20_000 });
    for (const jumpMs of JUMPS_MS) {
      const askedAt = performance.now();
      const waiting = outcomeOf(other.service.acquire(key, { waitMs: JUMPED_WAIT_MS }));
      await stage.untilQueueHas(key, 2);
      await whileWallClockJumped(jumpMs, async () => {
        expect(await waiting).toMatchObject({ code: 'LOCK_TIMEOUT' });
        expect(performance.now() - askedAt).toBeGreaterThanOrEqual(JUMPED_WAIT_MS);
      });
      expect(lock.isHeld()).toBe(true);
    }
    expect([...holder.eventsOf('lost'), ...other.eventsOf('requeued')]).toEqual([]);
    await lock.release();
  });
});

/** Moves the wall clock of this process, and leaves the monotonic one alone. */
async function whileWallClockJumped(jumpMs: number, work: () => Promise<void>): Promise<void> {
  const RealDate = Date;
  class JumpedDate extends RealDate {
    constructor(value?: number | string) {
      super(value ?? JumpedDate.now());
    }

    static override now(): number {
      return RealDate.now() + jumpMs;
    }
  }
  globalThis.Date = JumpedDate as DateConstructor;
  try {
    await work();
  } finally {
    globalThis.Date = RealDate;
  }
}
