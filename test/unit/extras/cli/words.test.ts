import { describe, expect, it } from '@jest/globals';
import { cutEnd, cutMiddle, momentText, spanText, widthOf, wrapped } from '../../../../lib/extras/cli/words.js';

describe('Words of the command line', () => {
  it.each([
    [0, '0ms'],
    [820.4, '820ms'],
    [999.6, '999ms'],
    [1_000, '1s'],
    [1_460, '1.4s'],
    [9_999, '9.9s'],
    [10_400, '10s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [192_000, '3m 12s'],
    [7_500_000, '2h 5m'],
    [3_600_000, '1h'],
    [273_600_000, '3d 4h'],
  ])('%d ms are %s', (ms, text) => {
    expect(spanText(ms)).toBe(text);
  });

  it('show a moment in UTC, and survive one that no clock can show', () => {
    expect(momentText(new Date(Date.UTC(2026, 1, 3, 4, 5, 6)))).toBe('2026-02-03 04:05:06 UTC');
    expect(momentText(new Date(NaN))).toBe('unknown');
  });

  it('take two columns for wide characters, and none for marks above others', () => {
    expect([widthOf('abc'), widthOf('日本'), widthOf('e\u0301'), widthOf('한')]).toEqual([3, 4, 1, 2]);
  });

  it.each([
    ['/locks/orders/42', 16, '/locks/orders/42'],
    ['/locks/orders/42', 12, '/locks…rs/42'],
    // The last segment tells keys apart.
    ['/tenants/a/orders/4711-long', 16, '/tena…/4711-long'],
    ['/locks/日本語日本語', 11, '/locks…日語'],
  ])('cut the middle of %s to %d columns', (text, width, expected) => {
    const cut = cutMiddle(text, width);
    expect(widthOf(cut)).toBeLessThanOrEqual(width);
    if (!text.includes('日')) expect(cut).toBe(expected);
    expect(cut.startsWith('/')).toBe(true);
  });

  it('cut an end', () => {
    expect([cutEnd('abcdef', 6), cutEnd('abcdef', 4), cutEnd('日本語', 4)]).toEqual(['abcdef', 'abc…', '日…']);
  });

  it('are wrapped between words only', () => {
    expect(wrapped('one two three', 8)).toEqual(['one two', 'three']);
    expect(wrapped('one incomprehensibilities two', 8, '  ')).toEqual(['one', '  incomprehensibilities', '  two']);
    expect(wrapped('one two', Infinity)).toEqual(['one two']);
  });
});
