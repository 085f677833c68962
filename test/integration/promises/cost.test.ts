import { describe, expect, it } from '@jest/globals';
import { releaseMark } from '../../../lib/queue/node-name.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS } from '../../support/locks/times.js';
import { untilPassed } from '../../support/locks/witness.js';
import type { LoggedRequest } from '../../support/proxy/traffic-log.js';

describe('Cost:', () => {
  const stage = new LockStage();

  async function use(client: LockClient, key: string): Promise<void> {
    await (await client.service.acquire(key)).release();
  }

  /** What an acquire asks for, where nobody else is in the way. */
  async function acquired(client: LockClient, key: string): Promise<LoggedRequest[]> {
    client.resetCounts();
    const lock = await client.service.acquire(key);
    const requests = client.requests();
    client.resetCounts();
    await lock.release();
    expect([client.opcodes(), client.heartbeats()]).toEqual([['delete'], []]);
    return requests;
  }

  function opcodesOf(requests: readonly LoggedRequest[]): string[] {
    return requests.map(({ opcode }) => opcode);
  }

  /** Whether all were sent before the first was answered. */
  function areTogether(requests: readonly LoggedRequest[]): boolean {
    return requests.every(({ at }) => at < (requests[0]?.reply?.at ?? 0));
  }

  it('an uncontended acquire is one round trip, create and list together, and a release one request', async () => {
    const [client, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    await use(other, key);
    // This process does not know of another key that its parents are there.
    await use(client, `${key}-beside`);
    const first = await acquired(client, key);
    expect(opcodesOf(first)).toEqual(['createContainer', 'create2', 'getChildren2']);
    expect(areTogether(first)).toBe(true);
  });

  it('the second use of a key watches it as well, and from the third on there is the create alone', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    await use(client, key);
    const second = await acquired(client, key);
    expect(opcodesOf(second)).toEqual(['create2', 'getChildren2', 'getData']);
    expect(second.at(-1)?.path).toBe(key);
    expect(areTogether(second)).toBe(true);
    for (let more = 0; more < 5; more += 1) expect(opcodesOf(await acquired(client, key))).toEqual(['create2']);
  });

  it('somebody else at the key costs one list behind the create, and the next list goes with it', async () => {
    const [client, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    for (let times = 0; times < 3; times += 1) await use(client, key);
    await use(other, key);
    const next = await acquired(client, key);
    expect([opcodesOf(next), areTogether(next)]).toEqual([['create2', 'getChildren2'], false]);
    const second = await acquired(client, key);
    expect([opcodesOf(second), areTogether(second)]).toEqual([['create2', 'getChildren2'], true]);
    expect(opcodesOf(await acquired(client, key))).toEqual(['create2']);
  });

  it('a key that was removed is made again, and begins with its first use', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    for (let times = 0; times < 3; times += 1) await use(client, key);
    await stage.deleteNode(key);
    // The answer comes behind the event that tells of the removal.
    await client.service.inspect(key);
    client.resetCounts();
    await use(client, key);
    expect(client.opcodes().filter((opcode) => opcode !== 'delete')).toEqual([
      // Its parents were there a moment ago.
      'create2',
      'getChildren2',
      'getData',
      'createContainer',
      'createContainer',
      'create2',
      'getChildren2',
    ]);
    expect(opcodesOf(await acquired(client, key))).toEqual(['create2', 'getChildren2', 'getData']);
    expect(opcodesOf(await acquired(client, key))).toEqual(['create2']);
  });

  it('a hand-over inside a process costs the transaction that removes the node, and no round trip', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    for (let times = 0; times < 3; times += 1) await use(client, key);
    const lock = await client.service.acquire(key);
    client.resetCounts();
    const waiting = client.service.acquire(key);
    await client.untilAnswered(1);
    expect(client.opcodes()).toEqual(['create2']);

    // Its answer comes behind that to the create.
    await client.service.inspect(key);
    client.resetCounts();
    const removal = client.onRequest({ opcode: 'multi', action: 'holdRequest' });
    const released = lock.release();
    const next = await waiting;
    expect(next.isHeld()).toBe(true);
    await removal.seen;
    removal.release();
    await released;
    expect([client.opcodes(), client.notifications()]).toEqual([['multi'], []]);
    await next.release();
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

  it('a tryAcquire of a free key looks first, and lists again with its create', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    await use(client, key);
    client.resetCounts();
    const lock = await client.service.tryAcquire(key);
    expect(client.opcodes()).toEqual(['sync', 'getChildren2', 'create2', 'getChildren2', 'getData']);
    await lock?.release();
  });

  it('a tryAcquire of a key that this process holds asks for nothing', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const lock = await client.service.acquire(key);
    client.resetCounts();
    expect(await client.service.tryAcquire(key)).toBeUndefined();
    expect(client.opcodes()).toEqual([]);
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
    await waiter.untilAnswered(5);
    // The key, as this is the second time; its own node and the one ahead.
    const own = `${key}/${(await stage.queue(key)).at(-1)}`;
    expect(waiter.opcodes()).toEqual(['create2', 'getChildren2', 'getData', 'getData', 'getData']);
    expect(waiter.requests({ opcode: 'getData' }).map(({ path }) => path)).toEqual([key, own, lock.nodePath]);

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

  it('a hand-over between processes costs no list either where several were ahead, as the holder says that it was the holder', async () => {
    const [first, second, third] = [await stage.open(), await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await first.service.acquire(key);
    const secondWaits = second.service.acquire(key);
    await stage.untilQueueHas(key, 2);
    const thirdWaits = third.service.acquire(key);
    await stage.untilQueueHas(key, 3);
    // Behind the parents, its create and the list: its own node, the mark and the node ahead.
    await third.untilAnswered(7);
    expect(third.opcodes().slice(2)).toEqual(['create2', 'getChildren2', 'getData', 'exists', 'getData']);
    await lock.release();
    const next = await secondWaits;

    second.resetCounts();
    third.resetCounts();
    await next.release();
    const last = await thirdWaits;
    expect(second.opcodes()).toEqual(['removeWatches', 'multi']);
    expect(third.opcodes()).toEqual([]);
    expect(third.notifications().map(({ type, path }) => ({ type, path }))).toEqual([
      { type: 'created', path: releaseMark(next.nodePath) },
      { type: 'deleted', path: next.nodePath },
    ]);
    await last.release();
  });

  it('a writer behind several readers watches for no mark, as readers leave none', async () => {
    const [reader, writer] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const read = [
      await reader.service.acquire(key, { mode: 'read' }),
      await reader.service.acquire(key, { mode: 'read' }),
    ];
    const writes = writer.service.acquire(key, { mode: 'write' });
    // Behind the parents, its create and the list: the nearest reader.
    await writer.untilAnswered(5);
    expect(writer.opcodes().slice(2)).toEqual(['create2', 'getChildren2', 'getData']);
    for (const lock of read) await lock.release();
    await (await writes).release();
  });

  it('a waiter looks again where one ahead of it gives up that did not hold', async () => {
    const [holder, other, waiter] = [await stage.open(), await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key);
    const givesUp = new AbortController();
    const given = other.service.acquire(key, { signal: givesUp.signal });
    await stage.untilQueueHas(key, 2);
    const waiting = waiter.service.acquire(key);
    await stage.untilQueueHas(key, 3);
    await waiter.untilAnswered(7);

    waiter.resetCounts();
    givesUp.abort();
    await expect(given).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await waiter.untilAnswered(3);
    // It takes the watch for the mark back, looks, and watches the holder.
    expect(waiter.opcodes()).toEqual(['removeWatches', 'getChildren2', 'getData']);
    await lock.release();
    await (await waiting).release();
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
