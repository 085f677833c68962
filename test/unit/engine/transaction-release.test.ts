import { describe, expect, it } from '@jest/globals';
import { rejection } from './support/engine-world.js';
import { useEngine } from './support/use-engine.js';

describe('a transaction that releases its locks', () => {
  const { engine, one } = useEngine('one');

  it.each([
    ['an error', (): Promise<never> => Promise.reject(new Error('of the application')), 'of the application'],
    ['a success', (): Promise<string> => Promise.resolve('done'), 'done'],
  ])('passes on %s at once while it is cut off and can remove nothing', async (_what, end, expected) => {
    const work = one.locks
      .transaction(async (tx) => {
        await tx.lock('/l/a');
        engine.faults.refuse(one.process);
        await one.sleep(50);
        return end();
      })
      .catch(({ message }: Error) => message);
    expect(await engine.settle(work, 100)).toBe(expected);
    engine.faults.accept(one.process);
    await engine.runUntil(() => engine.queue('/l/a').length === 0);
  });

  it('passes on what its work came to as soon as the link is found to be down', async () => {
    const failure = new Error('of the application');
    const work = rejection(
      one.locks.transaction(async (tx) => {
        await tx.lock('/l/a');
        engine.faults.blackHole(one.process);
        throw failure;
      }),
    );
    await engine.runFor(100);
    engine.faults.refuse(one.process);
    expect(await engine.settle(work, 100)).toBe(failure);
    engine.faults.pass(one.process);
    engine.faults.accept(one.process);
    await engine.runUntil(() => engine.queue('/l/a').length === 0);
  });
});
