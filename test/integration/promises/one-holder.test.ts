import { describe, expect, it } from '@jest/globals';
import { hasUpgrades } from '../../support/simulation/client-under-test.js';
import { flakyLink } from '../../support/locks/flaky-link.js';
import { killedLeaders, SOON_ELECTED } from '../../support/locks/killed-leaders.js';
import { Load } from '../../support/locks/load.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { within } from '../../support/process/eventually.js';

const NO_NODE = -101;
/** Declares a test about upgrades, where there are any. */
const itUpgrades: (name: string, test: () => Promise<void>) => void = hasUpgrades ? it : () => undefined;

/** After a round trip, by which all that the server had to say has arrived. */
async function isSettled(client: LockClient, promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await client.service.inspect('/locks/round-trip');
  return settled;
}

describe('One holder, with one server,', () => {
  const stage = new LockStage();

  flakyLink(stage, 7_000);

  it('a waiter holds alone when the one in front is deleted between the list and the watch', async () => {
    const [holder, waiter] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key);
    const rule = waiter.onRequest({ opcode: ['getData', 'exists'], path: lock.nodePath, action: 'holdRequest' });
    const waiting = waiter.service.acquire(key);
    const watch = await within(5_000, 'the watch is on its way', rule.seen);

    await lock.release();
    await stage.untilQueueHas(key, 1);
    rule.release();

    const next = await within(5_000, 'the hand-over', waiting);
    expect(watch.reply?.errorCode).toBe(NO_NODE);
    expect(waiter.notifications()).toEqual([]);
    expect(next.isHeld()).toBe(true);
    await next.release();
  });

  itUpgrades(
    'when a holder becomes a writer: the readers inside leave first, others wait until it is done',
    async () => {
      const [upgrader, inside, later] = [await stage.open(), await stage.open(), await stage.open()];
      const key = stage.freshKey();
      const lock = await upgrader.service.acquire(key, { mode: 'upgradeable' });
      const readers = [
        await inside.service.acquire(key, { mode: 'read' }),
        await inside.service.acquire(key, { mode: 'read' }),
      ];
      const upgraded = lock.upgrade();
      await stage.untilQueueHas(key, 4);
      const reading = later.service.acquire(key, { mode: 'read' });
      await stage.untilQueueHas(key, 5);

      for (const reader of readers) {
        expect(lock.mode).toBe('upgradeable');
        expect(await isSettled(upgrader, upgraded)).toBe(false);
        await reader.release();
      }
      await within(5_000, 'the upgrade', upgraded);
      expect(lock.mode).toBe('write');
      expect(await isSettled(later, reading)).toBe(false);
      await lock.release();
      const next = await within(5_000, 'the reader', reading);
      await next.release();
    },
  );

  itUpgrades(
    'when a writer gives up in front of a reader while the holder becomes one: the reader was not inside, and waits',
    async () => {
      const [upgrader, writer, reader] = [await stage.open(), await stage.open(), await stage.open()];
      const key = stage.freshKey();
      const lock = await upgrader.service.acquire(key, { mode: 'upgradeable' });
      const abort = new AbortController();
      const writing = writer.service.acquire(key, { mode: 'write', signal: abort.signal });
      await stage.untilQueueHas(key, 2);
      const reading = reader.service.acquire(key, { mode: 'read' });
      await stage.untilQueueHas(key, 3);
      await lock.upgrade();
      await reader.untilAnswered(3);
      reader.resetCounts();

      abort.abort();
      await expect(writing).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
      // It looks again, and at the intent.
      await reader.untilAnswered(2);
      expect(await isSettled(reader, reading)).toBe(false);
      await lock.release();
      await (await within(5_000, 'the reader', reading)).release();
    },
  );

  it('the one behind a waiter in the middle that is deleted looks again and waits on', async () => {
    const [holder, middle, last] = [await stage.open(), await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key);
    const abort = new AbortController();
    const inTheMiddle = middle.service.acquire(key, { signal: abort.signal });
    await stage.untilQueueHas(key, 2);
    const waiting = last.service.acquire(key);
    await stage.untilQueueHas(key, 3);
    await last.untilAnswered(3);
    last.resetCounts();

    abort.abort();
    await expect(inTheMiddle).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    // The list, its own node, and the holder's.
    await last.untilAnswered(3);
    expect(lock.isHeld()).toBe(true);
    const isIn = await Promise.race([waiting.then(() => true), stage.untilQueueHas(key, 2).then(() => false)]);
    expect(isIn).toBe(false);

    await lock.release();
    const next = await within(5_000, 'the hand-over', waiting);
    await next.release();
  });
});

describe('One holder, with three servers,', () => {
  const stage = new LockStage(3, SOON_ELECTED);
  killedLeaders(stage, 3);
});

describe('One holder, with parents that are reaped every 50 ms:', () => {
  const stage = new LockStage(1, { containerCheckIntervalMs: 50 });

  it('whoever finds its parent gone makes it again, and nobody is told', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => stage.open()));
    const parent = stage.freshKey();
    // Rarely asked for, so that they stand empty in between.
    const keys = Array.from({ length: 12 }, (_, number) => `${parent}/shelf-${number % 3}/book-${number}`);
    const load = new Load(clients, { keys, holdMs: 1, pauseMs: 15 });
    const wasReaped = (): number =>
      clients
        .flatMap((client) => client.requests({ opcode: ['create', 'create2'] }))
        .filter(({ reply }) => reply?.errorCode === NO_NODE).length;
    while (wasReaped() < 20) await load.untilAllKeysGranted(3, 15_000);
    await load.stop();

    expect(load.violations).toEqual([]);
    expect(load.failures.map(String)).toEqual([]);
    expect(load.surprises).toEqual([]);
  });
});
