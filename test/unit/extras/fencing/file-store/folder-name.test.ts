import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { folderNameOf } from '../../../../../lib/extras/fencing/file-store/folder-name.js';
import { InvalidLockKeyError } from '../../../../../lib/lock/errors.js';

describe('the folder of a file', () => {
  it.each([
    ['notes', 'notes'],
    ['../x', '%2E.%2Fx'],
    ['.', '%2E'],
    ['..', '%2E.'],
    ['a/b', 'a%2Fb'],
    ['/locks/orders/42', '%2Flocks%2Forders%2F42'],
    ['a\u0000b', 'a%00b'],
    ['..\\x', '%2E.%5Cx'],
    ['.new-1', '%2Enew-1'],
    ['Ab', '%41b'],
    ['é', '%C3%A9'],
    ['%41', '%2541'],
  ])('of %j is %s', (resource, folder) => {
    expect(folderNameOf(resource)).toBe(folder);
  });

  it('is one segment inside the root, and another one for every other name, in capitals or not', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (resource) => {
        const folder = folderNameOf(resource);
        expect(folder).toMatch(/^[^./\\\0][^/\\\0]*$/);
        expect(decodeURIComponent(folder)).toBe(resource);
        // Nothing is lost when capitals are not told apart: they are only in the numbers.
        expect(folder.replace(/%../g, '')).not.toMatch(/[A-Z]/);
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['256 bytes', 'x'.repeat(256)],
    ['256 bytes when encoded', 'é'.repeat(43)],
    ['half a character', 'a\ud800'],
  ])('refuses %s', (_what, resource) => {
    expect(() => folderNameOf(resource)).toThrow(InvalidLockKeyError);
  });

  it('takes 255 bytes', () => {
    expect(folderNameOf('x'.repeat(255))).toHaveLength(255);
  });
});
