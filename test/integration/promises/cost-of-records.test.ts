import { describe, expect, it } from '@jest/globals';
import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { LockStage } from '../../support/locks/lock-stage.js';

const ENTER: AcquireOptions = { onAbandoned: 'enter' };
/** As long as no test takes on any machine. */
const BUSY_MS = 600_000;

describe('Cost of the record of a key:', () => {
  const stage = new LockStage();

  /** What an acquire and its release ask for. */
  async function cycle(client: LockClient, key: string, options: AcquireOptions = {}): Promise<string[][]> {
    client.resetCounts();
    const lock = await client.service.acquire(key, options);
    const toEnter = client.opcodes();
    client.resetCounts();
    await lock.release();
    return [toEnter, client.opcodes()];
  }

  it('a key that uses none has none: no read, no write, and no child', async () => {
    const [client, other] = [await stage.open(), await stage.open()];
    const [key, beside] = [stage.freshKey(), stage.freshKey()];
    await cycle(other, beside, ENTER);
    await cycle(client, beside);
    const cold = ['createContainer', 'create2', 'getChildren2'];
    expect(await cycle(client, key)).toEqual([cold, ['delete']]);
    expect(await cycle(client, key)).toEqual([['create2', 'getChildren2', 'getData'], ['delete']]);
    // The one look that there was is the watch on the key.
    expect(await cycle(client, key)).toEqual([['create2'], ['delete']]);
    expect(await stage.keyNode(key)).toMatchObject({ dataLength: 0, version: 0, numChildren: 0 });
  });

  it('who asks for nothing pays nothing where others have used one, once they have released', async () => {
    const [client, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    await cycle(other, key, ENTER);
    await cycle(client, key);
    expect(await cycle(client, key)).toEqual([['create2', 'getChildren2', 'getData'], ['delete']]);
    expect(await cycle(client, key)).toEqual([['create2'], ['delete']]);
  });

  it.each<AcquireOptions>([ENTER, { onAbandoned: 'hold' }, { onAbandoned: 'recover', recover: () => undefined }])(
    'a hold with %p costs one read and one write more to enter, and none more to release',
    async (options) => {
      const client = await stage.open();
      const key = stage.freshKey();
      // The node that keeps the record goes with the parents, when the key is cold.
      const parents = ['createContainer', 'createContainer', 'create2'];
      const entry = ['create2', 'getChildren2', 'getData', 'multi'];
      expect(await cycle(client, key, options)).toEqual([[...parents, ...entry], ['multi']]);
      expect(await cycle(client, key, options)).toEqual([entry, ['multi']]);
      expect(await cycle(client, key, options)).toEqual([entry, ['multi']]);
    },
  );

  it('a hold with atLeastMs costs the same', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const [toEnter, toRelease] = await cycle(client, key, { atLeastMs: BUSY_MS });
    expect(toEnter?.slice(-4)).toEqual(['create2', 'getChildren2', 'getData', 'multi']);
    expect(toRelease).toEqual(['multi']);
  });

  it('a checkpoint is one write, and the release behind it stays one', async () => {
    const client = await stage.open();
    const lock = await client.service.acquire(stage.freshKey(), ENTER);
    for (const step of [1, 2]) {
      client.resetCounts();
      await lock.checkpoint({ step });
      expect(client.opcodes()).toEqual(['multi']);
    }
    client.resetCounts();
    await lock.release();
    expect(client.opcodes()).toEqual(['multi']);
  });

  it('a waiter is handed the lock by one notification, and reads and writes the record then', async () => {
    const [holder, waiter] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key, ENTER);
    const waiting = waiter.service.acquire(key, ENTER);
    await stage.untilQueueHas(key, 2);
    // The parents and the keeper, its create and the list, its own node and the one ahead.
    await waiter.untilAnswered(7);
    waiter.resetCounts();
    await lock.release();
    const next = await waiting;
    expect(waiter.opcodes()).toEqual(['getData', 'multi']);
    expect(waiter.notifications()).toHaveLength(1);
    await next.release();
  });

  it.each<[string, AcquireOptions, string[]]>([
    ['that uses it', { atLeastMs: BUSY_MS }, ['sync', 'getData', 'getChildren2']],
    ['that asks for nothing', {}, ['sync', 'getChildren2', 'sync', 'getData', 'getChildren2']],
  ])(
    'a try %s of a key that is busy by its last run makes a node, which says what time it is at the servers, and the next one only reads',
    async (_who, options, look) => {
      const [runner, client] = [await stage.open(), await stage.open()];
      const key = stage.freshKey();
      await cycle(client, key, ENTER);
      await cycle(runner, key, { atLeastMs: BUSY_MS });
      client.resetCounts();
      expect(await client.service.tryAcquire(key, options)).toBeUndefined();
      await client.untilAnswered(look.length + 4);
      expect(client.opcodes()).toEqual([...look, 'create2', 'getChildren2', 'getData', 'delete']);
      client.resetCounts();
      expect(await client.service.tryAcquire(key, options)).toBeUndefined();
      expect(client.opcodes().filter((one) => !look.includes(one))).toEqual([]);
    },
  );
});
