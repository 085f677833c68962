import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import type { LockClient } from '../../support/locks/lock-client.js';
import { hasUpgrades } from '../../support/simulation/client-under-test.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS, SLACK_MS } from '../../support/locks/times.js';
import { outcomeOf, untilPassed } from '../../support/locks/witness.js';
import { createLockService } from '../../../lib/open.js';
import { eventually, within } from '../../support/process/eventually.js';
import { freePort } from '../../support/proxy/ports.js';
import { Stalls } from '../../support/process/stalls.js';

const WAIT_MS = 700;
const LONG_WAIT_MS = 2_000;
/** What would be waited for without the promise. */
const LONG_MS = 15_000;
/** Far below that, and below the time-out of the session. */
const SOON_MS = 4_000;

/** How a client loses its way to the servers; `hears of it`: at once, or only when it misses an answer. */
const TROUBLES: readonly [string, (stage: LockStage, client: LockClient) => Promise<void>][] = [
  ['while every connection is refused', (_stage, client) => client.refuse()],
  ['in a black hole', async (_stage, client) => client.blackHole()],
  ['while the server stands still', (stage) => stage.server.freeze()],
];

describe('Every promise settles', () => {
  const stage = new LockStage();

  it.each(TROUBLES)('each call ends by its deadline %s', async (_name, trouble) => {
    // A session that outlives the test: what ends the calls is their deadline and nothing else.
    const client = await stage.open({ waitMs: WAIT_MS });
    const { service } = client;
    const key = stage.freshKey();
    const reader = await service.acquire(`${key}/upgradeable`, { mode: 'read' });
    const upgradeable = await service.acquire(`${key}/upgradeable`, { mode: hasUpgrades ? 'upgradeable' : 'read' });
    const held = await service.acquire(`${key}/held`);
    const inner = await service.acquire(`${key}/around`);

    await trouble(stage, client);
    try {
      const settled = await inTime({
        acquire: service.acquire(`${key}/free`),
        'acquire that waits': service.acquire(`${key}/held`),
        tryAcquire: service.tryAcquire(`${key}/free`),
        withLock: service.withLock(`${key}/free`, () => 'was inside'),
        acquireAll: service.acquireAll([`${key}/one`, `${key}/two`]),
        transaction: service.transaction((tx) => tx.lock(`${key}/three`)),
        inspect: service.inspect(`${key}/held`),
        ...(hasUpgrades ? { upgrade: upgradeable.upgrade() } : {}),
        release: held.release(),
        'release again': held.release(),
      });
      const { release, 'release again': again, ...failed } = settled;
      expect([release, again]).toEqual([undefined, undefined]);
      for (const [call, outcome] of Object.entries(failed)) {
        expect([call, outcome]).toEqual([
          call,
          expect.objectContaining({ code: expect.stringMatching(/^LOCK_(TIMEOUT|UNAVAILABLE)$/) }),
        ]);
      }
    } finally {
      if (stage.server.isFrozen) await stage.server.resume();
      await client.pass();
    }
    await client.untilUp();
    // The removals went on in the background; who held on still holds.
    await stage.untilQueueHas(`${key}/held`, 0);
    await stage.untilQueueHas(`${key}/free`, 0);
    for (const lock of [reader, upgradeable, inner]) {
      await lock.whenSure();
      expect(lock.isHeld()).toBe(true);
      await lock.release();
    }
  });

  it('one deadline counts for all parts of a call', async () => {
    const [holder, client] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const first = await holder.service.acquire(`${key}/a`);
    const second = await holder.service.acquire(`${key}/b`);
    using stalls = Stalls.watch();
    const startedAt = performance.now();
    const all = outcomeOf(client.service.acquireAll([`${key}/a`, `${key}/b`], { waitMs: LONG_WAIT_MS }));
    await stage.untilQueueHas(`${key}/a`, 2);
    // Late enough that a part with a time of its own would be seen to take it.
    await untilPassed(0.75 * LONG_WAIT_MS, startedAt);
    await first.release();
    expect(await all).toMatchObject({ code: 'LOCK_TIMEOUT' });
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThanOrEqual(LONG_WAIT_MS);
    expect(tookMs).toBeLessThan(LONG_WAIT_MS + SLACK_MS / 2 + stalls.totalMs);
    // All or none.
    await stage.untilQueueHas(`${key}/a`, 0);
    await second.release();
  });

  it('release() does at once while the link is down, and the removal goes on', async () => {
    const client = await stage.open({ waitMs: LONG_MS, shutdownGraceMs: 0 });
    const key = stage.freshKey();
    const [lock, other] = [await client.service.acquire(key), await client.service.acquire(`${key}/other`)];
    const both = await client.service.acquireAll([`${key}/a`, `${key}/b`]);
    await client.refuse();
    await client.untilState((state) => state === 'suspended');

    await within(SOON_MS, 'release settles', lock.release());
    await within(SOON_MS, 'release of both settles', both.release());
    await within(
      SOON_MS,
      'await using ends',
      (async () => {
        await using released = other;
        expect(released.isHeld()).toBe(true);
      })(),
    );
    expect([lock.isHeld(), other.isHeld(), both.isHeld()]).toEqual([false, false, false]);
    expect(await stage.queue(key)).toContain(lock.nodePath.slice(key.length + 1));

    await client.pass();
    for (const queue of [key, `${key}/other`, `${key}/a`, `${key}/b`]) {
      await eventually('it is removed', async () => (await stage.queue(queue)).every((name) => !isContender(name)));
    }
  });

  it('release() does as soon as the link goes down while it waits for the answer', async () => {
    const client = await stage.open({ waitMs: LONG_MS });
    const key = stage.freshKey();
    const lock = await client.service.acquire(key);
    const rule = client.onRequest({ path: lock.nodePath, opcode: 'delete', action: 'dropRequest' });
    await client.proxy.refuse();
    // The proxy cuts the link in place of an answer.
    await within(SOON_MS, 'release settles', lock.release());
    expect(lock.isHeld()).toBe(false);
    rule.release();
    await client.pass();
    await stage.untilQueueHas(key, 0);
  });

  it('close() does, which waits within its grace for the link, so that what was given back is removed', async () => {
    const client = await stage.open({ waitMs: LONG_MS, shutdownGraceMs: LONG_MS });
    const key = stage.freshKey();
    const lock = await client.service.acquire(key);
    const next = await stage.open();
    await client.refuse();
    await client.untilState((state) => state === 'suspended');
    await within(SOON_MS, 'release settles', lock.release());
    const closed = client.service.close();
    // Later than an end of the session would be tried for without it.
    await untilPassed(1.5 * SLACK_MS);
    await client.pass();
    await within(SOON_MS, 'close settles', closed);
    await within(
      SOON_MS,
      'the next one enters',
      next.service.withLock(key, () => undefined),
    );
  });

  it('a try does, within the second that an answer may take', async () => {
    const client = await stage.open({ waitMs: LONG_MS });
    const key = stage.freshKey();
    const reader = await client.service.acquire(`${key}/upgradeable`, { mode: 'read' });
    const mode = hasUpgrades ? 'upgradeable' : 'read';
    const upgradeable = await client.service.acquire(`${key}/upgradeable`, { mode });
    await stage.server.freeze();
    try {
      const calls: Record<string, () => Promise<unknown>> = {
        tryAcquire: () => client.service.tryAcquire(key),
        acquire: () => client.service.acquire(key, { waitMs: 0 }),
        withLock: () => client.service.withLock(key, () => undefined, { waitMs: 0 }),
        acquireAll: () => client.service.acquireAll([key], { waitMs: 0 }),
        ...(hasUpgrades ? { upgrade: () => upgradeable.upgrade({ waitMs: 0 }) } : {}),
      };
      const outcomes = Object.entries(calls).map(async ([name, call]) => {
        const outcome = await within(SOON_MS, `${name} settles`, outcomeOf(call()));
        expect([name, outcome]).toEqual([name, expect.objectContaining({ code: 'LOCK_UNAVAILABLE' })]);
      });
      await Promise.all(outcomes);
    } finally {
      await stage.server.resume();
    }
    await upgradeable.release();
    await reader.release();
  });

  it('the first try of a service that connects lazily does, within that second', async () => {
    const connect = `127.0.0.1:${await freePort()}`;
    await using locks = await createLockService({ connect, startup: 'lazy', waitMs: LONG_MS });
    for (const call of [locks.acquire('/a', { waitMs: 0 }), locks.tryAcquire('/a')]) {
      const outcome = await within(SOON_MS, 'it settles', outcomeOf(call));
      expect(outcome).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    }
  });

  it('whenSure() does, which waits while the link is down, and rejects when the lock is lost', async () => {
    const client = await stage.open({ sessionTimeoutMs: SESSION_MS });
    const lock = await client.service.acquire(stage.freshKey());
    await lock.whenSure();
    await client.refuse();
    await client.untilState((state) => state === 'suspended');
    const sure = outcomeOf(lock.whenSure());
    expect(await Promise.race([sure, Promise.resolve('waits')])).toBe('waits');
    await client.pass();
    expect(await sure).toBeUndefined();
    expect(lock.isHeld()).toBe(true);

    await client.refuse();
    await client.untilState((state) => state === 'suspended');
    expect(await outcomeOf(lock.whenSure())).toMatchObject({ code: 'LOCK_LOST' });
    expect(lock.isHeld()).toBe(false);
    expect(await outcomeOf(lock.whenSure())).toMatchObject({ code: 'LOCK_LOST' });
  });
});

/** The keys below a key are children of its node, too. */
function isContender(name: string): boolean {
  return /\d{10}$/.test(name);
}

async function inTime<T extends Record<string, Promise<unknown>>>(calls: T): Promise<Record<keyof T, unknown>> {
  const entries = Object.entries(calls).map(
    async ([name, call]) => [name, await within(WAIT_MS + SLACK_MS, `${name} settles`, outcomeOf(call))] as const,
  );
  return Object.fromEntries(await Promise.all(entries)) as Record<keyof T, unknown>;
}
