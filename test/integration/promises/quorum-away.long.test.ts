import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { LockStage } from '../../support/locks/lock-stage.js';
import { untilPassed } from '../../support/locks/witness.js';

const SESSION_MS = 40_000;
const TICK_MS = 2_000;

describe('A quorum that is away', () => {
  const stage = new LockStage(3, { tickTimeMs: TICK_MS });

  it('costs no lock where it lasts longer than is certain of a session that was offered in vain: nobody is offered it', async () => {
    const client = await stage.open({ sessionTimeoutMs: SESSION_MS, serverTickMs: TICK_MS });
    const lock = await client.service.acquire(stage.freshKey());
    const followers = await stage.ensemble.followers();
    await Promise.all(followers.map((server) => server.kill()));
    await untilPassed(3 * TICK_MS, performance.now());
    expect(client.eventsOf('lost')).toEqual([]);
    expect(lock.isHeld()).toBe(true);

    await Promise.all(followers.map((server) => server.start()));
    await stage.ensemble.waitForQuorum({ withinMs: 60_000 });
    await client.untilUp();
    await lock.release();
  }, 120_000);
});
