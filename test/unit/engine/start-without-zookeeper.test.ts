import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LockHandle } from '../../../lib/lock/handle.js';
import type { ConnectionState } from '../../../lib/session/connection-state.js';
import { type Client, rejection, SESSION_TIMEOUT_MS } from './support/engine-world.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/cache';
const WAIT_MS = 30_000;

describe("a service with whenUnavailable: 'local' that starts without ZooKeeper", () => {
  const { engine } = useEngine();
  let one: Client;
  let states: ConnectionState[];

  beforeEach(() => {
    one = engine.start('one', { local: 'when unavailable', waitMs: WAIT_MS });
    engine.faults.refuse(one.process);
    states = [];
    one.session.state$.subscribe((state) => states.push(state));
  });

  const timed = async (taking: Promise<LockHandle | undefined>): Promise<{ scope: string | undefined; ms: number }> => {
    const before = engine.world.now();
    const lock = await engine.settle(taking);
    const ms = engine.world.now() - before;
    if (lock !== undefined) await engine.settle(lock.release());
    return { scope: lock?.scope, ms };
  };

  it('counts as lost after S without a session: from then on no lock waits for it', async () => {
    await engine.runFor(SESSION_TIMEOUT_MS - 100);
    expect(states).toEqual(['connecting']);
    await engine.runFor(200);
    expect(states).toEqual(['connecting', 'lost']);
    for (let round = 0; round < 3; round += 1) {
      const { scope, ms } = await timed(one.locks.acquire(`${KEY}/${round}`));
      expect([scope, ms < 50]).toEqual(['process', true]);
    }
    expect((await timed(one.locks.tryAcquire(KEY))).ms).toBeLessThan(50);
    expect((await timed(one.locks.acquire(KEY, { waitMs: 0 }))).ms).toBeLessThan(50);
  });

  it('lets those that wait already go when S is over', async () => {
    await engine.runFor(100);
    const { scope, ms } = await timed(one.locks.acquire(KEY));
    expect([scope, ms <= SESSION_TIMEOUT_MS]).toEqual(['process', true]);
  });

  it('lets one that only tries go when S is over', async () => {
    await engine.runFor(100);
    const { scope, ms } = await timed(one.locks.tryAcquire(KEY));
    expect([scope, ms <= SESSION_TIMEOUT_MS]).toEqual(['process', true]);
  });

  it('connects when ZooKeeper comes, and gives out locks of the fleet from then on', async () => {
    await engine.runFor(3 * SESSION_TIMEOUT_MS);
    engine.faults.accept(one.process);
    await engine.runUntil(() => one.session.state !== 'lost');
    expect(states).toEqual(['connecting', 'lost', 'connected']);
    expect((await timed(one.locks.acquire(KEY))).scope).toBe('fleet');
  });

  it('waits for half of the time for a ZooKeeper that is there after all', async () => {
    await engine.runFor(100);
    const taking = one.locks.acquire(KEY);
    engine.faults.accept(one.process);
    expect((await engine.settle(taking)).scope).toBe('fleet');
    expect(states).toEqual(['connecting', 'connected']);
  });
});

describe("a service with whenUnavailable: 'reject' that starts without ZooKeeper", () => {
  const { engine } = useEngine();

  it('refuses a try at once from S on, and lets an acquire wait for as long as it may', async () => {
    const one = engine.start('one');
    engine.faults.refuse(one.process);
    await engine.runFor(SESSION_TIMEOUT_MS + 100);
    const before = engine.world.now();
    expect(await engine.failure(one.locks.tryAcquire(KEY))).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(engine.world.now() - before).toBeLessThan(50);
    expect(await engine.failure(one.locks.acquire(KEY, { waitMs: 1_000 }))).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(engine.world.now() - before).toBeGreaterThanOrEqual(1_000);
    const waiting = one.locks.acquire(KEY);
    engine.faults.accept(one.process);
    expect((await engine.settle(waiting)).isHeld()).toBe(true);
  });
});

describe('the first connection', () => {
  const { engine } = useEngine();
  let one: Client;
  beforeEach(() => {
    one = engine.start('one', { connectTimeoutMs: 10_000, waitMs: 200 });
    engine.faults.refuse(one.process);
  });

  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    acquire: () => one.locks.acquire(KEY),
    acquireAll: () => one.locks.acquireAll([KEY, `${KEY}/other`]),
    transaction: () => one.locks.transaction((tx) => tx.lock(KEY)),
    inspect: () => one.locks.inspect(KEY),
  };

  it.each(Object.entries(calls))('is waited for by %s for a time of its own', async (_name, call) => {
    const settled = call();
    await engine.runFor(6_000);
    engine.faults.accept(one.process);
    await engine.settle(settled);
    expect(one.session.state).toBe('connected');
  });

  it('leaves the wait for the lock whole, which begins then', async () => {
    const other = await engine.client('other');
    await engine.settle(other.locks.acquire(KEY));
    const waiting = rejection(one.locks.acquire(KEY));
    await engine.runFor(6_000);
    engine.faults.accept(one.process);
    await engine.runUntil(() => one.session.state === 'connected');
    const before = engine.world.now();
    expect((await engine.settle(waiting)).name).toBe('LockTimeoutError');
    expect(engine.world.now() - before).toBeGreaterThan(150);
    expect(engine.world.now() - before).toBeLessThanOrEqual(200);
  });

  it('is waited for no longer than its time, and after that as any other link', async () => {
    const before = engine.world.now();
    const error = await engine.failure(one.locks.acquire(KEY));
    expect([error.name, engine.world.now() - before]).toEqual(['LockUnavailableError', 10_000]);
    expect(await engine.failure(one.locks.acquire(KEY))).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(engine.world.now() - before).toBe(10_200);
    expect(one.events.map(({ type }) => type)).toEqual(['failed', 'failed']);
  });

  it.each<[string, number, () => Promise<unknown>]>([
    ['acquire', 1, () => one.locks.acquire(KEY)],
    ['acquireAll', 1, () => one.locks.acquireAll([KEY, `${KEY}/other`])],
    ['transaction', 1, () => one.locks.transaction((tx) => tx.lock(KEY))],
    ['inspect', 0, () => one.locks.inspect(KEY)],
  ])('is an event, if it does not come, only of a call that would acquire a lock: %s', async (_name, count, call) => {
    expect(await engine.failure(call())).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(one.events).toHaveLength(count);
    expect(one.events).toEqual(one.events.map(() => expect.objectContaining({ type: 'failed', waitedMs: 10_000 })));
  });

  it.each(Object.entries(calls))(
    'gives %s its whole wait, shortly before the end of that time, too',
    async (_name, call) => {
      await engine.runFor(9_990);
      const before = engine.world.now();
      expect(await engine.failure(call())).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      expect(engine.world.now() - before).toBe(200);
    },
  );

  it('leaves that wait whole, which begins then, if it comes within it', async () => {
    const patient = engine.start('patient', { connectTimeoutMs: 10_000, waitMs: 3_000 });
    engine.faults.refuse(patient.process);
    const other = await engine.client('other');
    await engine.settle(other.locks.acquire(KEY));
    await engine.runFor(10_000 - engine.world.now() - 10);
    const waiting = rejection(patient.locks.acquire(KEY));
    await engine.runFor(50);
    engine.faults.accept(patient.process);
    await engine.runUntil(() => patient.session.state === 'connected');
    const before = engine.world.now();
    expect((await engine.settle(waiting)).name).toBe('LockTimeoutError');
    expect(engine.world.now() - before).toBeGreaterThan(2_900);
    expect(engine.world.now() - before).toBeLessThanOrEqual(3_000);
  });

  it.each<[string, number, () => Promise<unknown>]>([
    ['says how long it waits', 300, () => one.locks.acquire(KEY, { waitMs: 300 })],
    ['tries once', 1_000, () => one.locks.acquire(KEY, { waitMs: 0 })],
    ['only tries', 1_000, () => one.locks.tryAcquire(KEY)],
    ['only tries, for as long as it says', 3_000, () => one.locks.tryAcquire(KEY, { waitMs: 3_000 })],
  ])('is not waited for beyond its time by a call that %s', async (_what, withinMs, call) => {
    const before = engine.world.now();
    expect(await engine.failure(call())).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(engine.world.now() - before).toBe(withinMs);
  });
});
