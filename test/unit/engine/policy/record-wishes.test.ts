import { describe, expect, it } from '@jest/globals';
import { RecordWishes } from '../../../../lib/engine/policy/record-wishes.js';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';

const DELAY_MS = 2_000;
const KEY = '/locks/ledger';
const recover = (): void => undefined;

describe('What a call asks of the record of its key', () => {
  const [plain, delayed] = [new RecordWishes(0), new RecordWishes(DELAY_MS)];

  it('is nothing without onAbandoned and atLeastMs, unless the module has a lock-delay', () => {
    expect([plain.isUsedBy({}), delayed.isUsedBy({})]).toEqual([false, true]);
    expect([plain.isUsedBy({ onAbandoned: 'enter' }), plain.isUsedBy({ atLeastMs: 1 })]).toEqual([true, true]);
    expect(plain.of({})).toEqual({ policy: undefined, canRecover: false, delayMs: 0 });
    expect(delayed.of({})).toEqual({ policy: 'delay', canRecover: false, delayMs: DELAY_MS });
  });

  it('is what it says of onAbandoned, whatever the delay of the module', () => {
    expect(delayed.of({ onAbandoned: 'recover', recover })).toEqual({
      policy: 'recover',
      canRecover: true,
      delayMs: 0,
    });
    expect(delayed.left({ onAbandoned: 'hold' })).toEqual({ policy: 'hold', delayMs: undefined });
  });

  it('is left to those after it: to enter where it asked for nothing, and to wait where the module has a delay', () => {
    expect(plain.left({ atLeastMs: 1 })).toEqual({ policy: 'enter', delayMs: undefined });
    expect(delayed.left({})).toEqual({ policy: 'delay', delayMs: DELAY_MS });
  });

  it("is refused where it is 'delay', and the module has none", () => {
    expect(() => plain.checkOptions({ onAbandoned: 'delay' }, KEY)).toThrow(LockConfigurationError);
    delayed.checkOptions({ onAbandoned: 'delay' }, KEY);
  });
});
