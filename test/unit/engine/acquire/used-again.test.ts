import { describe, expect, it } from '@jest/globals';
import type { LockMode } from '../../../../lib/lock/mode.js';
import { isUp } from '../../../../lib/session/connection-state.js';
import { create, remove, set } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { type Client, EngineWorld, rejection } from '../support/engine-world.js';
import { useEngine } from '../support/use-engine.js';
import { RefusingDialer, THROTTLED } from '../support/refusing-dialer.js';

const KEY = '/locks/a';
const NOBODY = new Uint8Array(0);

describe('a key that one process uses again and again', () => {
  const { engine, one, other } = useEngine('one', 'other');

  async function use(client: Client, times: number, mode: LockMode = 'exclusive'): Promise<void> {
    for (let count = 0; count < times; count += 1) {
      const lock = await engine.settle(client.locks.acquire(KEY, { mode }));
      await engine.settle(lock.release());
    }
  }

  /** How many requests of each kind that takes. */
  async function requestsOf(work: () => Promise<void>): Promise<{ lists: number; gets: number; creates: number }> {
    const { traffic } = engine.world.ensemble;
    const count = () => ({
      lists: traffic.requests('list'),
      gets: traffic.requests('get'),
      creates: traffic.requests('create'),
    });
    const before = count();
    await work();
    const after = count();
    return {
      lists: after.lists - before.lists,
      gets: after.gets - before.gets,
      creates: after.creates - before.creates,
    };
  }

  it('is listed at the first use and the second, is watched from the second on, and needs neither from the third on', async () => {
    await use(other, 1);
    expect(await requestsOf(() => use(one, 1))).toMatchObject({ lists: 1, gets: 0 });
    expect(await requestsOf(() => use(one, 1))).toEqual({ lists: 1, gets: 1, creates: 1 });
    expect(await requestsOf(() => use(one, 20))).toEqual({ lists: 0, gets: 0, creates: 20 });
  });

  it('is listed now and then, so that what has left it need not be remembered for ever', async () => {
    await use(one, 3);
    const { lists, gets } = await requestsOf(() => use(one, 1_000));
    expect(lists).toBeGreaterThan(4);
    expect(lists).toBeLessThan(20);
    expect(gets).toBe(0);
  });

  it('is listed again after somebody else has come and gone, and after a node that is no contender', async () => {
    await use(one, 3);
    await use(other, 1);
    expect((await requestsOf(() => use(one, 1))).lists).toBe(1);
    await use(one, 1);
    await engine.settle(replyTo(other.session, create(`${KEY}/nested`, 'persistent', NOBODY)));
    expect((await requestsOf(() => use(one, 1))).lists).toBe(1);
    await engine.settle(replyTo(other.session, remove(`${KEY}/nested`)));
  });

  it('is listed again after somebody has written to it, and watched again', async () => {
    await use(one, 4);
    await engine.settle(replyTo(other.session, set(KEY, Buffer.from('{}'))));
    await engine.runFor(100);
    expect(await requestsOf(() => use(one, 1))).toEqual({ lists: 1, gets: 1, creates: 1 });
  });

  it('is listed again where a contender of its own has taken a number and left before it had its place', async () => {
    await use(one, 4);
    const abort = new AbortController();
    const aborted = rejection(one.locks.acquire(KEY, { signal: abort.signal }));
    await engine.runFor(0.1);
    abort.abort(new Error('changed its mind'));
    await engine.settle(aborted);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    expect((await requestsOf(() => use(one, 1))).lists).toBeGreaterThan(0);
  });

  it('is listed again in a new session, whose contenders do not know those of the last one', async () => {
    await use(one, 4);
    const { identity } = one.session;
    engine.faults.expire(identity!.id);
    await engine.runUntil(() => isUp(one.session.state) && one.session.identity !== identity);
    expect((await requestsOf(() => use(one, 1))).lists).toBe(1);
  });

  it('is listed each time where it remembers who was inside', async () => {
    const careful = await engine.client('careful', { lockDelayMs: 1 });
    await use(careful, 3);
    expect((await requestsOf(() => use(careful, 3))).lists).toBeGreaterThanOrEqual(3);
  });

  it('is not watched where it is to remember who is inside: whoever writes that down would tell this process each time', async () => {
    await use(one, 1);
    const lock = await engine.settle(other.locks.acquire(KEY, { onAbandoned: 'enter' }));
    const before = engine.world.watchCount;
    const waiting = [one.locks.acquire(KEY, { onAbandoned: 'enter' }), one.locks.acquire(KEY)];
    await engine.runFor(100);
    // On the node of the one in front of them, and on that of the first of them.
    expect(engine.world.watchCount - before).toBe(2);
    await engine.settle(lock.release());
    for (const each of waiting) await engine.settle((await engine.settle(each)).release());
  });

  it('is waited for behind a lock of its own that was lost, until the node of that is gone', async () => {
    await use(one, 4);
    const lost = await engine.settle(one.locks.acquire(KEY, { leaseMs: 50 }));
    // The removal of its node does not arrive.
    const removal = engine.faults.loseNextRequest(one.process, 'delete');
    await engine.runFor(60);
    expect(lost.isHeld()).toBe(false);
    const next = await engine.settle(one.locks.acquire(KEY));
    expect(removal.hasHappened).toBe(true);
    expect(engine.queue(KEY)).toEqual([next.nodePath.slice(KEY.length + 1)]);
    await engine.settle(next.release());
  });

  it('keeps a process out that follows the numbers of before, when it was removed and made again by another', async () => {
    await use(one, 4);
    engine.faults.reapContainers();
    await engine.runUntil(() => engine.world.stat(KEY) === undefined);
    await use(other, 3);
    const held = await engine.settle(other.locks.acquire(KEY));
    one.events.length = 0;
    const waiting = one.locks.acquire(KEY);
    await engine.runFor(100);
    expect([engine.queue(KEY).length, one.events]).toEqual([2, []]);
    await engine.settle(held.release());
    await engine.settle((await engine.settle(waiting)).release());
  });

  it('is forgotten two seconds later, with the watch on it', async () => {
    await use(one, 4);
    expect(engine.world.watchCount).toBe(1);
    await engine.runFor(2_100);
    expect(engine.world.watchCount).toBe(0);
  });
});

describe('a reader that was let in behind a neighbour', () => {
  it('is waited for by an upgrader of its process, though the node of the neighbour is still there', async () => {
    const engine = new EngineWorld();
    const process = engine.world.process('one');
    const dialer = new RefusingDialer(process.dialer(), THROTTLED);
    process.dialer = () => dialer;
    const one = await engine.client('one');
    const first = await engine.settle(one.locks.acquire(KEY));
    const reading = one.locks.acquire(KEY, { mode: 'read' });
    await engine.runFor(100);
    // The server is too busy for the transaction that removes the node of the first.
    dialer.refused.add('multi');
    void first.release();
    const reader = await engine.settle(reading);
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    const upgraded = upgrader.upgrade();
    await engine.runFor(50);
    expect([engine.queue(KEY).length, upgrader.mode]).toEqual([4, 'upgradeable']);
    dialer.refused.clear();
    await engine.settle(reader.release());
    await engine.settle(upgraded);
    expect(upgrader.mode).toBe('write');
    await engine.settle(upgrader.release());
    await engine.end();
  });
});
