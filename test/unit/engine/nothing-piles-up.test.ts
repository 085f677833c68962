import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { ContextCensus } from '../../support/process/context-census.js';
import type { Client } from './support/engine-world.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/stock';
const MANY = 40_000;
const CALLS = 2_000;
const AT_ONCE = 2_000;

type Call = (client: Client) => Promise<unknown>;

const WAYS_TO_CALL: readonly (readonly [string, Call])[] = [
  ['acquire() with a signal', ({ locks }) => locks.acquire(KEY, { waitMs: 5, signal: AbortSignal.abort() })],
  ['withLock()', ({ locks }) => locks.withLock(KEY, () => undefined, { waitMs: 5 })],
  ['tryAcquire()', ({ locks }) => locks.tryAcquire(KEY)],
  ['acquireAll()', ({ locks }) => locks.acquireAll([KEY, `${KEY}-2`], { waitMs: 5 })],
];

describe('while the link is down,', () => {
  const { engine } = useEngine();
  let census: ContextCensus;

  beforeEach(() => {
    census = new ContextCensus();
  });

  /** The test's own journal has the errors, and an error the frames that it came from. */
  async function retained(...clients: readonly Client[]): Promise<number> {
    for (const { events } of clients) events.length = 0;
    return census.retained();
  }

  async function cutOff(client: Client): Promise<void> {
    engine.faults.refuse(client.process);
    await engine.runUntil(() => client.session.state === 'suspended');
  }

  async function call(client: Client, way: Call, calls = CALLS, atOnce = AT_ONCE): Promise<void> {
    while (census.size < calls) {
      const ended = Array.from({ length: Math.min(calls, atOnce) }, () =>
        census.run(() =>
          way(client).then(
            () => undefined,
            () => undefined,
          ),
        ),
      );
      await engine.settle(Promise.all(ended));
    }
  }

  it('40 000 calls that ended leave nothing behind', async () => {
    const one = await engine.client('one');
    await cutOff(one);
    await call(one, ({ locks }) => locks.acquire(KEY, { waitMs: 5 }), MANY);
    expect([census.size, await retained(one)]).toEqual([MANY, 0]);
    // It computes, and waits for nothing: a machine that gives it a twentieth of a core takes that much longer.
  }, 900_000);

  it.each(WAYS_TO_CALL)('a call of %s that ended leaves nothing behind', async (_name, way) => {
    const one = await engine.client('one');
    await cutOff(one);
    await call(one, way);
    expect(await retained(one)).toBe(0);
  });

  it.each([
    ['transaction()', ({ locks }: Client) => locks.transaction((tx) => tx.lock(KEY, 'write'))],
    ['inspect()', ({ locks }: Client) => locks.inspect(KEY)],
  ])('a call of %s that ended leaves nothing behind', async (_name, way) => {
    const one = await engine.client('one', { waitMs: 20 });
    await cutOff(one);
    await call(one, way);
    expect(await retained(one)).toBe(0);
  });

  it('a subscriber of watch() that has gone leaves nothing behind', async () => {
    const one = await engine.client('one');
    await cutOff(one);
    await call(one, async ({ locks }) => locks.watch(KEY).subscribe().unsubscribe());
    expect(await retained(one)).toBe(0);
  });

  it('a call that got a lock of this process leaves nothing behind', async () => {
    const one = await engine.client('one', { local: 'when unavailable' });
    await cutOff(one);
    let locked = 0;
    const lock: Call = ({ locks }) =>
      locks.withLock(`${KEY}/${(locked += 1) % 500}`, ({ scope }) => expect(scope).toBe('process'), { waitMs: 2_000 });
    await call(one, lock, CALLS, 250);
    // The caller does not wait for the removal.
    await engine.runFor(100);
    expect([locked, await retained(one)]).toEqual([CALLS, 0]);
  });

  it('a re-entry that ended leaves nothing behind', async () => {
    const one = await engine.client('one');
    let left: number | undefined;
    const held = one.locks.withLock(KEY, async () => {
      engine.faults.refuse(one.process);
      await one.sleep(10);
      for (let calls = 0; calls < 100; calls += 1)
        await census.run(() => one.locks.acquire(KEY, { waitMs: 5 }).catch(() => undefined));
      left = await retained(one);
    });
    await engine.settle(held);
    expect([census.size, left]).toEqual([100, 0]);
  });

  it('an upgrade that ended leaves nothing behind', async () => {
    const one = await engine.client('one');
    const lock = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    await cutOff(one);
    await call(one, () => lock.upgrade({ waitMs: 5 }));
    expect(await retained(one)).toBe(0);
  });

  it('a lock that was released, and a contender that gave up, leave their names, and nothing of the call', async () => {
    const one = await engine.client('one', { waitMs: 1_000 });
    const other = await engine.client('other');
    await engine.settle(other.locks.acquire(KEY));
    const keys = Array.from({ length: 500 }, (_, index) => `/locks/held-${index}`);
    const handles = await engine.settle(Promise.all(keys.map((key) => one.locks.acquire(key))));
    const waiting = keys.map(() => census.run(() => one.locks.acquire(KEY).catch(() => undefined)));
    await engine.runFor(50);
    engine.faults.refuse(one.process);
    const released = handles.map((handle: LockHandle) => census.run(() => handle.release()));
    await engine.settle(Promise.all([...waiting, ...released]));
    waiting.length = 0;
    released.length = 0;
    handles.length = 0;
    expect([census.size, await retained(one)]).toEqual([1_000, 0]);
  });
});
