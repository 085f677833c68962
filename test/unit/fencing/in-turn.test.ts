import { describe, expect, it } from '@jest/globals';
import { InTurn, InTurnByName } from '../../../lib/fencing/in-turn.js';

function later<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('operations in turn', () => {
  it('begin in the order in which they were asked for, each behind the end of the one before', async () => {
    const turns = new InTurn();
    const first = later<void>();
    const told: string[] = [];
    const running = [
      turns.run(async () => {
        told.push('first begins');
        await first.promise;
        told.push('first ends');
      }),
      turns.run(async () => void told.push('second')),
    ];
    expect(turns.isIdle).toBe(false);
    first.resolve();
    await Promise.all(running);
    expect(told).toEqual(['first begins', 'first ends', 'second']);
    expect(turns.isIdle).toBe(true);
  });

  it('go on behind one that failed, of which its own caller is told alone', async () => {
    const turns = new InTurn();
    const failed = turns.run(() => Promise.reject(new Error('mine')));
    const next = turns.run(async () => 'done');
    await expect(failed).rejects.toThrow('mine');
    expect(await next).toBe('done');
  });
});

describe('operations in turn by name', () => {
  it('wait for those of their own name only, and leave no name behind', async () => {
    const turns = new InTurnByName();
    const blocker = later<void>();
    const blocked = turns.run('a', () => blocker.promise);
    let isBehind = false;
    const behind = turns.run('a', async () => void (isBehind = true));
    expect(await turns.run('b', async () => 'free')).toBe('free');
    expect(isBehind).toBe(false);
    expect(turns.size).toBe(1);
    blocker.resolve();
    await Promise.all([blocked, behind]);
    expect(isBehind).toBe(true);
    expect(turns.size).toBe(0);
  });
});
