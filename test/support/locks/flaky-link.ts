import { expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { eventually } from '../process/eventually.js';
import type { LockStage } from './lock-stage.js';
import { untilPassed } from './witness.js';

const SESSION_MS = 4_000;
const PAIRS = 25;

/** Registers the test: a link that never lasts for longer than a third of S. */
export function flakyLink(stage: LockStage, forMs: number): void {
  it(
    `50 holders and waiters keep what they have while the link is cut every third of S for ${forMs / 1_000} s`,
    async () => {
      const options = { sessionTimeoutMs: SESSION_MS, waitMs: forMs + 30_000 };
      const [holder, waiter] = [await stage.open(options), await stage.open(options)];
      const keys = Array.from({ length: PAIRS }, () => stage.freshKey());
      const locks = await Promise.all(keys.map((key) => holder.service.acquire(key)));
      const waits = keys.map((key) => waiter.service.acquire(key));
      const places = await Promise.all(keys.map((key) => stage.untilQueueHas(key, 2)));
      for (const client of [holder, waiter]) client.resetCounts();

      const startedAt = performance.now();
      let cuts = 0;
      while (performance.now() - startedAt < forMs) {
        await untilPassed(SESSION_MS / 3);
        for (const client of [holder, waiter]) client.cut();
        cuts += 1;
      }
      for (const client of [holder, waiter]) await client.untilUp();
      await eventually('all is answered', () => {
        const requests = waiter.requests();
        const newest = requests.at(-1)?.connectionId;
        // A cut may have come before the answers, and then they never do.
        return requests.every(({ connectionId, reply }) => connectionId !== newest || reply !== undefined);
      });

      // No false loss, no orphan, every place kept.
      expect(holder.eventsOf('lost')).toEqual([]);
      expect(waiter.eventsOf('requeued')).toEqual([]);
      expect(locks.filter((lock) => !lock.isHeld())).toEqual([]);
      expect(await Promise.all(keys.map((key) => stage.queue(key)))).toEqual(places);
      // No herd: nobody is told of anything, and each waiter looks again and sets its watches once for each new link.
      expect(waiter.notifications()).toEqual([]);
      expect(waiter.requests({ opcode: ['getChildren', 'getChildren2'] }).length).toBeLessThanOrEqual(cuts * PAIRS);
      expect(waiter.requests().length).toBeLessThanOrEqual(cuts * PAIRS * 4);
      expect(waiter.requests({ opcode: ['create', 'create2', 'delete'] })).toEqual([]);
      expect(waiter.connections()).toBeLessThanOrEqual(2 * cuts);

      await Promise.all(locks.map((lock) => lock.release()));
      const next = await Promise.all(waits);
      expect(next.map((lock) => lock.nodePath)).toEqual(places.map(([, second], at) => `${keys[at]}/${second}`));
      await Promise.all(next.map((lock) => lock.release()));
    },
    forMs + 60_000,
  );
}
