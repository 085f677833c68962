import { describe, expect, it } from '@jest/globals';
import { covers, LOCK_MODES, type LockMode, strongest } from '../../../lib/lock/mode.js';

describe('Of the modes,', () => {
  it.each<[LockMode, LockMode[]]>([
    ['exclusive', ['exclusive', 'read', 'write', 'upgradeable']],
    ['write', ['exclusive', 'read', 'write', 'upgradeable']],
    ['upgradeable', ['read', 'upgradeable']],
    ['read', ['read']],
  ])('whoever holds %s has the rights of %p', (held, asked) => {
    expect(LOCK_MODES.filter((mode) => covers(held, mode)).sort()).toEqual(asked.sort());
  });

  it.each<[LockMode, LockMode, LockMode]>([
    ['read', 'read', 'read'],
    ['read', 'upgradeable', 'upgradeable'],
    ['read', 'write', 'write'],
    ['read', 'exclusive', 'exclusive'],
    ['upgradeable', 'write', 'write'],
    ['upgradeable', 'exclusive', 'exclusive'],
    ['upgradeable', 'upgradeable', 'upgradeable'],
  ])('%s and %s together make %s', (left, right, expected) => {
    expect([strongest(left, right), strongest(right, left)]).toEqual([expected, expected]);
  });

  it('the one that is chosen for two has the rights of both, and is one of them', () => {
    for (const left of LOCK_MODES) {
      for (const right of LOCK_MODES) {
        const chosen = strongest(left, right);
        expect([left, right]).toContain(chosen);
        expect([covers(chosen, left), covers(chosen, right)]).toEqual([true, true]);
      }
    }
  });
});
