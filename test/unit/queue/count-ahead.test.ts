import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LOCK_MODES, type LockMode } from '../../../lib/lock/mode.js';
import { countAhead, decide, readQueue } from '../../../lib/queue/decide.js';
import { anyQueue, idOf, ours } from './names.js';

const KAZOO = 'f3b0c6a2d1e94c7e8a5b6c7d8e9f0a1b';

function ahead(names: readonly string[], mode: LockMode): number {
  return countAhead(readQueue(names), mode);
}

function queueOf(...modes: LockMode[]): string[] {
  return modes.map((mode, index) => ours(mode, index));
}

describe('Of those ahead of a newcomer', () => {
  it.each<[number, LockMode, LockMode[]]>([
    [0, 'exclusive', []],
    [1, 'exclusive', ['exclusive']],
    [3, 'exclusive', ['exclusive', 'exclusive', 'exclusive']],
    // Readers that are inside together are waited for together.
    [1, 'write', ['read', 'read', 'read']],
    [1, 'exclusive', ['upgradeable', 'read', 'read']],
    // Each that waits is one.
    [3, 'write', ['write', 'read', 'read']],
    [5, 'write', ['read', 'read', 'write', 'read', 'read', 'write']],
    // Readers do not wait for readers, nor for who may become a writer.
    [0, 'read', ['read', 'upgradeable', 'read']],
    [1, 'read', ['write', 'read', 'read', 'read']],
    [2, 'read', ['write', 'read', 'write']],
    [1, 'read', ['read', 'write']],
    [0, 'upgradeable', ['read', 'read']],
    [2, 'upgradeable', ['upgradeable', 'read', 'upgradeable']],
  ])('%i count for one of mode %s behind %p', (count, mode, modes) => {
    expect(ahead(queueOf(...modes), mode)).toBe(count);
  });

  it('an upgrader and its intent are one; a reader waits for the intent', () => {
    const id = idOf(1);
    const names = [ours('read', 0), ours('upgradeable', 1, id), ours('write', 2, id)];
    expect(LOCK_MODES.map((mode) => ahead(names, mode))).toEqual(LOCK_MODES.map(() => 1));
  });

  it('contenders of other makes, which may have no id, count each', () => {
    const names = [`${KAZOO}__lock__0000000001`, 'lock-0000000002', 'lock-0000000003', 'config-0000000004'];
    expect(ahead(names, 'exclusive')).toBe(3);
  });

  it('there is none exactly where the newcomer would hold, and never fewer behind one more', () => {
    fc.assert(
      fc.property(anyQueue(), fc.constantFrom(...LOCK_MODES), fc.nat(), ({ contenders, children }, mode, drop) => {
        const count = ahead(children, mode);
        const last = contenders.at(-1)?.sequence ?? 0;
        const own = ours(mode, last + 1, idOf(999_999));
        expect(count === 0).toBe(decide([...children, own], own).kind === 'hold');
        expect(count).toBeLessThanOrEqual(contenders.length);
        const without = contenders.map(({ name }) => name).filter((_, index) => index !== drop % contenders.length);
        expect(ahead(without, mode)).toBeLessThanOrEqual(count);
      }),
    );
  });
});
