import { beforeEach, describe, expect, it } from '@jest/globals';
import { currentLock, detached } from '../../../lib/engine/bounds/owner-context.js';
import { InvalidLockKeyError, LockConfigurationError } from '../../../lib/lock/errors.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/a';

describe('withLock() as JavaScript may call it', () => {
  const { engine, one } = useEngine('one');
  let runs: number;
  const work = async (): Promise<number> => (runs += 1);
  const call = (...args: unknown[]): Promise<unknown> =>
    (one.locks.withLock as (...args: unknown[]) => Promise<unknown>).apply(one.locks, args);
  beforeEach(() => {
    runs = 0;
  });

  it.each<[string, string, readonly unknown[]]>([
    ['with its options in front of the work', '[object Object]', [{ waitMs: 300 }, work]],
    ['with a time in front of the work', '5000', [5_000, work]],
    ['with options alone', '[object Object]', [{ waitMs: 300 }]],
    ['with what the work gives', '[object Promise]', [Promise.resolve()]],
    ['with a key alone', 'undefined', []],
  ])('is refused %s, and acquires no lock', async (_how, shown, args) => {
    const error = await engine.failure(call(KEY, ...args));

    expect(error).toBeInstanceOf(LockConfigurationError);
    expect([error.message, (error as LockConfigurationError).key]).toEqual([
      `work: must be a function, not ${shown}. Write withLock(key, async (lock) => { ... }, options), with the options last`,
      KEY,
    ]);
    await engine.runFor(100);
    expect([runs, one.events, engine.world.stat('/locks')]).toEqual([0, [], undefined]);
  });

  it('is refused with the key behind the work, and with a key that is none', async () => {
    expect(await engine.failure(call(work, KEY))).toEqual(
      expect.objectContaining({
        code: 'LOCK_CONFIGURATION',
        message: expect.stringContaining('not "/locks/a". Write'),
      }),
    );
    expect(await engine.failure(call({ key: KEY }, work))).toBeInstanceOf(InvalidLockKeyError);
    expect(runs).toBe(0);
  });
});

describe('detached() and currentLock() as JavaScript may call them', () => {
  it.each<[unknown, string]>([
    [Promise.resolve(), '[object Promise]'],
    [undefined, 'undefined'],
    ['/locks/a', '"/locks/a"'],
  ])('are refused with %p', (wrong, shown) => {
    expect(() => detached(wrong as () => void)).toThrow(
      new LockConfigurationError(`work: must be a function, not ${shown}. Write detached(() => publish())`),
    );
    expect(() => detached(wrong as () => void)).toThrow(LockConfigurationError);
    if (wrong === undefined) return;
    expect(() => currentLock(wrong as () => boolean)).toThrow(
      new LockConfigurationError(
        `filter: must be a function, not ${shown}. Write currentLock((lock) => lock.key === '/locks/orders/42')`,
      ),
    );
  });
});
