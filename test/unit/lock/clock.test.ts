import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/lock/clock.js';

describe("The process's clock", () => {
  it('does not go back, and does not follow the wall clock', () => {
    let last = systemClock.now();
    for (let look = 0; look < 1_000; look += 1) {
      const now = systemClock.now();
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
    expect(last).toBeLessThan(Date.now() / 2);
  });

  it('fires a timer once, in the order in which they are due', async () => {
    const fired: string[] = [];
    await new Promise<void>((resolve) => {
      systemClock.setTimer(20, () => {
        fired.push('later');
        resolve();
      });
      systemClock.setTimer(0.5, () => fired.push('sooner'));
    });
    expect(fired).toEqual(['sooner', 'later']);
  });

  it('does not fire a timer that was cancelled; cancelling one that fired does nothing', async () => {
    let fired = false;
    systemClock.setTimer(1, () => (fired = true)).cancel();
    await new Promise<void>((resolve) => {
      const timer = systemClock.setTimer(5, () => {
        timer.cancel();
        resolve();
      });
    });
    expect(fired).toBe(false);
  });

  it('does not fire before its time however far away that is: Node turns 25 days into one millisecond', async () => {
    let fired = 0;
    const far = [2 ** 31, Number.MAX_SAFE_INTEGER].map((delayMs) => systemClock.setTimer(delayMs, () => (fired += 1)));
    await new Promise<void>((resolve) => systemClock.setTimer(20, resolve));
    for (const timer of far) timer.cancel();
    expect(fired).toBe(0);
  });
});
