import { describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import type { LinkRequest } from '../../../lib/session/core/link.js';
import { remove } from '../../../lib/session/requests.js';
import { type Client, EngineWorld } from './support/engine-world.js';
import { RefusingDialer, THROTTLED } from './support/refusing-dialer.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const KEY = '/locks/a';
const BUSY_MS = 3_000;
/** One try in 200 ms, each of at most four requests. */
const MOST_TRIES = 4 * (BUSY_MS / 200 + 2);

async function given(errorNumber = THROTTLED) {
  const engine = new EngineWorld();
  const process = engine.world.process('one');
  const dialer = new RefusingDialer(process.dialer(), errorNumber);
  process.dialer = () => dialer;
  const one = await engine.client('one', { waitMs: 30_000 });
  const other = await engine.client('other');
  return { engine, one, other, dialer };
}

type Scene = (one: Client, other: Client, settle: EngineWorld['settle']) => Promise<{ work: () => Promise<unknown> }>;

const acquireFree: Scene = async (one) => ({ work: () => one.locks.acquire(KEY) });
const acquireHeld: Scene = async (one, other, settle) => {
  const lock = await settle(other.locks.acquire(KEY));
  return {
    work: async () => {
      other.process.clock.setTimer(1_000, () => void lock.release());
      return one.locks.acquire(KEY);
    },
  };
};
const inspect: Scene = async (one) => ({ work: () => one.locks.inspect(KEY) });
const inspectHeld: Scene = async (one, other, settle) => {
  await settle(other.locks.acquire(KEY));
  return { work: () => one.locks.inspect(KEY) };
};
const release: Scene = async (one, _other, settle) => {
  const lock = await settle(one.locks.acquire(KEY));
  return { work: () => lock.release() };
};
const upgrade: Scene = async (one, other, settle) => {
  const reader = await settle(other.locks.acquire(KEY, { mode: 'read' }));
  const lock = await settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
  return {
    work: async () => {
      other.process.clock.setTimer(1_000, () => void reader.release());
      return lock.upgrade();
    },
  };
};

describe('a server that is too busy (it answers THROTTLED)', () => {
  it.each<[string, LinkRequest['op'][], Scene]>([
    ['acquire, when it enqueues', ['create'], acquireFree],
    ['acquire, when it looks', ['list'], acquireHeld],
    ['acquire, when it watches who is ahead', ['get'], acquireHeld],
    ['acquire, when it proves its life', ['set'], acquireFree],
    ['acquire, at all', ['create', 'list', 'get', 'set'], acquireHeld],
    ['inspect', ['sync', 'list'], inspect],
    ['inspect, when it reads the nodes', ['get'], inspectHeld],
    ['release', ['delete', 'multi'], release],
    ['upgrade, when it puts its intent', ['create'], upgrade],
    ['upgrade, when it looks', ['list', 'delete'], upgrade],
    ['upgrade, when it names the readers', ['set'], upgrade],
    ['upgrade, when it waits for a reader', ['get'], upgrade],
  ])('is asked again after a pause, and never in a loop, by %s', async (_name, operations, scene) => {
    const { engine, one, other, dialer } = await given();
    const { work } = await scene(one, other, (promise) => engine.settle(promise));
    for (const operation of operations) dialer.refused.add(operation);
    const done = work();
    done.catch(() => undefined);
    await engine.runFor(BUSY_MS);
    expect(dialer.count).toBeLessThanOrEqual(MOST_TRIES);
    dialer.refused.clear();
    await engine.settle(done);
    await engine.end();
  });

  it('is not asked again by a try, which waits for nothing', async () => {
    const { engine, one, dialer } = await given();
    dialer.refused.add('list');
    expect(await engine.failure(one.locks.tryAcquire(KEY))).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(dialer.count).toBe(1);
    await engine.end();
  });
});

describe('a server that is too busy for many requests at once', () => {
  it('costs a lock that is held, and requests for others, no more than it would by itself', async () => {
    const { engine, one, dialer } = await given();
    const lock = await engine.settle(one.locks.acquire('/locks/held'));
    await engine.runFor(3_000);
    for (const operation of ['create', 'list', 'set'] as const) dialer.refused.add(operation);
    for (let count = 0; count < 1_000; count += 1)
      void one.locks.acquire(KEY, { waitMs: 60_000 }).catch(() => undefined);
    await engine.runFor(1_000);
    dialer.refused.clear();
    const before = engine.world.now();
    await engine.settle(one.locks.withLock('/locks/free', () => undefined));
    expect(engine.world.now() - before).toBeLessThan(1_000);
    await engine.runFor(5_000);
    expect(lock.isHeld()).toBe(true);
    await engine.end();
  });
});

describe('a server that is too busy for the heartbeats of a holder', () => {
  it.each(['set', 'sync'] as const)(
    'costs no lock by %s for a part of S: it is asked again in time',
    async (operation) => {
      for (let phaseMs = 0; phaseMs < 1_000; phaseMs += 100) {
        const { engine, one, dialer } = await given();
        const lock = await engine.settle(one.locks.acquire(KEY));
        await engine.runFor(3_000 + phaseMs);
        dialer.refused.add(operation);
        await engine.runFor(1_800);
        expect(dialer.count).toBeLessThan(8);
        dialer.refused.clear();
        await engine.runFor(5_000);
        expect(lock.isHeld()).toBe(true);
        await engine.end();
      }
    },
  );
});

describe('a server that was too busy when a watch was to be set', () => {
  it('is asked again for that on a held node: whoever removes it is noticed', async () => {
    const { engine, one, other, dialer } = await given();
    const lock = await engine.settle(one.locks.acquire(KEY));
    dialer.refused.add('get');
    await engine.runFor(600);
    expect(dialer.count).toBeGreaterThan(0);
    dialer.refused.clear();
    await engine.runFor(1_000);
    await engine.settle(replyTo(other.session, remove(lock.nodePath)));
    await engine.runFor(100);
    expect(one.events.at(-1)).toMatchObject({ type: 'lost', reason: 'removed' });
    await engine.end();
  });

  it('is not asked again on behalf of a lock that has been released', async () => {
    const { engine, one, dialer } = await given();
    const lock = await engine.settle(one.locks.acquire(KEY));
    dialer.refused.add('get');
    await engine.runFor(600);
    const watches = engine.world.watchCount;
    await engine.settle(lock.release());
    const before = dialer.count;
    await engine.runFor(2_000);
    expect([dialer.count, engine.world.watchCount]).toEqual([before, watches]);
    await engine.end();
  });

  it('is asked again for that on a queue: watch() goes on', async () => {
    const { engine, one, other, dialer } = await given();
    await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    const seen: number[] = [];
    const watching = one.locks.watch(KEY).subscribe(({ holders }) => seen.push(holders.length));
    await engine.runFor(500);
    dialer.refused.add('list');
    await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    await engine.runFor(150);
    dialer.refused.clear();
    await engine.runFor(2_000);
    await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    await engine.runFor(1_000);
    expect(seen.at(-1)).toBe(3);
    watching.unsubscribe();
    await engine.end();
  });
});

describe('a server that can give nobody a lock, as it answers', () => {
  it.each([
    [-120, /localSessionsEnabled.*localSessionsUpgradingEnabled=true/],
    [-119, /read-only.*readonlymode\.enabled/],
  ])('%d, is a configuration error that says what to set', async (errorNumber, text) => {
    const { engine, one, dialer } = await given(errorNumber);
    dialer.refused.add('create');
    const error = await engine.failure(one.locks.acquire(KEY));
    expect(error).toBeInstanceOf(LockConfigurationError);
    expect((error as LockConfigurationError).details).toMatch(text);
    expect(error.cause).toMatchObject({ code: expect.stringMatching(/^(READ_ONLY|LOCAL_SESSION)$/) });
    await engine.end();
  });
});
