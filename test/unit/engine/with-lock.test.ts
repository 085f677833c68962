import { describe, expect, it } from '@jest/globals';
import { LockAbortedError, LockClosedError, LockLostError, LockTimeoutError } from '../../../lib/lock/errors.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { remove } from '../../../lib/session/requests.js';
import { rejection, typesOf } from './support/engine-world.js';
import { telling } from '../../support/telling.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/report';

describe('withLock()', () => {
  const { engine, one } = useEngine('one');

  it('returns what the work returns, holds while it runs, and releases the lock', async () => {
    let during: unknown;
    const result = await engine.settle(
      one.locks.withLock(KEY, async (lock) => {
        await one.sleep(50);
        during = [lock.isHeld(), engine.queue(KEY).length];
        return 'done';
      }),
    );
    await engine.runFor(20);
    expect([result, during, engine.queue(KEY)]).toEqual(['done', [true, 1], []]);
    expect(typesOf(one.events)).toEqual(['acquired', 'released']);
  });

  it('is one owner with all that its work acquires, and with nobody else', async () => {
    await engine.settle(
      one.locks.withLock(KEY, async () => {
        await (await one.locks.acquire('/locks/inner')).release();
        await one.locks.withLock('/locks/deeper', async () => (await one.locks.acquire('/locks/deepest')).release());
      }),
    );
    await engine.settle(one.locks.withLock('/locks/other', () => undefined));
    const owners = one.events.flatMap((event) => (event.type === 'acquired' ? [[event.key, event.owner]] : []));
    const [first] = owners.map(([, owner]) => owner);
    expect(new Set(owners.slice(0, 4).map(([, owner]) => owner))).toEqual(new Set([first]));
    expect(owners[4]).toEqual(['/locks/other', expect.not.stringMatching(first!)]);
  });

  it.each([
    ['thrown at once', false],
    ['rejected with later', true],
  ])('passes an error of the work untouched: %s', async (_when, later) => {
    const failure = new Error('of the application');
    const work = later
      ? async (): Promise<never> => {
          await one.sleep(10);
          throw failure;
        }
      : (): never => {
          throw failure;
        };
    expect(await engine.failure(one.locks.withLock(KEY, work))).toBe(failure);
    await engine.runFor(20);
    expect(engine.queue(KEY)).toEqual([]);
  });

  it('rejects as soon as the lock is lost, and reports what the work came to as an event', async () => {
    const work = one.locks.withLock(
      KEY,
      async () => {
        await one.sleep(3_000);
        return 'too late';
      },
      { label: 'slow' },
    );
    await engine.runFor(1_000);
    const before = engine.world.now();
    engine.faults.expire(one.session.identity!.id);
    expect(await engine.failure(work)).toBeInstanceOf(LockLostError);
    expect(engine.world.now() - before).toBeLessThan(100);
    expect(typesOf(one.events)).toEqual(['acquired', 'lost']);
    await engine.runFor(3_000);
    expect(one.events.at(-1)).toMatchObject({ type: 'late-result', key: KEY, label: 'slow', error: undefined });
  });

  it('reports an error the work ends with after the loss: it replaces nothing', async () => {
    const failure = new Error('of the application');
    const work = one.locks.withLock(KEY, async (lock) => {
      await new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
      await one.sleep(10);
      throw failure;
    });
    await engine.runFor(50);
    engine.faults.expire(one.session.identity!.id);
    expect(await engine.failure(work)).toBeInstanceOf(LockLostError);
    await engine.runFor(50);
    expect(one.events.at(-1)).toMatchObject({ type: 'late-result', error: failure });
  });

  it('does not pass off as a success what ended after certainty did, before any news of that', async () => {
    const work = one.locks.withLock(KEY, async () => {
      await one.sleep(100);
      one.process.pause();
      await new Promise<void>((resolve) => void (resume = resolve));
      return 'looks fine';
    });
    let resume: () => void = () => undefined;
    await engine.runFor(200);
    await engine.runFor(6_000);
    resume();
    one.process.resume();
    expect(await engine.failure(work)).toBeInstanceOf(LockLostError);
  });

  it('tells the application its own error even when the lock is lost by then', async () => {
    const failure = new Error('of the application');
    let fail: (error: Error) => void = () => undefined;
    const work = rejection(one.locks.withLock(KEY, () => new Promise((_resolve, reject) => void (fail = reject))));
    await engine.runFor(100);
    one.process.pause();
    await engine.runFor(6_000);
    fail(failure);
    expect(await engine.settle(work)).toBe(failure);
    one.process.resume();
  });

  it('tells of no loss when the work releases the lock itself', async () => {
    const result = await engine.settle(
      one.locks.withLock(KEY, async (lock: LockHandle) => {
        await lock.release();
        await one.sleep(10);
        return 'done';
      }),
    );
    expect([result, typesOf(one.events)]).toEqual(['done', ['acquired', 'released']]);
  });

  it('loses its lock within a second after an operator removed the node', async () => {
    const other = await engine.client('other');
    const work = rejection(one.locks.withLock(KEY, () => one.sleep(30_000)));
    await engine.runFor(500);
    await engine.settle(replyTo(other.session, remove(`${KEY}/${engine.queue(KEY)[0]!}`)));
    const before = engine.world.now();
    expect(await engine.settle(work)).toBeInstanceOf(LockLostError);
    expect(engine.world.now() - before).toBeLessThan(1_000);
    expect(one.events.at(-1)).toMatchObject({ type: 'lost', reason: 'removed' });
  });

  it('does not run the work without the lock, after a time-out, an abort or a shutdown', async () => {
    const other = await engine.client('other');
    await engine.settle(other.locks.acquire(KEY));
    let ran = 0;
    const work = (): number => (ran += 1);
    const abort = new AbortController();
    const ends = [
      rejection(one.locks.withLock(KEY, work, { waitMs: 50 })),
      rejection(one.locks.withLock(KEY, work, { signal: abort.signal })),
      rejection(one.locks.withLock(KEY, work)),
    ];
    await engine.runFor(100);
    abort.abort();
    await engine.settle(one.locks.close(0));
    const [timeout, aborted, closed] = await engine.settle(Promise.all(ends));
    expect(timeout).toBeInstanceOf(LockTimeoutError);
    expect(aborted).toBeInstanceOf(LockAbortedError);
    expect(closed).toBeInstanceOf(LockClosedError);
    expect([ran, engine.queue(KEY).length]).toEqual([0, 1]);
  });
});

describe('a lease', () => {
  const { engine, one } = useEngine('one');

  it('ends the hold, first the signal, then the node, and extend() puts it off', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { leaseMs: 1_000 }));
    const told: unknown[] = [];
    lock.signal.addEventListener('abort', () => told.push(one.process.clock.now(), engine.queue(KEY).length));
    const start = engine.world.now();
    await engine.runFor(900);
    lock.extend(1_000);
    await engine.runFor(990);
    expect([lock.isHeld(), lock.remainingMs() <= 10, told]).toEqual([true, true, []]);
    await engine.runFor(500);
    expect([lock.isHeld(), lock.remainingMs(), engine.queue(KEY)]).toEqual([false, 0, []]);
    expect(told).toEqual([expect.closeTo(start + 1_900, 0), 1]);
    expect(lock.signal.reason).toBeInstanceOf(LockLostError);
    expect(one.events.at(-1)).toMatchObject({ type: 'lost', reason: 'lease-ended' });
    expect(() => lock.extend(1_000)).toThrow(LockLostError);
  });

  it('is over on the clock before any timer ran', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { leaseMs: 500 }));
    one.process.pause();
    await engine.runFor(600);
    expect(lock.isHeld()).toBe(false);
    expect(() => lock.assertHeld()).toThrow(LockLostError);
    one.process.resume();
  });

  it('cannot be extended where there is none, nor by nothing, nor when the lock was released', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    expect(() => lock.extend(1_000)).toThrow(telling(/without leaseMs/));
    const leased = await engine.settle(one.locks.acquire(`${KEY}/leased`, { leaseMs: 1_000 }));
    expect(() => leased.extend(0)).toThrow(/leaseMs: /);
    await engine.settle(leased.release());
    expect(() => leased.extend(1_000)).toThrow(LockLostError);
    await engine.runFor(2_000);
    expect(typesOf(one.events)).not.toContain('lost');
  });
});
