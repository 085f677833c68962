import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { LockStage } from '../../support/locks/lock-stage.js';
import { untilPassed } from '../../support/locks/witness.js';

/** So much that no start of a server, however slow the machine, takes it all; ticks so long that nor does an answer. */
const SESSION_MS = 60_000;
const TICK_MS = 5_000;

describe('A quorum that is away', () => {
  const stage = new LockStage(3, { tickTimeMs: TICK_MS });

  it('for longer than is certain of a session that was offered in vain costs no lock: nobody is offered it', async () => {
    const client = await stage.open({ sessionTimeoutMs: SESSION_MS, serverTickMs: TICK_MS });
    const lock = await client.service.acquire(stage.freshKey());
    const followers = await stage.ensemble.followers();
    await Promise.all(followers.map((server) => server.kill()));
    await untilPassed(2.5 * TICK_MS, performance.now());
    await Promise.all(followers.map((server) => server.start()));
    await stage.ensemble.waitForQuorum();
    await client.untilUp();
    await lock.whenSure();
    expect(lock.isHeld()).toBe(true);
    expect(client.eventsOf('lost')).toEqual([]);
    await lock.release();
  }, 90_000);
});
