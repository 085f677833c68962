import { describe, expect, it } from '@jest/globals';
import { LockClosedError } from '../../../../lib/lock/errors.js';
import type { LockSnapshot } from '../../../../lib/lock/snapshot.js';
import { create } from '../../../../lib/session/requests.js';
import type { Client } from '../support/engine-world.js';
import { useEngine } from '../support/use-engine.js';

const KEY = '/locks/gate';

class Log {
  readonly states: string[] = [];
  ended: unknown = 'no';
  readonly unsubscribe: () => void;

  constructor(client: Client) {
    const subscription = client.locks.watch(KEY).subscribe({
      next: ({ state, queueLength }: LockSnapshot) => this.states.push(`${state}, ${queueLength} waiting`),
      error: (error: unknown) => (this.ended = error),
      complete: () => (this.ended = 'completed'),
    });
    this.unsubscribe = () => subscription.unsubscribe();
  }

  get last(): string | undefined {
    return this.states.at(-1);
  }
}

describe('watch()', () => {
  const { engine, watching, other } = useEngine('watching', 'other');

  it('tells what is, and what becomes of it, from before the key exists', async () => {
    const log = new Log(watching);
    await engine.runFor(20);
    expect(log.states).toEqual(['FREE, 0 waiting']);
    const lock = await engine.settle(other.locks.acquire(KEY));
    await engine.runFor(20);
    expect(log.last).toBe('HELD, 0 waiting');
    const waiting = other.locks.acquire(KEY);
    await engine.runFor(20);
    expect(log.last).toBe('HELD, 1 waiting');
    await engine.settle(lock.release());
    await engine.settle(waiting);
    await engine.runFor(20);
    expect(log.last).toBe('HELD, 0 waiting');
    log.unsubscribe();
  });

  it('makes one update of many changes that come while it looks, and ends with the last', async () => {
    engine.faults.setLatency(watching.process, 50);
    const log = new Log(watching);
    await engine.runFor(500);
    const before = log.states.length;
    await engine.settle(other.session.batch([create('/locks', 'container'), create(KEY, 'container')]));
    await engine.settle(
      other.session.batch(Array.from({ length: 30 }, () => create(`${KEY}/lock-`, 'ephemeral-sequential'))),
    );
    await engine.runFor(2_000);
    expect(log.last).toBe('HELD, 29 waiting');
    expect(log.states.length - before).toBeLessThanOrEqual(3);
    log.unsubscribe();
  });

  it('misses nothing of a key that is created between its two looks', async () => {
    engine.faults.setLatency(watching.process, 20);
    const log = new Log(watching);
    // The list was answered with "no such node"; the watch for its creation is on its way.
    await engine.runFor(30);
    const lock = await engine.settle(other.locks.acquire(KEY));
    await engine.runFor(200);
    expect(log.last).toBe('HELD, 0 waiting');
    await engine.settle(lock.release());
    await engine.runFor(200);
    expect(log.last).toBe('FREE, 0 waiting');
    log.unsubscribe();
  });

  it('looks again after the link was away', async () => {
    const log = new Log(watching);
    await engine.runFor(20);
    engine.faults.refuse(watching.process);
    await engine.settle(other.locks.acquire(KEY));
    await engine.runFor(100);
    expect([log.last, log.ended]).toEqual(['FREE, 0 waiting', 'no']);
    engine.faults.accept(watching.process);
    await engine.runUntil(() => log.last === 'HELD, 0 waiting');
    log.unsubscribe();
  });

  it('leaves no watch at the servers after unsubscribing, in whatever state', async () => {
    const before = engine.world.watchCount;
    for (const afterMs of [0, 1, 2, 3, 5, 20]) {
      const log = new Log(watching);
      await engine.runFor(afterMs);
      log.unsubscribe();
      await engine.runFor(50);
      expect([afterMs, engine.world.watchCount]).toEqual([afterMs, before]);
    }
  });

  it('gives each subscriber its own updates', async () => {
    const [one, two] = [new Log(watching), new Log(watching)];
    await engine.runFor(20);
    one.unsubscribe();
    await engine.settle(other.locks.acquire(KEY));
    await engine.runFor(20);
    expect([one.last, two.last]).toEqual(['FREE, 0 waiting', 'HELD, 0 waiting']);
    two.unsubscribe();
  });

  it('completes when the service closes, also when that changes the key it watches', async () => {
    await engine.settle(watching.locks.acquire(KEY));
    const log = new Log(watching);
    await engine.runFor(20);
    await engine.settle(watching.locks.close(0));
    expect(log.ended).toBe('completed');
  });

  it('completes for whoever subscribes during the close or after it, if it was asked for before', async () => {
    const stream = watching.locks.watch(KEY);
    const ends: string[] = [];
    await engine.settle(watching.locks.acquire(KEY));
    const closed = watching.locks.close(500);
    stream.subscribe({ complete: () => ends.push('during') });
    await engine.settle(closed);
    stream.subscribe({ complete: () => ends.push('after') });
    await engine.runFor(50);
    expect(ends).toEqual(['during', 'after']);
    expect(() => watching.locks.watch(KEY)).toThrow(LockClosedError);
  });
});
