import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Timers } from '../../../lib/engine/timers.js';
import { ManualClock } from '../support/manual-clock.js';

/** A clock that counts how many timers were ever set. */
class CountingClock extends ManualClock {
  set = 0;

  override setTimer(...timer: Parameters<ManualClock['setTimer']>): ReturnType<ManualClock['setTimer']> {
    this.set += 1;
    return super.setTimer(...timer);
  }
}

describe('timers', () => {
  it('go off in the order of their instants, each once and not before', () => {
    const clock = new ManualClock(0);
    const timers = new Timers(clock);
    const fired: [number, number][] = [];
    for (const at of [50, 10, 30, 10, 20]) timers.set(at, () => fired.push([at, clock.now()]));
    clock.pass(1_000);
    expect(fired).toEqual([
      [10, 10],
      [10, 10],
      [20, 20],
      [30, 30],
      [50, 50],
    ]);
    expect(clock.timers).toBe(0);
  });

  it('share one timer, and leave none at rest', () => {
    const clock = new ManualClock(0);
    const timers = new Timers(clock);
    const set = Array.from({ length: 100 }, (_, index) => timers.set(2_000 - index, () => undefined));
    expect(clock.timers).toBe(1);
    for (const timer of set) timer.cancel();
    expect(clock.timers).toBe(0);
  });

  it('are shared by short locks with those before them, and leave none behind the last', () => {
    const clock = new CountingClock(0);
    const timers = new Timers(clock);
    for (let lock = 0; lock < 1_000; lock += 1) {
      timers.set(clock.now() + 250, () => undefined).cancel();
      clock.pass(1);
    }
    expect(clock.set).toBe(4);
    expect(clock.timers).toBe(0);
  });

  it('keep no process alive when nothing waits for them, and are in time for those who do', () => {
    const clock = new ManualClock(0);
    const timers = new Timers(clock);
    const fired: number[] = [];
    timers.set(250, () => fired.push(250)).cancel();
    expect(clock.timers).toBe(1);
    timers.rest();
    expect(clock.timers).toBe(0);
    timers.set(300, () => fired.push(300));
    timers.rest();
    clock.pass(300);
    expect(fired).toEqual([300]);
  });

  it('stay silent once they were cancelled; cancelling twice, or after it went off, does nothing', () => {
    const clock = new ManualClock(0);
    const timers = new Timers(clock);
    const fired: string[] = [];
    const first = timers.set(10, () => fired.push('first'));
    const second = timers.set(20, () => fired.push('second'));
    timers.set(30, () => fired.push('third'));
    first.cancel();
    first.cancel();
    clock.pass(25);
    second.cancel();
    expect([fired, clock.timers]).toEqual([['second'], 1]);
    clock.pass(100);
    expect([fired, clock.timers]).toEqual([['second', 'third'], 0]);
  });

  it('refuse an instant that is none, which would keep all behind it from going off', () => {
    const clock = new ManualClock();
    const timers = new Timers(clock);
    expect(() => timers.set(Number.NaN, () => undefined)).toThrow(RangeError);
    expect(clock.timers).toBe(0);
  });

  it('may set and cancel others while they go off', () => {
    const clock = new ManualClock(0);
    const timers = new Timers(clock);
    const fired: string[] = [];
    const doomed = timers.set(10, () => fired.push('doomed'));
    timers.set(5, () => {
      fired.push('first');
      doomed.cancel();
      timers.set(5, () => fired.push('at once'));
      timers.set(7, () => fired.push('soon'));
    });
    clock.pass(100);
    expect([fired, clock.timers]).toEqual([['first', 'at once', 'soon'], 0]);
  });

  it('go off although one before them throws, and what it throws goes the way of every timer', () => {
    const clock = new ManualClock(0);
    const timers = new Timers(clock);
    const fired: number[] = [];
    const failure = new Error('of one callback');
    timers.set(10, () => fired.push(10));
    timers.set(20, () => {
      throw failure;
    });
    for (const at of [20, 20, 30, 500]) timers.set(at, () => fired.push(at));
    clock.block(100);
    expect(() => clock.pass(1)).toThrow(failure);
    clock.pass(1);
    expect([fired, clock.timers]).toEqual([[10, 20, 20, 30], 1]);
    clock.pass(1_000);
    expect([fired.at(-1), clock.timers]).toEqual([500, 0]);
  });

  it('go off together, in order, if they fell due while the event loop was blocked', () => {
    const clock = new ManualClock(0);
    const timers = new Timers(clock);
    const fired: number[] = [];
    for (const at of [300, 100, 200, 900]) timers.set(at, () => fired.push(at));
    clock.block(500);
    clock.pass(1);
    expect([fired, clock.timers]).toEqual([[100, 200, 300], 1]);
  });

  it('do what a list of them would, for any sequence of sets, cancels and time', () => {
    const step = fc.oneof(
      fc.record({ set: fc.nat(50) }),
      fc.record({ cancel: fc.nat(200) }),
      fc.record({ pass: fc.nat(20) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const clock = new ManualClock(0);
        const timers = new Timers(clock);
        const fired: number[] = [];
        const expected = new Map<number, number>();
        const all: { cancel(): void }[] = [];
        for (const one of steps) {
          if ('set' in one) {
            const id = all.length;
            expected.set(id, clock.now() + one.set);
            all.push(timers.set(clock.now() + one.set, () => fired.push(id)));
          } else if ('cancel' in one) {
            expected.delete(one.cancel);
            all[one.cancel]?.cancel();
          } else {
            clock.pass(one.pass);
            for (const id of fired.splice(0)) {
              expect(expected.get(id)).toBeLessThanOrEqual(clock.now());
              expected.delete(id);
            }
          }
          expect([...expected.values()].every((at) => at >= clock.now())).toBe(true);
          if (expected.size > 0) expect(clock.timers).toBe(1);
        }
        clock.pass(1_000);
        expect(clock.timers).toBe(0);
      }),
    );
  });

  it('cost little where 100 000 waits end early, and go off in order when they do not', () => {
    const clock = new CountingClock(0);
    const timers = new Timers(clock);
    let last = 0;
    let fired = 0;
    const set = Array.from({ length: 100_000 }, (_, index) => {
      const at = 15_000 + ((index * 7_919) % 100_000);
      return timers.set(at, () => {
        expect(at >= last).toBe(true);
        last = at;
        fired += 1;
      });
    });
    expect(clock.set).toBeLessThan(10);
    set.forEach((timer, index) => {
      if (index % 10 !== 0) timer.cancel();
    });
    clock.pass(200_000);
    expect([fired, clock.timers]).toEqual([10_000, 0]);
  });
});
