import { describe, expect, it } from '@jest/globals';
import { type Member, Roster } from '../../../lib/engine/roster.js';

interface Named extends Member {
  readonly name: string;
}

function members(...names: string[]): Named[] {
  return names.map((name) => ({ name, rosterIndex: -1 }));
}

function namesIn(roster: Roster<Named>): string[] {
  return roster
    .all()
    .map(({ name }) => name)
    .sort();
}

describe('a roster', () => {
  it('has what was added and not deleted, whichever goes first', () => {
    for (const leaver of [0, 1, 2]) {
      const all = members('a', 'b', 'c');
      const roster = new Roster<Named>();
      all.forEach((member) => roster.add(member));
      expect(roster.delete(all[leaver]!)).toBe(true);
      expect(roster.size).toBe(2);
      expect(namesIn(roster)).toEqual(['a', 'b', 'c'].filter((_, index) => index !== leaver));
      for (const member of all) expect(roster.has(member)).toBe(member !== all[leaver]);
      for (const member of all) roster.delete(member);
      expect(roster.all()).toEqual([]);
    }
  });

  it('deletes nobody for one who is not in it, or no longer', () => {
    const [inside, outside] = members('inside', 'outside') as [Named, Named];
    const roster = new Roster<Named>();
    roster.add(inside);
    expect(roster.delete(outside)).toBe(false);
    expect(roster.delete(inside)).toBe(true);
    expect(roster.delete(inside)).toBe(false);
    roster.add(inside);
    expect(namesIn(roster)).toEqual(['inside']);
  });

  it('lets members go while it is being gone through', () => {
    const roster = new Roster<Named>();
    members('a', 'b', 'c').forEach((member) => roster.add(member));
    for (const member of roster.all()) roster.delete(member);
    expect(roster.size).toBe(0);
  });
});
