import { describe, expect, it } from '@jest/globals';
import { Sightings } from '../../../../lib/engine/policy/sightings.js';

describe('sightings', () => {
  const clock = { time: 0, now: (): number => clock.time, setTimer: () => ({ cancel: (): void => undefined }) };

  it('of a holder that vanished age from the first one on, for each key, until another has vanished', () => {
    const sightings = new Sightings(clock);
    sightings.sawGone('/a', 'x');
    clock.time += 10;
    sightings.sawGone('/a', 'x');
    expect([sightings.ageMs('/a', 'x'), sightings.ageMs('/b', 'x'), sightings.ageMs('/a', 'y')]).toEqual([10, 0, 0]);
    sightings.sawGone('/a', 'y');
    clock.time += 5;
    expect([sightings.ageMs('/a', 'x'), sightings.ageMs('/a', 'y')]).toEqual([0, 5]);
    sightings.forget('/a');
    expect(sightings.ageMs('/a', 'y')).toBe(0);
  });

  it('are remembered up to a bound; the oldest go first', () => {
    const sightings = new Sightings(clock);
    for (let index = 0; index < 10_001; index += 1) sightings.sawGone(`/${index}`, 'x');
    clock.time += 10;
    expect([sightings.ageMs('/10000', 'x'), sightings.ageMs('/1', 'x'), sightings.ageMs('/0', 'x')]).toEqual([
      10, 10, 0,
    ]);
  });
});
