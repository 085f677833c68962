import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ancestry, checkPath, withChroot, withoutChroot } from '../../../lib/session/paths.js';

/** ZooKeeper's own rules (`PathUtils.validatePath`), written out. */
function acceptedByServers(path: string): boolean {
  if (!path.startsWith('/')) return false;
  if (path === '/') return true;
  return path
    .slice(1)
    .split('/')
    .every(
      (segment) =>
        segment !== '' &&
        segment !== '.' &&
        segment !== '..' &&
        [...Array(segment.length).keys()].every((index) => !refused(segment.charCodeAt(index))),
    );
}

function refused(unit: number): boolean {
  return unit <= 0x1f || (unit >= 0x7f && unit <= 0x9f) || (unit >= 0xd800 && unit <= 0xf8ff) || unit >= 0xfff0;
}

describe('A path', () => {
  it.each([
    ['no path', ''],
    ['a relative path', 'a/b'],
    ['an empty segment', '/a//b'],
    ['an empty first segment', '//a'],
    ['a slash at the end', '/a/'],
    ['a dot', '/a/./b'],
    ['a dot at the end', '/.'],
    ['two dots', '/../a'],
    ['two dots at the end', '/a/..'],
    ['NUL', '/a\u0000'],
    ['a control character', '/a\u001f'],
    ['a line feed at the end', '/a\n'],
    ['DEL', '/a\u007f'],
    ['C1', '/a\u0085'],
    ['the end of C1', '/a\u009f'],
    ['private use', '/a\ue000'],
    ['the end of private use', '/a\uf8ff'],
    ['specials', '/a\ufff0'],
    ['U+FFFF', '/a\uffff'],
    ['an emoji, as all beyond the BMP', '/a🔒'],
    ['half a surrogate pair', '/a\ud83d'],
  ])('is refused here, before any I/O, if servers refuse it: %s', (_, path) => {
    expect(checkPath(path)).toMatchObject({ code: 'BAD_ARGUMENTS', path });
  });

  it.each([
    '/',
    '/a',
    '/a/b',
    '/...',
    '/.a',
    '/a.',
    '/..a',
    '/a b',
    '/é',
    '/鎖',
    '/%2F',
    '/\u00a0',
    '/\uf900',
    '/\uffef',
    `/${'x'.repeat(10_000)}`,
  ])('is accepted as %j', (path) => {
    expect(checkPath(path)).toBeUndefined();
  });

  it('is refused by the servers’ own rule, and by no other', () => {
    const unit = fc.oneof(
      fc.constantFrom('/', '.', 'a'),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    );
    const path = fc.array(unit, { maxLength: 12 }).map((units) => `/${units.join('')}`);
    fc.assert(
      fc.property(path, (given) => {
        expect(checkPath(given) === undefined).toBe(acceptedByServers(given));
      }),
      { numRuns: 2_000 },
    );
  });

  it('may end in a slash for a sequential node, where the server puts the number', () => {
    expect(checkPath('/queue/', true)).toBeUndefined();
    expect(checkPath('/', true)).toBeUndefined();
    expect(checkPath('/queue//', true)?.code).toBe('BAD_ARGUMENTS');
  });

  it.each([
    ['one long segment', (length: number) => `/${'x'.repeat(length)}\u0000`],
    ['many short segments', (length: number) => `${'/x'.repeat(length / 2)}\u0000`],
    ['dots', (length: number) => `/${'.'.repeat(length)}\u0000`],
    ['slashes', (length: number) => '/'.repeat(length)],
    ['dot segments', (length: number) => `${'/...'.repeat(length / 4)}/.`],
  ])('is checked in linear time: %s', (_, make) => {
    // A pattern that backtracks would take hours for this length, not a moment.
    expect(checkPath(make(1_000_000))?.code).toBe('BAD_ARGUMENTS');
  });
});

describe('A path with its chroot', () => {
  it('comes out again as it went in, the root included', () => {
    for (const chroot of ['', '/ch', '/a/b']) {
      for (const path of ['/', '/x', '/x/y']) expect(withoutChroot(chroot, withChroot(chroot, path))).toBe(path);
    }
    expect(withChroot('/ch', '/')).toBe('/ch');
  });

  it('has its ancestors listed from the top down', () => {
    expect(ancestry('/a/bc/d')).toEqual(['/a', '/a/bc', '/a/bc/d']);
    expect(ancestry('/')).toEqual([]);
    expect(ancestry('')).toEqual([]);
  });
});
