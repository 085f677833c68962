import { expect, it } from '@jest/globals';
import { RECORD_KEEPER } from '../../lib/queue/reserved-names.js';
import { killHolder } from '../support/locks/kill-holder.js';
import { judge } from '../support/neighbours/judge.js';
import type { Neighbour } from '../support/neighbours/neighbour.js';
import type { InteropWorld } from './interop-world.js';

/** Registers what a client of another make meets where we keep a record of a key, which it knows nothing of. */
export function neighbourOfRecords(place: () => { readonly world: InteropWorld; readonly neighbour: Neighbour }): void {
  it.each([
    ['exclusive', 'exclusive'],
    ['write', 'write'],
    ['read', 'write'],
  ] as const)(
    'the node that keeps the record of a key is in no way of its %s lock, nor is that a vanished holder to our %s lock',
    async (theirMode, mode) => {
      const { world, neighbour } = place();
      const key = `/with-record/${theirMode}`;
      const ours = await world.locks.acquire(key, { mode, onAbandoned: 'hold' });
      world.journal.enter(ours);
      expect(await world.childrenOf(key)).toContain(RECORD_KEEPER);
      const theirs = neighbour.hold(theirMode, key);
      await world.queueOf(2, key);
      await world.release(ours);
      await theirs.held;
      const waiting = world.locks.acquire(key, { mode, onAbandoned: 'hold' });
      await world.queueOf(2, key);
      await theirs.release();
      const next = await waiting;
      world.journal.enter(next);
      expect(next.abandoned).toBeUndefined();
      await world.release(next);

      expect(judge(world.journal.of(key))).toMatchObject({ violations: [] });
    },
  );

  it('what a holder of ours left that vanished keeps us out, and not the neighbour, which knows of no record', async () => {
    const { world, neighbour } = place();
    const key = '/vanished';
    const token = await killHolder(world.server.connect, key, { onAbandoned: 'hold' });
    const theirs = neighbour.hold('exclusive', key);
    await theirs.held;
    await theirs.release();
    await expect(world.locks.acquire(key)).rejects.toMatchObject({ code: 'LOCK_ABANDONED', abandoned: { token } });
    await world.queueOf(0, key);
  });
}
