import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { LockLostError } from '../../../lib/lock/errors.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { LONG_SESSION_MS, SESSION_MS, SLACK_MS, TICK_MS } from '../../support/locks/times.js';
import { CertaintyWatch, noteAbort, outcomeOf, untilPassed } from '../../support/locks/witness.js';
import { eventually, within } from '../../support/process/eventually.js';
import { ofType, startNodeChild } from '../../support/process/node-child.js';
import { Stalls } from '../../support/process/stalls.js';
import type { ZooKeeperServer } from '../../support/zookeeper/server.js';

/** The servers' own time-out, a tick for their rounding, an election or a reconnect, and a busy machine. */
const HAND_OVER_MS = SESSION_MS + TICK_MS + SLACK_MS;

const JUMPS_MS = [3_600_000, -3_600_000];
const JUMPED_WAIT_MS = 2_000;

describe('Loss is told first: one server', () => {
  const stage = new LockStage(1, { maxSessionTimeoutMs: SESSION_MS });

  it('in a black hole, by the time-out that was granted and not the one that was asked for', async () => {
    const holder = await stage.open({ sessionTimeoutMs: 60_000 });
    const other = await stage.open();
    await lossIsToldBeforeHandOver(stage, holder, other, () => holder.blackHole(), HAND_OVER_MS);
    expect(holder.eventsOf('lost')).toMatchObject([{ reason: 'uncertain' }]);
  });

  it('when nothing that it says arrives any more', async () => {
    const [holder, other] = [await stage.open(), await stage.open()];
    await lossIsToldBeforeHandOver(stage, holder, other, () => holder.proxy.swallow('toServer'), HAND_OVER_MS);
  });

  it('when it hears nothing any more, and no connection can be made', async () => {
    const [holder, other] = [await stage.open(), await stage.open()];
    const deafen = async (): Promise<void> => {
      holder.proxy.swallow('toClient');
      await holder.proxy.refuse();
    };
    // Its own pings keep its session alive until it gives the connection up.
    await lossIsToldBeforeHandOver(stage, holder, other, deafen, 2 * HAND_OVER_MS);
  });

  it('to the first line of code that runs in a process that stood still for longer than S', async () => {
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

describe('Loss is told first: one server, and a session that outlives any stall', () => {
  const stage = new LockStage();

  it('and not at all because the wall clock jumps an hour either way', async () => {
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

describe('Loss is told first: three servers', () => {
  const stage = new LockStage(3);

  // With the longer S several pings are answered between two heartbeats, also by a server that nobody else hears.
  it.each([
    { role: 'follower', sessionMs: 3 * SESSION_MS },
    { role: 'leader', sessionMs: SESSION_MS },
  ])(
    'when a $role is cut off together with the holder',
    async ({ role, sessionMs }) => {
      const leader = await stage.ensemble.leader();
      const [follower] = await stage.ensemble.followers();
      const server = role === 'leader' ? leader : (follower as ZooKeeperServer);
      const others = stage.ensemble.others(server);
      const holder = await stage.open({ only: [server], sessionTimeoutMs: sessionMs });
      const other = await stage.open({ only: others, waitMs: 30_000 });
      try {
        // Followers go on believing in a leader that is gone for `syncLimit` ticks.
        const electionMs = role === 'leader' ? 10 * TICK_MS + 5_000 : 0;
        const cut = (): void => stage.ensemble.isolate(server);
        await lossIsToldBeforeHandOver(stage, holder, other, cut, sessionMs + HAND_OVER_MS + electionMs, sessionMs);
      } finally {
        stage.ensemble.heal(server);
        await stage.ensemble.waitForQuorum();
      }
      await holder.untilUp();
    },
    60_000,
  );
});

/** One holds and another waits; something happens to the holder. It knows of its loss before the other hears of it. */
async function lossIsToldBeforeHandOver(
  stage: LockStage,
  holder: LockClient,
  other: LockClient,
  happens: () => unknown,
  withinMs: number,
  sessionMs = SESSION_MS,
): Promise<void> {
  const key = stage.freshKey();
  const lock = await holder.service.acquire(key);
  const abort = noteAbort(lock);
  const waiting = other.service.acquire(key);
  await stage.untilQueueHas(key, 2);
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
