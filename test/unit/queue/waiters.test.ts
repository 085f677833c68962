import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LOCK_MODES } from '../../../lib/lock/mode.js';
import { decide } from '../../../lib/queue/decide.js';
import { waitersIn } from '../../../lib/queue/waiters.js';
import { ours } from './names.js';

describe('The waiters of a queue', () => {
  it('are those that the rule lets wait, each behind the one that it watches', () => {
    const modes = fc.array(fc.constantFrom(...LOCK_MODES), { maxLength: 12 });
    fc.assert(
      fc.property(modes, (drawn) => {
        const names = drawn.map((mode, index) => ours(mode, index));
        const expected = names.flatMap((name) => {
          const decision = decide(names, name);
          return decision.kind === 'wait' ? [{ name, behind: decision.watch.name }] : [];
        });
        expect(waitersIn(names)).toEqual(expected);
      }),
    );
  });

  it('do not count the second node of an upgrader, nor what is no contender', () => {
    const upgrader = ours('upgradeable', 0);
    const intent = upgrader.replace('upgr-__READ__0000000000', '__WRIT__0000000002');
    const [reader, late] = [ours('read', 1), ours('read', 3)];
    expect(waitersIn([upgrader, reader, intent, late, 'orders', '~drained'])).toEqual([{ name: late, behind: intent }]);
  });
});
