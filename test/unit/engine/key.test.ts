import { describe, expect, it } from '@jest/globals';
import { checkKey } from '../../../lib/engine/key.js';
import { InvalidLockKeyError } from '../../../lib/lock/errors.js';
import { telling } from '../../support/telling.js';
import { ours } from '../queue/names.js';

describe('a key', () => {
  it.each([
    ['', 'empty'],
    ['/', 'the root'],
    ['orders', 'not absolute'],
    ['/locks/', 'a slash at the end'],
    ['/locks//a', 'an empty segment'],
    ['/locks/../a', 'a segment that is ..'],
    ['/locks/a\u0000', 'a control character'],
    ['/locks/🔒', 'an emoji'],
    ['/.sessions/1', "the sessions' own nodes"],
    ['/locks/lock-0000000001', 'a segment like a queue node'],
    [`/locks/${ours('read', 3)}/a`, 'one of our own nodes'],
    ['/locks/lock--000000001', 'a queue node past the ceiling'],
  ])('is refused as %j: %s', (key) => {
    expect(() => checkKey(key)).toThrow(InvalidLockKeyError);
    expect(() => checkKey(key)).toThrow(expect.objectContaining({ key }));
  });

  it.each([[undefined], [null], [42], [{}]])('is refused as %p, which is no string', (key) => {
    expect(() => checkKey(key as string)).toThrow(InvalidLockKeyError);
  });

  it.each(['/a', '/locks/orders/42', '/locks/0000000001', '/locks/größe/数量', '/locks/a b', '/locks/%F0%9F%94%92'])(
    'may be %s',
    (key) => {
      expect(() => checkKey(key)).not.toThrow();
    },
  );

  it.each([
    ['of 4 097 characters', `/${'x'.repeat(4_096)}`],
    ['of 65 segments', '/x'.repeat(65)],
    ['of 65 longer segments', '/segment'.repeat(65)],
  ])('%s is refused: it would stall the session to make it', (_what, key) => {
    expect(() => checkKey(key)).toThrow(telling('A key has at most 4096 characters and 64 segments'));
    expect(() => checkKey(key)).toThrow(expect.objectContaining({ code: 'INVALID_LOCK_KEY', key }));
  });

  it.each([`/${'x'.repeat(4_095)}`, '/x'.repeat(64), '/segment'.repeat(64)])('may be as long as its limits', (key) => {
    expect(() => checkKey(key)).not.toThrow();
  });

  it('is cut in the message where it is very long, and whole on the error', () => {
    const key = `locks/${'x'.repeat(5_000)}`;
    expect(() => checkKey(key)).toThrow(expect.objectContaining({ key }));
    expect(() => checkKey(key)).toThrow(/^.{0,500}$/s);
  });
});
