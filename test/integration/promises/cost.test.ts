import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS } from '../../support/locks/times.js';
import { untilPassed } from '../../support/locks/witness.js';

describe('Cost:', () => {
  const stage = new LockStage();

  it('an uncontended acquire is one round trip, create and list together, and a release one request', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    await (await client.service.acquire(key)).release();
    client.resetCounts();

    const lock = await client.service.acquire(key);
    expect(client.opcodes()).toEqual(['create2', 'getChildren2']);
    const [create, list] = client.requests();
    expect(list?.at).toBeLessThan(create?.reply?.at ?? 0);

    client.resetCounts();
    await lock.release();
    expect(client.opcodes()).toEqual(['delete']);
    expect(client.heartbeats()).toEqual([]);
  });

  it('a cold key puts its parents in front, in the same round trip', async () => {
    const client = await stage.open();
    client.resetCounts();
    const lock = await client.service.acquire(`${stage.freshKey()}/below`);
    expect(client.opcodes()).toEqual([
      'createContainer',
      'createContainer',
      'createContainer',
      'create2',
      'getChildren2',
    ]);
    expect(client.requests().at(-1)?.at).toBeLessThan(client.requests()[0]?.reply?.at ?? 0);
    await lock.release();
  });

  it('a tryAcquire of a busy key is one read batch and no write', async () => {
    const [holder, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key);
    other.resetCounts();

    expect(await other.service.tryAcquire(key)).toBeUndefined();

    expect(other.opcodes()).toEqual(['sync', 'getChildren2']);
    const [sync, list] = other.requests();
    expect(list?.at).toBeLessThan(sync?.reply?.at ?? 0);
    await lock.release();
  });

  it('a waiter costs one more batch, a decided hand-over one notification and no list', async () => {
    const [holder, waiter] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    await (await waiter.service.acquire(key)).release();
    const lock = await holder.service.acquire(key);
    waiter.resetCounts();

    const waiting = waiter.service.acquire(key);
    await stage.untilQueueHas(key, 2);
    await waiter.untilAnswered(4);
    // Its own node and the one ahead.
    expect(waiter.opcodes()).toEqual(['create2', 'getChildren2', 'getData', 'getData']);

    holder.resetCounts();
    waiter.resetCounts();
    await lock.release();
    const next = await waiting;
    expect(holder.opcodes()).toEqual(['delete']);
    expect(waiter.opcodes()).toEqual([]);
    expect(waiter.heartbeats()).toEqual([]);
    expect(waiter.notifications().map(({ type, path }) => ({ type, path }))).toEqual([
      { type: 'deleted', path: lock.nodePath },
    ]);
    await next.release();
  });

  it('a wait that was too long for certainty adds one proving write, and still no list', async () => {
    const [holder, waiter] = [await stage.open(), await stage.open({ sessionTimeoutMs: SESSION_MS })];
    const { lock, waiting } = await stage.contend(holder, waiter);
    await untilPassed(SESSION_MS);

    waiter.resetCounts();
    await lock.release();
    const next = await waiting;
    expect(next.isHeld()).toBe(true);
    expect(waiter.opcodes()).toEqual([]);
    expect(waiter.heartbeats().length).toBeGreaterThan(0);
    expect(waiter.notifications()).toHaveLength(1);
    await next.release();
  });
});
