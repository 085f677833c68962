import { expect, it } from '@jest/globals';
import { releaseMark } from '../../../lib/queue/node-name.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { eventually, within } from '../process/eventually.js';
import type { LockClient } from './lock-client.js';
import type { LockStage } from './lock-stage.js';
import { Witness } from './witness.js';

export interface Crowd {
  readonly clients: number;
  readonly waiters: number;
  readonly withinMs: number;
}

/** Registers the tests of a long queue: who is served when, and who hears of it. */
export function queueOfManyWaiters(stage: LockStage, { clients: count, waiters, withinMs }: Crowd): void {
  const testMs = withinMs + 30_000;

  it(
    `${waiters} waiters are served in turn; each hand-over is told to the one it lets in, and to nobody else`,
    async () => {
      const clients = await openAll(stage, count);
      const key = stage.freshKey();
      const first = await clients[0]!.service.acquire(key);
      const witness = new Witness();
      witness.enter('the first', first);

      const served: string[] = [];
      const owners = new Map<string, LockClient>();
      const clientAt = new Map([[first.nodePath, clients[0]]]);
      const all = Array.from({ length: waiters }, async (_, number) => {
        const client = clients[number % count]!;
        owners.set(`waiter ${number}`, client);
        const lock = await client.service.acquire(key, { waitMs: withinMs });
        witness.enter(`waiter ${number}`, lock);
        clientAt.set(lock.nodePath, client);
        served.push(lock.nodePath);
        witness.leave(lock);
        await lock.release();
      });
      const places = (await stage.untilQueueHas(key, waiters + 1, withinMs)).map((name) => `${key}/${name}`);
      await untilQuiet(clients);
      for (const client of clients) client.resetCounts();

      witness.leave(first);
      await first.release();
      await within(withinMs, 'the queue drains', Promise.all(all));

      expect(witness.violations).toEqual([]);
      // In the order of the servers' own numbers.
      expect(served).toEqual(places.slice(1));
      for (const client of clients) {
        const mine = witness.grants.slice(1).filter(({ who }) => owners.get(who) === client);
        const inFront = mine
          .map(({ lock }) => places[places.indexOf(lock.nodePath) - 1]!)
          .filter((path) => clientAt.get(path) !== client);
        // Told by the deletion of the one in front, which nobody else watches, unless it was of the same process.
        const told = client.notifications().map(({ type, path }) => `${type} ${path}`);
        expect(told.filter((event) => !event.startsWith('created')).sort()).toEqual(
          inFront.map((path) => `deleted ${path}`).sort(),
        );
        // In the same transaction a holder that had waited itself says that it was the holder.
        const marks = inFront.map((path) => `created ${releaseMark(path)}`);
        expect(marks).toEqual(expect.arrayContaining(told.filter((event) => event.startsWith('created'))));
        // Whoever had more than one ahead looks again, once.
        expect(client.requests({ opcode: ['getChildren', 'getChildren2'] }).length).toBeLessThanOrEqual(inFront.length);
      }
    },
    testMs,
  );

  it('one that gives up in the middle is told to the one behind it only, who waits on', async () => {
    const clients = await openAll(stage, 5);
    const key = stage.freshKey();
    const abort = new AbortController();
    const locks: Promise<LockHandle>[] = [];
    for (const [number, client] of clients.entries()) {
      locks.push(client.service.acquire(key, number === 2 ? { signal: abort.signal } : {}));
      await stage.untilQueueHas(key, number + 1);
    }
    const [first, second, third, fourth, fifth] = locks as [Promise<LockHandle>, ...Promise<LockHandle>[]];
    await untilQuiet(clients);
    for (const client of clients) client.resetCounts();

    abort.abort();
    await expect(third).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await eventually('the one behind it has been told', () => clients[3]!.notifications().length === 1);
    await untilQuiet(clients);
    expect(clients.map((client) => client.notifications().length)).toEqual([0, 0, 0, 1, 0]);
    for (const lock of [first, second!, fourth!, fifth!]) await (await within(withinMs, 'its turn', lock)).release();
  });

  it('a writer that leaves lets in all readers behind it, and not the writer behind them', async () => {
    const clients = await openAll(stage, 5);
    const key = stage.freshKey();
    const modes = ['write', 'read', 'read', 'write', 'read'] as const;
    const locks: Promise<LockHandle>[] = [];
    for (const [number, mode] of modes.entries()) {
      locks.push(clients[number]!.service.acquire(key, { mode }));
      await stage.untilQueueHas(key, number + 1);
    }
    await untilQuiet(clients);
    for (const client of clients) client.resetCounts();

    await (await locks[0]!).release();
    const readers = await Promise.all([locks[1]!, locks[2]!]);
    expect(clients.map((client) => client.notifications().length)).toEqual([0, 1, 1, 0, 0]);
    for (const reader of readers) await reader.release();
    const writer = await locks[3]!;
    expect(clients[4]!.notifications()).toHaveLength(0);
    await writer.release();
    await (await locks[4]!).release();
  });
}

function openAll(stage: LockStage, count: number): Promise<LockClient[]> {
  return Promise.all(Array.from({ length: count }, () => stage.open()));
}

/** Everybody has set its watches and waits. */
async function untilQuiet(clients: readonly LockClient[]): Promise<void> {
  await eventually('nothing is unanswered', async () => {
    const before = clients.map((client) => client.requests().length);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return clients.every((client, number) => {
      const requests = client.requests();
      return requests.length === before[number] && requests.every(({ reply }) => reply !== undefined);
    });
  });
}
