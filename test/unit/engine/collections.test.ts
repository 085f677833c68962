import { describe, expect, it } from '@jest/globals';
import { type Member, IndexedSet } from '../../../lib/engine/collections.js';

interface Named extends Member {
  readonly name: string;
}

function members(...names: string[]): Named[] {
  return names.map((name) => ({ name, setIndex: -1 }));
}

function namesIn(set: IndexedSet<Named>): string[] {
  return set
    .all()
    .map(({ name }) => name)
    .sort();
}

describe('an indexed set', () => {
  it('has what was added and not deleted, whichever goes first', () => {
    for (const leaver of [0, 1, 2]) {
      const all = members('a', 'b', 'c');
      const set = new IndexedSet<Named>();
      all.forEach((member) => set.add(member));
      expect(set.delete(all[leaver]!)).toBe(true);
      expect(set.size).toBe(2);
      expect(namesIn(set)).toEqual(['a', 'b', 'c'].filter((_, index) => index !== leaver));
      for (const member of all) expect(set.has(member)).toBe(member !== all[leaver]);
      for (const member of all) set.delete(member);
      expect(set.all()).toEqual([]);
    }
  });

  it('deletes nobody for one who is not in it, or no longer', () => {
    const [inside, outside] = members('inside', 'outside') as [Named, Named];
    const set = new IndexedSet<Named>();
    set.add(inside);
    expect(set.delete(outside)).toBe(false);
    expect(set.delete(inside)).toBe(true);
    expect(set.delete(inside)).toBe(false);
    set.add(inside);
    expect(namesIn(set)).toEqual(['inside']);
  });

  it('lets members go while it is being gone through', () => {
    const set = new IndexedSet<Named>();
    members('a', 'b', 'c').forEach((member) => set.add(member));
    for (const member of set.all()) set.delete(member);
    expect(set.size).toBe(0);
  });
});
