import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LiveLocks } from '../../../../lib/extras/dashboard/live-locks.js';
import { SharedLook } from '../../../../lib/extras/dashboard/shared-look.js';
import { ScriptedDoctor } from '../../../support/dashboard/scripted-doctor.js';

const EVERY_MS = 5_000;

describe('LiveLocks', () => {
  let doctor: ScriptedDoctor;
  let opened: number;
  let live: LiveLocks;

  beforeEach(() => {
    jest.useFakeTimers();
    doctor = new ScriptedDoctor();
    opened = 0;
    live = new LiveLocks(async () => {
      opened += 1;
      return doctor;
    }, EVERY_MS);
  });
  afterEach(async () => {
    await live.close();
    jest.useRealTimers();
  });

  /** A browser: it looks, and looks again whenever it is told. */
  function viewer(): { stop(): void } {
    void live.scan();
    const subscription = live.ticks$.subscribe(() => void live.scan());
    return { stop: () => subscription.unsubscribe() };
  }
  const pass = (times: number): Promise<void> => jest.advanceTimersByTimeAsync(times * EVERY_MS);
  const scans = (): number => doctor.calls.filter((call) => call === 'scan').length;

  it('scans once in an interval, however many look', async () => {
    const viewers = Array.from({ length: 50 }, viewer);
    await pass(0);
    expect(scans()).toBe(1);
    await pass(3);
    expect(scans()).toBe(4);
    for (const one of viewers) one.stop();
  });

  it('scans no more when nobody looks, and opens nothing before somebody does', async () => {
    await pass(3);
    expect([scans(), opened, jest.getTimerCount()]).toEqual([0, 0, 0]);
    const viewers = [viewer(), viewer()];
    await pass(1);
    for (const one of viewers) one.stop();
    const before = scans();
    await pass(10);
    expect([scans() - before, opened, jest.getTimerCount()]).toEqual([0, 1, 0]);
  });

  it('starts no second scan while one takes longer than the interval', async () => {
    const ends: (() => void)[] = [];
    const { scan } = doctor;
    doctor.scan = async () => {
      const found = await scan();
      await new Promise<void>((end) => ends.push(end));
      return found;
    };
    const one = viewer();
    await pass(4);
    expect(scans()).toBe(1);
    ends[0]!();
    await pass(1);
    expect(scans()).toBe(2);
    ends[1]!();
    one.stop();
  });

  it('looks at a lock once for all who look at its page', async () => {
    await Promise.all(['/a', '/a', '/b'].map((key) => live.look(key)));
    expect(doctor.calls).toEqual(['inspect /a', 'inspect /b']);
  });

  it('shows nobody what was before something was done', async () => {
    await Promise.all([live.scan(), live.look('/a'), live.look('/b')]);
    live.forget('/a');
    await Promise.all([live.scan(), live.look('/a'), live.look('/b')]);
    expect(doctor.calls).toEqual(['scan', 'inspect /a', 'inspect /b', 'scan', 'inspect /a']);
  });

  it('tries again to open the doctor after a failure', async () => {
    let tries = 0;
    const stubborn = new LiveLocks(async () => {
      tries += 1;
      if (tries === 1) throw new Error('no server');
      return doctor;
    }, EVERY_MS);
    await expect(stubborn.scan()).rejects.toThrow('no server');
    expect((await stubborn.scan()).locks).toHaveLength(10_000);
    await stubborn.close();
    expect(doctor.calls.at(-1)).toBe('close');
  });

  it('opens nothing after its end', async () => {
    await live.close();
    await expect(live.scan()).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
    expect(opened).toBe(0);
  });

  it('ends its streams at shutdown, those that come later as well', async () => {
    const ends: string[] = [];
    live.ticks$.subscribe({ complete: () => ends.push('early') });
    live.endStreams();
    live.ticks$.subscribe({ complete: () => ends.push('late') });
    expect(ends).toEqual(['early', 'late']);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('SharedLook', () => {
  it('shares what is under way and what is young, and keeps no failure', async () => {
    let looks = 0;
    const look = new SharedLook(async () => {
      looks += 1;
      if (looks === 1) throw new Error('away');
      return looks;
    }, 60_000);
    await expect(Promise.all([look.get(), look.get()])).rejects.toThrow('away');
    expect(await Promise.all([look.get(), look.get()])).toEqual([2, 2]);
    expect(await look.get()).toBe(2);
    look.expire();
    expect(await look.get()).toBe(3);
  });

  it('takes a look that began before it was told to forget for no answer', async () => {
    const ends: ((value: string) => void)[] = [];
    const look = new SharedLook(() => new Promise<string>((end) => ends.push(end)), 60_000);
    const early = look.get();
    look.forget();
    const late = look.get();
    ends[0]!('old');
    ends[1]!('new');
    expect([await early, await late, await look.get()]).toEqual(['old', 'new', 'new']);
  });
});
