import { describe, expect, it } from '@jest/globals';
import { Deadline } from '../../../lib/lock/deadline.js';
import { ManualClock } from '../support/manual-clock.js';

describe('a deadline', () => {
  it('is an instant on the clock, however often it is asked', () => {
    const clock = new ManualClock(5_000);
    const deadline = Deadline.after(clock, 100);
    clock.pass(40);
    expect([deadline.remainingMs(), deadline.elapsedMs(), deadline.hasPassed()]).toEqual([60, 40, false]);
    clock.pass(59.5);
    expect(deadline.hasPassed()).toBe(false);
    clock.pass(0.5);
    expect([deadline.remainingMs(), deadline.hasPassed()]).toEqual([0, true]);
    clock.pass(1_000);
    expect([deadline.remainingMs(), deadline.elapsedMs()]).toEqual([0, 1_100]);
  });

  it('has passed if it is of 0 ms', () => {
    expect(Deadline.after(new ManualClock(), 0).hasPassed()).toBe(true);
  });
});
