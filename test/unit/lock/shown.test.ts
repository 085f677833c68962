import { describe, expect, it } from '@jest/globals';
import { shown } from '../../../lib/lock/shown.js';

describe('a wrong value in a message', () => {
  it.each<[unknown, string]>([
    ['10000', '"10000"'],
    [10_000, '10000'],
    [10_000n, '10000n'],
    [Number.NaN, 'NaN'],
    [undefined, 'undefined'],
    [null, 'null'],
    [Symbol('x'), 'Symbol(x)'],
    [[1], '[object Array]'],
    [{ password: 'secret' }, '[object Object]'],
    [Object.create(null), '[object Object]'],
    [() => 'secret', 'a function'],
  ])('%p is shown as %p', (value, text) => {
    expect(shown(value)).toBe(text);
  });
});
