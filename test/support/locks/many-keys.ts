import { expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { eventually } from '../process/eventually.js';
import type { LockStage } from './lock-stage.js';
import { untilPassed } from './witness.js';

/** Over how many times S the heartbeats are counted. */
const TIMES_S = 1;

/** Registers the test: one process holds very many keys. */
export function manyKeys(stage: LockStage, count: number, sessionMs: number): void {
  it(`${count} keys are held over one connection, at the cost of one small write every S/4 for all of them`, async () => {
    const client = await stage.open({ sessionTimeoutMs: sessionMs, waitMs: 60_000 });
    const folder = stage.freshKey();
    const keys = Array.from({ length: count }, (_, number) => `${folder}/${number}`);
    const locks = await Promise.all(keys.map((key) => client.service.acquire(key)));
    expect(new Set(locks.map((lock) => lock.fencingToken)).size).toBe(count);
    // Every one of them has been held for long enough to watch its own node.
    await eventually('all nodes are watched', async () => (await stage.watchCount()) === count, {
      explain: () => `${client.eventsOf('lost').length} were lost; the link is ${client.service.connectionState}`,
    });

    client.resetCounts();
    const startedAt = performance.now();
    await untilPassed(TIMES_S * sessionMs, startedAt);
    const heartbeats = client.heartbeats();
    const writes = heartbeats.filter(({ opcode }) => opcode !== 'sync');
    expect(writes.length).toBeGreaterThanOrEqual(2 * TIMES_S);
    expect(writes.length).toBeLessThanOrEqual(4 * TIMES_S + 2);
    // Each is vouched for by one sync, which costs no quorum anything; that of the last before may come in here.
    expect(heartbeats.length - writes.length).toBeLessThanOrEqual(writes.length + 1);
    expect(client.requests()).toEqual([]);
    expect(locks.filter((lock) => !lock.isHeld())).toEqual([]);

    await Promise.all(locks.map((lock) => lock.release()));
    expect(client.proxy.openConnections).toBe(1);
    expect(client.eventsOf('lost')).toEqual([]);
    await stage.untilNothingIsLeft();
    client.resetCounts();
    await untilPassed(sessionMs / 2);
    // A session that holds nothing writes nothing.
    expect(client.heartbeats()).toEqual([]);
  }, 120_000);
}
