import { describe, expect, it } from '@jest/globals';
import { VanishedHolders } from '../../../../lib/engine/policy/vanished-holders.js';

describe('the vanished holders that are remembered', () => {
  const clock = { time: 0, now: (): number => clock.time, setTimer: () => ({ cancel: (): void => undefined }) };

  it('age from the first one on, for each key, until another has vanished', () => {
    const vanished = new VanishedHolders(clock);
    vanished.sawGone('/a', 'x');
    clock.time += 10;
    vanished.sawGone('/a', 'x');
    expect([vanished.ageMs('/a', 'x'), vanished.ageMs('/b', 'x'), vanished.ageMs('/a', 'y')]).toEqual([10, 0, 0]);
    vanished.sawGone('/a', 'y');
    clock.time += 5;
    expect([vanished.ageMs('/a', 'x'), vanished.ageMs('/a', 'y')]).toEqual([0, 5]);
    vanished.forget('/a');
    expect(vanished.ageMs('/a', 'y')).toBe(0);
  });

  it('are remembered up to a bound, and the oldest are forgotten first', () => {
    const vanished = new VanishedHolders(clock);
    for (let index = 0; index < 10_001; index += 1) vanished.sawGone(`/${index}`, 'x');
    clock.time += 10;
    expect([vanished.ageMs('/10000', 'x'), vanished.ageMs('/1', 'x'), vanished.ageMs('/0', 'x')]).toEqual([10, 10, 0]);
  });
});
