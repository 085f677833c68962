import { describe, expect, it } from '@jest/globals';
import { LOCK_MODES, type LockMode } from '../../../lib/lock/mode.js';
import { blocks, decide, readersInside, readQueue } from '../../../lib/queue/decide.js';
import { idOf, ours } from './names.js';

const CURATOR = '_c_a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d-';
const KAZOO = 'f3b0c6a2d1e94c7e8a5b6c7d8e9f0a1b';

function because(children: readonly string[], own: string): string {
  const decision = decide([...children, own], own);
  return decision.kind === 'refuse' ? decision.reason.because : decision.kind;
}

describe('By the rule of the queue,', () => {
  it.each<[LockMode, LockMode[]]>([
    ['exclusive', ['exclusive', 'write', 'read', 'upgradeable']],
    ['write', ['exclusive', 'write', 'read', 'upgradeable']],
    ['read', ['exclusive', 'write']],
    ['upgradeable', ['exclusive', 'write', 'upgradeable']],
  ])('%s waits for %p ahead, and for nothing else', (mode, blockers) => {
    expect(LOCK_MODES.filter((ahead) => blocks(ahead, mode)).sort()).toEqual(blockers.sort());
  });

  it('order is by number: 9 before 10, and names do not matter', () => {
    const children = [ours('write', 10), `zzz-lock-0000000009`, ours('exclusive', 1_000_000_000)];
    expect(readQueue(children).map(({ sequence }) => sequence)).toEqual([9, 10, 1_000_000_000]);
    expect(
      decide(
        children.filter((name) => !name.startsWith('zzz')),
        ours('write', 10),
      ).kind,
    ).toBe('hold');
  });

  it('children that are no queue nodes neither block nor count as somebody ahead', () => {
    const [first, own] = [ours('exclusive', 4), ours('exclusive', 5)];
    const decision = decide(['0', 'orders', 'config-0000000001', first, own, '.sessions'], own);
    expect(decision).toMatchObject({ kind: 'wait', watch: { name: first }, onlyOneAhead: true });
  });

  it('a contender that does not find itself has lost its node', () => {
    expect(decide([ours('read', 1)], ours('read', 2))).toEqual({ kind: 'gone' });
    expect(decide([], ours('exclusive', 2))).toEqual({ kind: 'gone' });
  });

  it('a writer does not overtake readers and is not starved by later ones', () => {
    const children = [ours('read', 1), ours('write', 2), ours('read', 3)];
    expect(decide(children, children[1]!)).toMatchObject({ kind: 'wait', watch: { name: children[0] } });
    expect(decide(children, children[2]!)).toMatchObject({ kind: 'wait', watch: { name: children[1] } });
  });

  it.each([2_147_483_647, -2_147_483_648, -1])(
    'a counter at %p refuses everybody, ahead, behind and oneself',
    (number) => {
      const sign = number < 0 ? '-' : '';
      const spent = `lock-${sign}${String(Math.abs(number)).padStart(number < 0 ? 9 : 10, '0')}`;
      expect(because([spent], ours('exclusive', 7))).toBe('counter spent');
      expect(because([ours('exclusive', 7)], spent)).toBe('counter spent');
    },
  );
});

describe('As with a client of another make a key belongs to one family,', () => {
  it.each<[LockMode, string, string]>([
    ['exclusive', `${CURATOR}lock-0000000001`, 'wait'],
    ['exclusive', `${KAZOO}__lock__0000000001`, 'wait'],
    ['exclusive', 'lock-0000000001', 'wait'],
    ['exclusive', `${CURATOR}__WRIT__0000000001`, 'foreign family'],
    ['exclusive', `${CURATOR}__READ__0000000001`, 'foreign family'],
    ['exclusive', `${KAZOO}__rlock__0000000001`, 'foreign family'],
    ['write', `${CURATOR}__WRIT__0000000001`, 'wait'],
    ['write', `${CURATOR}__READ__0000000001`, 'wait'],
    ['write', `${KAZOO}__rlock__0000000001`, 'wait'],
    ['write', `${KAZOO}__lock__0000000001`, 'wait'],
    ['write', `${CURATOR}lock-0000000001`, 'foreign family'],
    ['read', `${CURATOR}__READ__0000000001`, 'hold'],
    ['read', `${CURATOR}__WRIT__0000000001`, 'wait'],
    ['read', `${KAZOO}__lock__0000000001`, 'wait'],
    ['read', `${CURATOR}lock-0000000001`, 'foreign family'],
    ['upgradeable', `${CURATOR}lock-0000000001`, 'foreign family'],
    ['upgradeable', `${CURATOR}__WRIT__0000000001`, 'foreign family'],
    ['upgradeable', `${CURATOR}__READ__0000000001`, 'foreign family'],
    ['upgradeable', `${KAZOO}__rlock__0000000001`, 'foreign family'],
  ])('%s behind %s gets the answer: %s', (mode, foreign, expected) => {
    expect(because([foreign], ours(mode, 5))).toBe(expected);
  });

  it('the other family is refused behind us as well, as it would not see us', () => {
    expect(because([`${CURATOR}__WRIT__0000000009`], ours('exclusive', 5))).toBe('foreign family');
  });

  it('our own families mix', () => {
    const own = ours('exclusive', 5);
    for (const mode of LOCK_MODES) expect(because([ours(mode, 3), ours(mode, 8)], own)).toBe('wait');
  });
});

describe('a reader that an upgrader may have overlooked', () => {
  const id = idOf(1);
  const upgrader = ours('upgradeable', 1, id);
  const reader = ours('read', 2);
  const intent = ours('write', 3, id);

  it('holds when the intent names it', () => {
    expect(decide([upgrader, reader, intent], reader)).toMatchObject({
      kind: 'hold if named',
      intents: [{ name: intent }],
    });
  });

  it('is one between the upgrader and its intent, and no other', () => {
    const before = ours('read', 0);
    expect(decide([before, upgrader, reader, intent], before).kind).toBe('hold');
    const behind = ours('read', 4);
    expect(decide([upgrader, intent, behind], behind)).toMatchObject({ kind: 'wait', watch: { name: intent } });
  });

  it('does not take another writer in the queue for an intent, nor an intent whose upgrader is gone', () => {
    expect(decide([upgrader, reader, ours('write', 3)], reader).kind).toBe('hold');
    expect(decide([reader, intent], reader).kind).toBe('hold');
  });

  it('waits for a writer ahead first', () => {
    const writer = ours('write', 2);
    const late = ours('read', 4);
    const decision = decide([upgrader, writer, late, ours('write', 5, id)], late);
    expect(decision).toMatchObject({ kind: 'wait', watch: { name: writer } });
  });

  it.each(['write', 'exclusive'] as const)(
    'is inside when no %s contender stands before it: those the upgrader waits for',
    (mode) => {
      const names = [ours('read', 0), upgrader, reader, ours(mode, 3), ours('read', 4), ours('write', 5, id)];
      const intent = ours('write', 5, id);
      expect(readersInside(names, intent).map(({ sequence }) => sequence)).toEqual([0, 2]);
      expect(readersInside([...names].reverse(), intent).map(({ sequence }) => sequence)).toEqual([0, 2]);
    },
  );

  it('is inside behind a writer that stands in front of the upgrader, which has given its lock back', () => {
    const names = [
      ours('write', 0),
      ours('read', 1),
      ours('upgradeable', 2, id),
      ours('read', 3),
      ours('write', 5, id),
    ];
    expect(readersInside(names, ours('write', 5, id)).map(({ sequence }) => sequence)).toEqual([1, 3]);
  });
});
