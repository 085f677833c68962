import { describe, expect, it } from '@jest/globals';
import { checkResource } from '../../../lib/fencing/checks.js';
import { InvalidLockKeyError } from '../../../lib/lock/errors.js';
import { telling } from '../../support/telling.js';

describe('the name of a resource', () => {
  it.each([['x'], ['/locks/orders/42'], ['..'], ['Журнал 😀'], ['x'.repeat(4096)]])('may be %s', (name) => {
    checkResource(name);
  });

  it.each<[string, unknown]>([
    ['undefined is no text', undefined],
    ['42 is no text', 42],
    ['5n is no text', 5n],
    ['null is no text', null],
    ['"" is empty', ''],
    ['"a\\u0000b" has a NUL in it', 'a\0b'],
    ['"a\\ud800" has half of a surrogate pair', 'a\ud800'],
    ['"\\udc00\\ud800" has half of a surrogate pair', '\udc00\ud800'],
    [`${'x'.repeat(80)}..." has 4097 bytes, of 4096 at most`, 'x'.repeat(4097)],
    ['" has 4098 bytes, of 4096 at most', 'Ж'.repeat(2049)],
  ])('is none when %s', (reason, name) => {
    expect(() => checkResource(name as string)).toThrow(InvalidLockKeyError);
    expect(() => checkResource(name as string)).toThrow(telling(reason));
  });
});
