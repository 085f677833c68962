import { describe, expect, it } from '@jest/globals';
import { InTurn } from '../../../lib/lock/in-turn.js';

function later<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('Operations in turn', () => {
  it('begin in the order in which they were asked for, each behind the end of the one before', async () => {
    const turns = new InTurn();
    const first = later<void>();
    const told: string[] = [];
    const running = [
      turns.run('a', async () => {
        told.push('first begins');
        await first.promise;
        told.push('first ends');
      }),
      turns.run('a', async () => void told.push('second')),
    ];
    expect(turns.isIdle('a')).toBe(false);
    first.resolve();
    await Promise.all(running);
    expect(told).toEqual(['first begins', 'first ends', 'second']);
    expect(turns.isIdle('a')).toBe(true);
  });

  it('go on behind one that failed, of which its own caller is told alone', async () => {
    const turns = new InTurn();
    const failed = turns.run('a', () => Promise.reject(new Error('mine')));
    const next = turns.run('a', async () => 'done');
    await expect(failed).rejects.toThrow('mine');
    expect(turns.isIdle('a')).toBe(false);
    expect(await next).toBe('done');
    expect(turns.isIdle('a')).toBe(true);
  });

  it('wait for those of their own name only', async () => {
    const turns = new InTurn();
    const blocker = later<void>();
    const blocked = turns.run('a', () => blocker.promise);
    let isBehind = false;
    const behind = turns.run('a', async () => void (isBehind = true));
    expect(await turns.run('b', async () => 'free')).toBe('free');
    expect(isBehind).toBe(false);
    expect([turns.isIdle('a'), turns.isIdle('b')]).toEqual([false, true]);
    blocker.resolve();
    await Promise.all([blocked, behind]);
    expect(isBehind).toBe(true);
    expect(turns.isIdle('a')).toBe(true);
  });
});
