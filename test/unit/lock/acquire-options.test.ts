import { describe, expect, it } from '@jest/globals';
import { type AcquireOptions, checkAcquireOptions, checkLeaseMs } from '../../../lib/lock/acquire-options.js';
import { LockConfigurationError } from '../../../lib/lock/errors.js';

function refusalOf(options: unknown): LockConfigurationError {
  try {
    checkAcquireOptions(options as AcquireOptions, '/locks/a');
  } catch (error) {
    if (error instanceof LockConfigurationError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(options)} was not refused`);
}

describe('Of the options of a call,', () => {
  it.each<[keyof AcquireOptions, unknown, string]>([
    ['mode', 'shared', 'one of exclusive, read, write, upgradeable, not "shared"'],
    ['mode', null, 'not null'],
    ['mode', Object.create(null), 'not [object Object]'],
    ['waitMs', -1, 'milliseconds, 0 or more, not -1'],
    ['waitMs', Number.NaN, 'not NaN'],
    ['waitMs', Infinity, 'not Infinity'],
    ['waitMs', '100', 'number of milliseconds'],
    ['waitMs', 5n, 'not 5n'],
    ['waitMs', Symbol('soon'), 'not Symbol(soon)'],
    ['leaseMs', 0, 'above 0, not 0'],
    ['leaseMs', -5, 'above 0'],
    ['leaseMs', Number.NaN, 'not NaN'],
    ['label', 'x'.repeat(201), '200 characters at most, not 201'],
    ['label', 42, 'must be a string'],
    ['signal', 'abort', 'must be an AbortSignal'],
    ['signal', new AbortController(), 'must be an AbortSignal'],
    ['signal', null, 'must be an AbortSignal'],
    ['signal', { aborted: false }, 'must be an AbortSignal'],
    ['reentrant', 'no', 'must be true or false'],
    ['maxWaiting', -1, 'a whole number, 0 or more, or Infinity, not -1'],
    ['maxWaiting', 1.5, 'not 1.5'],
    ['maxWaiting', '5', 'not "5"'],
    ['maxWaiting', Number.NaN, 'not NaN'],
    ['maxWaiting', null, 'not null'],
  ])('%s of %p is refused, with the option, the key and what was expected', (option, value, expected) => {
    const error = refusalOf({ [option]: value });
    expect(error.message).toMatch(new RegExp(`^${option}: `));
    expect(error.message).toContain(expected);
    expect(error.key).toBe('/locks/a');
  });

  it.each([null, 'read', 5])('%p in place of all is refused', (options) => {
    const error = refusalOf(options);
    expect(error.message).toMatch(/^options: must be an object/);
    expect(error.key).toBe('/locks/a');
  });

  it('an option that is none is refused with those that are', () => {
    expect(refusalOf({ timeout: 5 }).message).toBe(
      'timeout: is not an option (the options are: mode, waitMs, signal, leaseMs, reentrant, maxWaiting, atLeastMs, onAbandoned, recover, label, template)',
    );
  });

  it('every sensible value passes, and so does none at all', () => {
    const { signal } = new AbortController();
    const all = { mode: 'read', waitMs: 0, leaseMs: 0.5, label: 'x'.repeat(200), reentrant: false, signal } as const;
    expect(() => checkAcquireOptions(all)).not.toThrow();
    for (const maxWaiting of [0, 1, Infinity]) expect(() => checkAcquireOptions({ maxWaiting })).not.toThrow();
    expect(() => checkAcquireOptions({})).not.toThrow();
    expect(() => checkLeaseMs(1, '/locks/a')).not.toThrow();
  });
});
