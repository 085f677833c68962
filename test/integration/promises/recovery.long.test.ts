import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { killHolder } from '../../support/locks/kill-holder.js';

/** The longest sessions that such servers grant: a quorum that comes back at once is away for a part of that. */
const TICK_MS = 2_000;
const LONG_MS = 20 * TICK_MS;

describe('Of a holder that vanished inside the next one is told, with three servers,', () => {
  const stage = new LockStage(3, { tickTimeMs: TICK_MS });
  const open = (): ReturnType<LockStage['open']> => stage.open({ sessionTimeoutMs: LONG_MS, serverTickMs: TICK_MS });

  it.each(['while the quorum was away', 'when it was back'])(
    'nobody is told where a quorum was away for less than S under a hold that was released %s',
    async (when) => {
      const [client, next] = [await open(), await open()];
      const key = stage.freshKey();
      const lock = await client.service.acquire(key, { onAbandoned: 'enter' });
      const followers = await stage.ensemble.followers();
      await Promise.all(followers.map((server) => server.kill()));
      await client.untilState((state) => state === 'suspended');
      if (when === 'while the quorum was away') await lock.release();
      await Promise.all(followers.map((server) => server.start()));
      await stage.ensemble.waitForQuorum({ withinMs: 60_000 });
      await client.untilUp(60_000);
      await lock.release();
      await next.untilUp(60_000);
      await stage.untilQueueHas(key, 0);
      const granted = await next.service.acquire(key, { onAbandoned: 'enter' });
      // Where the machine is so slow that the lock was lost before the link was back, it is told of that.
      expect(granted.abandoned?.token).toBe(client.eventsOf('lost')[0]?.token);
      await granted.release();
    },
    120_000,
  );

  it('the next one is told over the death of the leader that knew of it, and of the whole ensemble', async () => {
    const next = await open();
    const key = stage.freshKey();
    const token = await killHolder(stage.connect, key, { onAbandoned: 'hold' }, TICK_MS);
    await stage.untilQueueHas(key, 0);
    await (await stage.ensemble.leader()).restart();
    await stage.ensemble.waitForQuorum({ withinMs: 60_000 });
    await next.untilUp(60_000);
    await expect(next.service.acquire(key)).rejects.toMatchObject({ code: 'LOCK_ABANDONED', abandoned: { token } });
    await Promise.all(stage.servers.map((server) => server.restart()));
    await stage.ensemble.waitForQuorum({ withinMs: 60_000 });
    await next.untilUp(60_000);
    await expect(next.service.acquire(key)).rejects.toMatchObject({ code: 'LOCK_ABANDONED', abandoned: { token } });
  }, 120_000);
});
