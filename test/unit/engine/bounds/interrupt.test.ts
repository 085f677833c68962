import { describe, expect, it } from '@jest/globals';
import { Alarms } from '../../../../lib/engine/bounds/alarms.js';
import { Interrupt } from '../../../../lib/engine/bounds/interrupt.js';
import { Interrupts } from '../../../../lib/engine/bounds/interrupts.js';
import { Deadline } from '../../../../lib/lock/deadline.js';
import { LockAbortedError, LockClosedError, LockTimeoutError } from '../../../../lib/lock/errors.js';
import { ManualClock, promisesSettled } from '../../support/manual-clock.js';
import { rejection } from '../support/engine-world.js';

const never = (): Promise<void> => new Promise(() => undefined);

/** Runs `work` and returns what nobody handled meanwhile. */
async function unhandledDuring(work: () => Promise<void>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): unknown => unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    await work();
    await promisesSettled();
    await promisesSettled();
  } finally {
    process.off('unhandledRejection', note);
  }
  return unhandled;
}

describe('an interrupt', () => {
  it('lets through what settles in time', async () => {
    const interrupt = new Interrupt();
    expect(await interrupt.guard(Promise.resolve(42))).toBe(42);
    const failure = new Error('of the work');
    expect(await rejection(interrupt.guard(Promise.reject(failure)))).toBe(failure);
  });

  it('ends the wait that is on, and every later one', async () => {
    const interrupt = new Interrupt();
    const waiting = rejection(interrupt.guard(never()));
    const reason = new LockTimeoutError('too late');
    interrupt.raise(reason);
    expect(await waiting).toBe(reason);
    expect(await rejection(interrupt.guard(Promise.resolve(1)))).toBe(reason);
  });

  it('keeps the first reason', async () => {
    const interrupt = new Interrupt();
    interrupt.raise(new LockTimeoutError('first'));
    interrupt.raise(new LockClosedError('second'));
    expect(interrupt.error?.details).toBe('first');
    expect((await rejection(interrupt.guard(never()))).details).toBe('first');
  });

  it('leaves no rejection unhandled, whenever what it guards fails', async () => {
    const unhandled = await unhandledDuring(async () => {
      const interrupt = new Interrupt();
      let failLater!: (error: Error) => void;
      const waiting = rejection(interrupt.guard(new Promise((_resolve, reject) => (failLater = reject))));
      interrupt.raise(new LockTimeoutError('too late'));
      await waiting;
      failLater(new Error('after the interruption'));
      await rejection(interrupt.guard(Promise.reject(new Error('given to it afterwards'))));
      interrupt.dispose();
    });
    expect(unhandled).toEqual([]);
  });

  it('runs what was left for its end once', () => {
    const interrupt = new Interrupt();
    const done: string[] = [];
    interrupt.onDispose(() => done.push('a'));
    interrupt.onDispose(() => done.push('b'));
    interrupt.dispose();
    interrupt.dispose();
    expect(done).toEqual(['a', 'b']);
  });
});

describe('the interrupts of a service', () => {
  const given = (): { clock: ManualClock; interrupts: Interrupts } => {
    const clock = new ManualClock();
    return { clock, interrupts: new Interrupts(new Alarms(clock)) };
  };
  const timeout = (): LockTimeoutError => new LockTimeoutError('the time is up');

  it('are raised by the deadline, which says at that moment what it means', () => {
    const { clock, interrupts } = given();
    const interrupt = interrupts.open(
      '/a',
      Deadline.after(clock, 100),
      undefined,
      () => new LockTimeoutError(`at ${clock.now()}`),
    );
    clock.pass(99);
    expect(interrupt.error).toBeUndefined();
    clock.pass(1);
    expect(interrupt.error?.details).toBe('at 1100');
  });

  it('are raised by the signal, with its reason as the cause; one that was aborted before counts at once', () => {
    const { clock, interrupts } = given();
    const abort = new AbortController();
    const interrupt = interrupts.open('/a', Deadline.after(clock, 100), abort.signal, timeout);
    abort.abort('changed my mind');
    const early = interrupts.open('/a', Deadline.after(clock, 100), AbortSignal.abort('before'), timeout);
    for (const [one, cause] of [
      [interrupt, 'changed my mind'],
      [early, 'before'],
    ] as const) {
      expect(one.error).toBeInstanceOf(LockAbortedError);
      expect(one.error).toMatchObject({ key: '/a', cause });
    }
  });

  it('are all raised by a signal that several were given, but for those disposed of', () => {
    const { clock, interrupts } = given();
    const abort = new AbortController();
    const all = ['/a', '/b', '/c'].map((key) =>
      interrupts.open(key, Deadline.after(clock, 100), abort.signal, timeout),
    );
    all[0]!.dispose();
    abort.abort('shutting down');
    expect(all.map(({ error }) => [error?.key, error?.cause])).toEqual([
      [undefined, undefined],
      ['/b', 'shutting down'],
      ['/c', 'shutting down'],
    ]);
    for (const one of all) one.dispose();
  });

  it('leave no timer, and are not among the open ones, when the signal cannot be listened to', () => {
    const { clock, interrupts } = given();
    const broken = Object.assign(new AbortController().signal, {
      addEventListener: (): void => {
        throw new Error('of the signal');
      },
    });
    expect(() => interrupts.open('/a', Deadline.after(clock, 5_000), broken, timeout)).toThrow('of the signal');
    let raised = 0;
    interrupts.raiseAll(() => new LockClosedError(`${(raised += 1)}`));
    expect([clock.timers, raised]).toEqual([0, 0]);
  });

  it('that are open are raised together; those disposed of are not, and leave no timer and no listener', () => {
    const { clock, interrupts } = given();
    const abort = new AbortController();
    let listeners = 0;
    const { signal } = abort;
    const counted = Object.assign(signal, {
      addEventListener: (...listen: Parameters<AbortSignal['addEventListener']>): void => {
        listeners += 1;
        AbortSignal.prototype.addEventListener.apply(signal, listen);
      },
      removeEventListener: (...listen: Parameters<AbortSignal['removeEventListener']>): void => {
        listeners -= 1;
        AbortSignal.prototype.removeEventListener.apply(signal, listen);
      },
    });
    const [done, open] = [1, 2].map(() => interrupts.open('/a', Deadline.after(clock, 5_000), counted, timeout));
    // However many wait: Node takes more than ten listeners for a leak.
    expect([listeners, clock.timers]).toEqual([1, 1]);
    done!.dispose();
    expect(listeners).toBe(1);
    interrupts.raiseAll(() => new LockClosedError('shutting down'));
    expect([done!.error, open!.error?.details]).toEqual([undefined, 'shutting down']);
    open!.dispose();
    expect([listeners, clock.timers]).toEqual([0, 0]);
    const again = interrupts.open('/a', Deadline.after(clock, 5_000), counted, timeout);
    abort.abort('in the end');
    expect(again.error?.cause).toBe('in the end');
    again.dispose();
    expect(listeners).toBe(0);
  });
});
