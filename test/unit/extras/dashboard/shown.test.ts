import { describe, expect, it } from '@jest/globals';
import {
  labelOf,
  placeOf,
  plural,
  shownCount,
  shownDate,
  shownDuration,
} from '../../../../lib/extras/dashboard/shown.js';

describe('What people read', () => {
  it.each([
    [-5, '0 ms'],
    [999.9, '999 ms'],
    [1_000, '1.0 s'],
    [9_999, '9.9 s'],
    [10_000, '10 s'],
    [59_999, '59 s'],
    [61_000, '1 min 01 s'],
    [3_599_999, '59 min 59 s'],
    [3_660_000, '1 h 01 min'],
    [90_000_000, '1 d 01 h'],
  ])('shows %d milliseconds as %s', (ms, text) => {
    expect(shownDuration(ms)).toBe(text);
  });

  it('shows counts in groups of three, and with the right noun', () => {
    expect([0, 999, 1_000, 1_234_567].map(shownCount)).toEqual(['0', '999', '1\u00a0000', '1\u00a0234\u00a0567']);
    expect([plural(1, 'lock', 'locks'), plural(2, 'lock', 'locks')]).toEqual(['1 lock', '2 locks']);
  });

  it('shows dates in the time zone of logs', () => {
    expect(shownDate(new Date('2027-01-02T03:04:05.678Z'))).toBe('2027-01-02 03:04:05 UTC');
  });

  it('shows contenders that say nothing of themselves as that', () => {
    expect([labelOf(undefined), placeOf(undefined)]).toEqual(['without a label', 'unknown process']);
    expect(placeOf({ host: 'a' })).toBe('a');
    expect(placeOf({ host: 'a', pid: 7 })).toBe('a:7');
  });
});
