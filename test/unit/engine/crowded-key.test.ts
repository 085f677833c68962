import { describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import { create, multi, remove } from '../../../lib/session/requests.js';
import { typesOf } from './support/engine-world.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/files';
/** Four of these take more than an answer may have. */
const BELOW = Array.from({ length: 6 }, (_, index) => `${KEY}/${String(index).padStart(900_000, 'x')}`);

describe('a key with too many keys below it', () => {
  const { engine, one, other } = useEngine('one', 'other');

  async function crowd(): Promise<void> {
    await engine.settle(other.session.batch([create('/locks', 'container'), create(KEY, 'container')]));
    await engine.settle(other.session.batch(BELOW.map((path) => create(path, 'persistent'))));
  }

  async function empty(): Promise<void> {
    await engine.settle(other.session.batch(BELOW.map((path) => multi([remove(path)]))));
  }

  /** How many such requests have come to the servers since. */
  function counting(op: 'list' | 'delete'): () => number {
    const { traffic } = engine.world.ensemble;
    const before = traffic.requests(op);
    return () => traffic.requests(op) - before;
  }

  const queue = (): string[] => engine.queue(KEY).filter((name) => name.length < 1_000);

  it.each([
    ['acquire()', () => one.locks.acquire(KEY)],
    ['tryAcquire()', () => one.locks.tryAcquire(KEY)],
    ['withLock()', () => one.locks.withLock(KEY, () => undefined)],
    ['inspect()', () => one.locks.inspect(KEY)],
    ['transaction()', () => one.locks.transaction((tx) => tx.lock(KEY))],
  ])('is refused by %s at once, with the reason; other locks go on', async (_name, call) => {
    await crowd();
    const held = await engine.settle(one.locks.acquire('/locks/other'));
    const before = engine.world.now();

    const error = (await engine.failure(call())) as LockConfigurationError;

    expect(error).toBeInstanceOf(LockConfigurationError);
    expect(error.details).toMatch(/^The queue of \/locks\/files cannot be read: .* [67] children/);
    expect(error.details).toContain('The keys below a key are children of its node');
    expect(engine.world.now() - before).toBeLessThan(100);
    await engine.settle(one.locks.withLock('/locks/another', () => undefined));
    expect([held.isHeld(), one.session.state]).toEqual([true, 'connected']);
    await engine.runFor(100);
    expect(queue()).toEqual([]);
  });

  it('is not listed over and over: not by calls, not by what watches it, not by the janitor', async () => {
    await crowd();
    await engine.failure(one.locks.acquire(KEY));
    const lists = counting('list');
    for (let calls = 0; calls < 20; calls += 1) await engine.failure(one.locks.acquire(KEY));
    const errors: unknown[] = [];
    one.locks.watch(KEY).subscribe({ error: (error: unknown) => errors.push(error) });
    await engine.runFor(60_000);
    expect([errors.length, lists()]).toEqual([1, 0]);
  });

  it('leaves no watch at the servers, where watch() is refused', async () => {
    await crowd();
    const before = engine.world.watchCount;
    const errors: unknown[] = [];
    one.locks.watch(KEY).subscribe({ error: (error: unknown) => errors.push(error) });
    await engine.runFor(1_000);
    expect([errors.length, engine.world.watchCount]).toEqual([1, before]);
  });

  it('is to be had again once there are fewer', async () => {
    await crowd();
    await engine.failure(one.locks.acquire(KEY));
    await empty();
    await engine.settle((await engine.settle(one.locks.acquire(KEY))).release());
  });

  it('is looked at rarely where its create has lost its answer, until what may be left of it can be found', async () => {
    await crowd();
    engine.faults.loseReplyOfNext(one.process, 'create');
    expect(await engine.failure(one.locks.acquire(KEY))).toBeInstanceOf(LockConfigurationError);
    await engine.runFor(100);
    expect([queue().length, typesOf(one.events)]).toEqual([1, ['failed', 'not-removed']]);
    expect(one.events.at(-1)).toMatchObject({ error: { details: expect.stringContaining('too long to be searched') } });

    const [lists, deletes] = [counting('list'), counting('delete')];
    await engine.runFor(600_000);
    expect([lists(), deletes() < 40]).toEqual([0, true]);
    expect(queue()).toHaveLength(1);

    await empty();
    await engine.runFor(30_000);
    expect(queue()).toEqual([]);
    await engine.settle((await engine.settle(other.locks.acquire(KEY))).release());
  });

  it('leaves who holds it alone, and lets it be released', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    await crowd();
    expect(await engine.failure(lock.upgrade())).toBeInstanceOf(LockConfigurationError);
    expect(lock.isHeld()).toBe(true);
    await engine.settle(lock.release());
    await engine.runFor(60_000);
    expect(queue()).toEqual([]);
  });
});
