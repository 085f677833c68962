import { describe, expect, it } from '@jest/globals';
import { checkAcquireOptions } from '../../../lib/lock/acquire-options.js';
import { describeUnknownOption } from '../../../lib/lock/option-rules.js';
import { Locked } from '../../../lib/nest/locked/locked.decorator.js';
import type { LockedOptions } from '../../../lib/nest/locked/locked-options.js';
import { resolveOptions } from '../../../lib/resolve-options.js';

const KNOWN = ['waitMs', 'leaseMs', 'label', 'mode', 'keys', 'sessionTimeoutMs', 'connect'];

/** As options come that the compiler knows nothing of: from a file, or from a function without types. */
function untyped<Options>(text: string): Options {
  return JSON.parse(text) as Options;
}

describe('the option that there is not,', () => {
  it.each([
    ['waitMS', 'waitMs'],
    ['WAITMS', 'waitMs'],
    ['wait', 'waitMs'],
    ['waitms', 'waitMs'],
    ['waitMss', 'waitMs'],
    ['leasMs', 'leaseMs'],
    ['lable', 'label'],
    ['key', 'keys'],
    ['sessionTimeout', 'sessionTimeoutMs'],
    ['sesionTimeoutMS', 'sessionTimeoutMs'],
    ['conect', 'connect'],
  ])('%s, is told which was meant: %s', (name, meant) => {
    expect(describeUnknownOption(name, KNOWN)).toBe(
      `is not an option (the options are: ${KNOWN.join(', ')}). Did you mean ${meant}?`,
    );
  });

  it.each(['ttl', 'id', 'servers', 'timeout', 'x', '', 'm', 'x'.repeat(1_000_000)])(
    '%.20s, is told that it is like none of them',
    (name) => {
      expect(describeUnknownOption(name, KNOWN)).toBe(`is not an option (the options are: ${KNOWN.join(', ')})`);
    },
  );
});

describe('options that the compiler knows nothing of are told the nearest name', () => {
  it('the module tells it', () => {
    expect(() => resolveOptions(untyped('{"connect":"memory:","sessionTimeout":1000}'))).toThrow(
      /^sessionTimeout: is not an option \(the options are: .*\)\. Did you mean sessionTimeoutMs\?$/,
    );
  });

  it('a call tells it', () => {
    expect(() => checkAcquireOptions(untyped('{"waitMS":5}'))).toThrow(
      /^waitMS: is not an option .*\. Did you mean waitMs\?$/,
    );
  });

  it('@Locked tells it', () => {
    const define = (): unknown => {
      class Orders {
        @Locked('/a', untyped<LockedOptions>('{"onbusy":"skip"}'))
        async pay(): Promise<void> {}
      }
      return Orders;
    };
    expect(define).toThrow(/^@Locked\('\/a'\) on Orders\.pay: onbusy: is not an option .*\. Did you mean onBusy\?$/);
  });
});
