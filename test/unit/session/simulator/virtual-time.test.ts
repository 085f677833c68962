import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from '../../../../lib/session/simulator/time/random.js';
import { VirtualTime } from '../../../../lib/session/simulator/time/virtual-time.js';

describe('virtual time', () => {
  it('runs what is due in the order of time, and of asking where the time is the same', () => {
    const time = new VirtualTime(undefined);
    const order: string[] = [];
    for (const [delayMs, name] of [
      [20, 'late'],
      [10, 'first'],
      [10, 'second'],
      [-5, 'now'],
    ] as const) {
      time.after(delayMs, () => order.push(name));
    }
    time.runAlone(() => false, 15);
    expect({ order, now: time.now() }).toEqual({ order: ['now', 'first', 'second'], now: 15 });
  });

  it('keeps its order through thousands of events, of which many are cancelled', () => {
    const time = new VirtualTime(undefined);
    const random = new SeededRandom(9);
    const ran: number[] = [];
    let expected = 0;
    for (let number = 0; number < 20_000; number += 1) {
      const atMs = random.integer(5_000);
      const timer = time.after(atMs, () => ran.push(atMs));
      if (random.integer(10) > 0) timer.cancel();
      else expected += 1;
    }
    time.runAlone(() => false, 10_000);
    expect(ran).toHaveLength(expected);
    expect(ran).toEqual([...ran].sort((one, other) => one - other));
  });

  it('lets every promise go on before time does, however long the chain', async () => {
    const time = new VirtualTime(undefined);
    let resolvedAt: number | undefined;
    const chain = async (): Promise<void> => {
      for (let link = 0; link < 1_000; link += 1) await Promise.resolve();
      resolvedAt = time.now();
    };
    time.after(10, () => {
      time.noteOutsideCall();
      void chain();
    });
    time.after(11, () => undefined);
    await time.run(() => false, 100);
    expect(resolvedAt).toBe(10);
  });

  it('says whether what was waited for came to hold in time', async () => {
    const time = new VirtualTime(undefined);
    let done = false;
    time.after(50, () => {
      done = true;
    });
    expect(await time.run(() => done, 49)).toBe(false);
    expect(await time.run(() => done, 60)).toBe(true);
    expect(time.now()).toBe(50);
  });

  it('cannot be run twice at once', async () => {
    const time = new VirtualTime(undefined);
    const first = time.run(() => false, 10);
    await expect(time.run(() => false, 10)).rejects.toThrow('already running');
    await first;
  });

  it('notices that it stands still', () => {
    const time = new VirtualTime(undefined);
    const again = (): void => {
      time.after(0, again);
    };
    again();
    expect(() => time.runAlone(() => false, 10)).toThrow('stands still at 0 ms');
  });
});
