import { tmpdir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { folderNameOf, resourceOf } from '../../../../lib/fencing/file-store/folder-name.js';

describe('the folder of a file', () => {
  it.each([
    ['notes', 'notes'],
    ['../x', '%2E.%2Fx'],
    ['.', '%2E'],
    ['..', '%2E.'],
    ['a/b', 'a%2Fb'],
    ['/locks/orders/42', '%2Flocks%2Forders%2F42'],
    ['..\\x', '%2E.%5Cx'],
    ['.new-1', '%2Enew-1'],
    ['Ab', '%41b'],
    ['é', '%C3%A9'],
    ['%41', '%2541'],
  ])('is for %j: %s', (resource, folder) => {
    expect(folderNameOf(resource)).toEqual({ folder });
  });

  it('is one segment inside the root, and another one for every other name, in capitals or not', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (resource) => {
        const { folder } = folderNameOf(resource);
        expect(folder).toMatch(/^[^./\\\0][^/\\\0]*$/);
        expect(decodeURIComponent(folder)).toBe(resource);
        // Nothing is lost when capitals are not told apart: they are only in the numbers.
        expect(folder.replace(/%../g, '')).not.toMatch(/[A-Z]/);
      }),
    );
  });

  it('is written out as far as a file system takes it, and a digest beyond', () => {
    expect(folderNameOf('x'.repeat(255))).toEqual({ folder: 'x'.repeat(255) });

    const long = folderNameOf('x'.repeat(256));
    expect(long).toEqual({ folder: expect.stringMatching(/^sha256=[0-9a-f]{64}$/), nameInside: 'x'.repeat(256) });
    expect(folderNameOf('x'.repeat(257)).folder).not.toBe(long.folder);
  });

  it('is never the digest of another one', () => {
    const { folder } = folderNameOf('Ж'.repeat(100));
    expect(folderNameOf(folder).folder).toBe(folder.replace('=', '%3D'));
  });

  it.each(['.new-1', 'lost+found', 'Ab', '%zz', `sha256=${'0'.repeat(64)}`])(
    'is not %s, which somebody else has made',
    async (folder) => {
      expect(await resourceOf(tmpdir(), folder)).toBeUndefined();
    },
  );
});
