import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { LockStage } from '../../support/locks/lock-stage.js';
import { noteAbort } from '../../support/locks/witness.js';
import { eventually, within } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';

/** What the specification gives it. */
const NOTICED_MS = 1_000;

describe('A node that an operator removes', () => {
  const stage = new LockStage();

  it.each(['that never waited, as soon as it holds', 'that never waited, and holds for a while', 'that has waited'])(
    'is noticed within a second by a holder %s',
    async (which) => {
      const [client, other] = [await stage.open(), await stage.open()];
      const key = stage.freshKey();
      const before = which === 'that has waited' ? await other.service.acquire(key) : undefined;
      const taking = client.service.acquire(key);
      if (before !== undefined) {
        await stage.untilQueueHas(key, 2);
        await before.release();
      }
      const lock = await taking;
      const abort = noteAbort(lock);
      if (which.includes('for a while')) await eventually('it is watched', async () => (await stage.watchCount()) > 0);
      const waiting = other.service.acquire(key);
      await stage.untilQueueHas(key, 2);

      using stalls = Stalls.watch();
      const removedAt = performance.now();
      await stage.deleteNode(lock.nodePath);
      await eventually('the loss is told', () => abort.at !== undefined);

      expect((abort.at ?? Infinity) - removedAt).toBeLessThan(NOTICED_MS + stalls.totalMs);
      expect(lock.isHeld()).toBe(false);
      expect(client.eventsOf('lost')).toMatchObject([{ reason: 'removed' }]);
      const next = await waiting;
      expect(next.isHeld()).toBe(true);
      await next.release();
      await lock.release();
    },
  );

  it('is noticed although the link was away when it was removed', async () => {
    const client = await stage.open();
    const lock = await client.service.acquire(stage.freshKey());
    await eventually('it is watched', async () => (await stage.watchCount()) > 0);
    await client.refuse();
    await stage.deleteNode(lock.nodePath);
    await client.pass();
    await eventually('the loss is told', () => !lock.isHeld());
    expect(client.eventsOf('lost')).toMatchObject([{ reason: 'removed' }]);
  });

  it('is noticed within a second by a waiter who is next: it queues again, and nobody has to let go first', async () => {
    const [holder, client] = [await stage.open(), await stage.open()];
    const { key, lock, waiting, place } = await stage.contend(holder, client);
    await client.untilWatching(2);

    using stalls = Stalls.watch();
    const removedAt = performance.now();
    await stage.deleteNode(`${key}/${place}`);
    await eventually('it is told', () => client.eventsOf('requeued').length === 1, { everyMs: 5 });
    expect(performance.now() - removedAt).toBeLessThan(NOTICED_MS + stalls.totalMs);
    const [, newPlace] = await stage.untilQueueHas(key, 2);
    expect(newPlace).not.toBe(place);
    expect(lock.isHeld()).toBe(true);
    await lock.release();
    const next = await waiting;
    expect(next.nodePath).toBe(`${key}/${newPlace}`);
    await next.release();
  });

  it('is noticed by a waiter further behind: it goes to the end of the queue', async () => {
    const [holder, client, other] = [await stage.open(), await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key);
    const second = other.service.acquire(key);
    await stage.untilQueueHas(key, 2);
    const waiting = client.service.acquire(key);
    await stage.untilQueueHas(key, 3);
    const fourth = other.service.acquire(key);
    const [, , place, lastPlace] = await stage.untilQueueHas(key, 4);

    await stage.deleteNode(`${key}/${place}`);
    const requeued = await eventually('it stands at the end', async () => {
      const names = await stage.queue(key);
      return names[2] === lastPlace ? names[3] : undefined;
    });
    await lock.release();
    await (await within(5_000, 'the second', second)).release();
    const next = await within(5_000, 'the fourth', fourth);
    expect(client.eventsOf('requeued')).toMatchObject([{ reason: 'removed' }]);
    await next.release();
    const last = await within(5_000, 'the hand-over', waiting);
    expect(last.nodePath).toBe(`${key}/${requeued}`);
    expect(last.fencingToken).toBeGreaterThan(next.fencingToken);
    await last.release();
  });
});
