import { describe, expect, it } from '@jest/globals';
import { InvalidLockKeyError } from '../../../../lib/lock/errors.js';
import { encodeKeyValue } from '../../../../lib/nest/locked/key-template.js';
import { telling } from '../../../support/telling.js';

const encode = (value: unknown): string => encodeKeyValue(value, 'id', '/locks/:id');

describe('the value of a placeholder', () => {
  it.each([
    ['42', '42'],
    [42, '42'],
    [1.5, '1.5'],
    [2n ** 64n, '18446744073709551616'],
    ['a/b', 'a%2Fb'],
    ['../x', '..%2Fx'],
    ['Zoë', 'Zo%C3%AB'],
    ['.', '%2E'],
    ['..', '%2E%2E'],
    ['...', '...'],
  ])('%p stands in the key as %s', (value, expected) => {
    expect(encode(value)).toBe(expected);
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['', 'an empty string'],
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
    [2 ** 53, '9007199254740992, which several integers are rounded to: use a bigint'],
    [-(2 ** 53), '-9007199254740992, which several integers are rounded to: use a bigint'],
    [1e300, '1e+300, which several integers are rounded to: use a bigint'],
    [true, 'a value of type boolean'],
    [{}, 'a value of type object'],
    [['a'], 'an array'],
    [Symbol('s'), 'a value of type symbol'],
    [new Date(0), 'a value of type object'],
  ])('is refused where it is %p', (value, described) => {
    expect(() => encode(value)).toThrow(InvalidLockKeyError);
    expect(() => encode(value)).toThrow(
      telling(
        `The lock key /locks/:id needs a value for ":id": a non-empty string, a finite number or a bigint, not ${described}`,
      ),
    );
  });

  it('is refused where it is half a character', () => {
    expect(() => encode('\ud800')).toThrow(InvalidLockKeyError);
  });
});
