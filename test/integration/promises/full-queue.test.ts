import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { errorCode } from '../../support/process/error-code.js';

describe('A queue that is full', () => {
  const stage = new LockStage();

  it('costs a call with maxWaiting one read batch and no write, and nothing at all where its own process fills it', async () => {
    const [holder, other] = [await stage.open(), await stage.open()];
    const { key, lock, waiting } = await stage.contend(holder, holder);
    other.resetCounts();

    await expect(other.service.acquire(key, { maxWaiting: 1 })).rejects.toMatchObject({ code: 'LOCK_QUEUE_FULL' });

    expect(other.opcodes()).toEqual(['sync', 'getChildren2']);
    const [sync, list] = other.requests();
    expect(list?.at).toBeLessThan(sync?.reply?.at ?? 0);
    holder.resetCounts();
    await expect(holder.service.acquire(key, { maxWaiting: 1 })).rejects.toMatchObject({ code: 'LOCK_QUEUE_FULL' });
    expect(holder.opcodes()).toEqual([]);
    expect(await stage.queue(key)).toHaveLength(2);
    await lock.release();
    await (await waiting).release();
  });

  it('costs one read batch more, where it has a place left, than a call without the bound, which costs what it did', async () => {
    const [client, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await other.service.acquire(key);
    client.resetCounts();
    const bounded = client.service.acquire(key, { maxWaiting: 1 });
    await stage.untilQueueHas(key, 2);
    await client.untilWatching(2);
    const parents = ['createContainer', 'createContainer'];
    const waits = [...parents, 'create2', 'getChildren2', 'getData', 'getData'];
    expect(client.opcodes()).toEqual(['sync', 'getChildren2', ...waits]);
    await lock.release();
    await (await bounded).release();

    const [fresh, beside] = [stage.freshKey(), await stage.open()];
    const held = await other.service.acquire(fresh);
    beside.resetCounts();
    const unbounded = beside.service.acquire(fresh);
    await stage.untilQueueHas(fresh, 2);
    await beside.untilWatching(2);
    expect(beside.opcodes()).toEqual(waits);
    await held.release();
    await (await unbounded).release();
  });

  it('lets in no more of one process than may wait, however many ask in one turn', async () => {
    const [holder, client] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key);
    client.resetCounts();
    const calls = Array.from({ length: 1_000 }, () => client.service.acquire(key, { maxWaiting: 5 }));
    const outcomes = Promise.all(calls.slice(5).map((call) => call.then(() => 'held', errorCode)));
    await stage.untilQueueHas(key, 6);
    expect(new Set(await outcomes)).toEqual(new Set(['LOCK_QUEUE_FULL']));
    expect(client.requests({ opcode: 'create2' })).toHaveLength(5);
    await lock.release();
    for (const call of calls.slice(0, 5)) await (await call).release();
  });
});
