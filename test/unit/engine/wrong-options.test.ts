import { describe, expect, it } from '@jest/globals';
import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import { InvalidLockKeyError, LockConfigurationError } from '../../../lib/lock/errors.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/a';

describe('Before any I/O,', () => {
  const { engine, one } = useEngine('one');

  const refusal = async (promise: Promise<unknown>): Promise<string> => {
    const error = await engine.failure(promise);
    expect(error).toBeInstanceOf(LockConfigurationError);
    return error.message;
  };

  it.each<[unknown, RegExp]>([
    [null, /^options: .* not null$/],
    [{ waitMs: 5n }, /^waitMs: .* not 5n$/],
    [{ waitMs: Symbol('soon') }, /^waitMs: .* not Symbol\(soon\)$/],
    [{ mode: Object.create(null) as object }, /^mode: /],
    [{ signal: { aborted: false } }, /^signal: /],
  ])('options %p are refused by every call', async (wrong, message) => {
    const options = wrong as AcquireOptions;
    const { locks } = one;
    expect(await refusal(locks.acquire(KEY, options))).toMatch(message);
    expect(await refusal(locks.tryAcquire(KEY, options))).toMatch(message);
    expect(await refusal(locks.withLock(KEY, () => undefined, options))).toMatch(message);
    expect(await refusal(locks.acquireAll([KEY], options))).toMatch(message);
    expect(engine.world.stat('/locks')).toBeUndefined();
  });

  it.each<[unknown, RegExp]>([
    [{ waitMs: Number.NaN }, /^waitMs: .* not NaN$/],
    [{ waitMs: '5' }, /^waitMs: /],
    [{ signal: 'now' }, /^signal: /],
    [{ mode: 'write' }, /^mode: is not an option \(the options are: waitMs, signal\)$/],
    [null, /^options: /],
  ])('options %p are refused by upgrade(), with the key, and the hold goes on', async (options, message) => {
    const lock = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    const error = await engine.failure(lock.upgrade(options as { waitMs: number }));
    expect(error).toBeInstanceOf(LockConfigurationError);
    expect([error.message, (error as LockConfigurationError).key]).toEqual([expect.stringMatching(message), KEY]);
    expect([lock.isHeld(), lock.mode]).toEqual([true, 'upgradeable']);
  });

  it.each([Number.NaN, Infinity, -1, '100', null])(
    'a grace of %p is refused by close(), which may be called again',
    async (graceMs) => {
      await engine.settle(one.locks.acquire(KEY));
      expect(await refusal(one.locks.close(graceMs as number))).toMatch(
        /^graceMs: must be a number of milliseconds, 0 or more/,
      );
      await engine.settle(one.locks.acquire('/locks/b'));
      await engine.settle(one.locks.close(0));
      expect(one.locks.connectionState).toBe('closed');
    },
  );

  it.each([5, {}, [], Symbol('a')])(
    'options that are none are refused together with a key %p that is none',
    async (none) => {
      const { locks } = one;
      for (const options of [null, 'read', { waitMs: '5' }] as unknown as AcquireOptions[]) {
        const key = none as unknown as string;
        expect(await refusal(locks.acquire(key, options))).toMatch(/^(options|waitMs): /);
        expect(await refusal(locks.tryAcquire(key, options))).toMatch(/^(options|waitMs): /);
        expect(await refusal(locks.withLock(key, () => undefined, options))).toMatch(/^(options|waitMs): /);
      }
      const error = await engine.failure(locks.acquire(none as unknown as string));
      expect(error).toBeInstanceOf(InvalidLockKeyError);
    },
  );

  it('a list of keys that is none is refused, and so is a key in it that is none', async () => {
    const all = (keys: unknown): Promise<unknown> => one.locks.acquireAll(keys as string[]);
    for (const none of [null, undefined, KEY, { key: KEY }])
      expect(await refusal(all(none))).toMatch(/^keys: must be a list/);
    for (const none of [undefined, null, 5, { mode: 'read' }]) {
      expect(await engine.failure(all([none]))).toBeInstanceOf(InvalidLockKeyError);
    }
  });

  it('a mode that is none is refused, and does not become the other one that is asked for the same key', async () => {
    for (const order of [
      ['bogus', 'read'],
      ['read', 'bogus'],
    ]) {
      const keys = order.map((mode) => ({ key: KEY, mode: mode as 'read' }));
      expect(await refusal(one.locks.acquireAll(keys))).toMatch(/^mode: .* not "bogus"$/);
    }
  });
});
