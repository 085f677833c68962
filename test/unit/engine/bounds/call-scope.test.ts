import { beforeEach, describe, expect, it } from '@jest/globals';
import { type CallScope, CallScopes, type Ends } from '../../../../lib/engine/bounds/call-scope.js';
import { Timers } from '../../../../lib/engine/timers.js';
import { Deadline } from '../../../../lib/lock/deadline.js';
import { LockAbortedError, LockClosedError, LockLostError } from '../../../../lib/lock/errors.js';
import { ManualClock } from '../../support/manual-clock.js';
import { rejection } from '../support/engine-world.js';

const LINK = { isUp: true, state: 'connected', describeFailures: () => '' } as const;

describe('the scope of a call', () => {
  let clock: ManualClock;
  let link: { -readonly [Name in keyof typeof LINK]: (typeof LINK)[Name] | boolean };
  let scopes: CallScopes;
  beforeEach(() => {
    clock = new ManualClock();
    link = { ...LINK };
    scopes = new CallScopes(new Timers(clock), link as typeof LINK);
  });

  /** A call that goes on until the test ends it. */
  function open(key: string, waitMs: number, ends: Ends = {}): { scope: CallScope; finish: () => Promise<void> } {
    let finish: () => void = () => undefined;
    let opened: CallScope | undefined;
    const running = scopes.run(key, Deadline.after(clock, waitMs), ends, (scope) => {
      opened = scope;
      return new Promise<void>((resolve) => (finish = resolve));
    });
    const ended = async (): Promise<void> => {
      finish();
      await running;
    };
    return { scope: opened!, finish: ended };
  }

  it('is ended by the deadline, and not before', () => {
    const { scope } = open('/a', 100);
    clock.pass(99);
    expect(scope.error).toBeUndefined();
    clock.pass(1);
    expect(scope.error?.details).toContain('within 100 ms');
  });

  it('says when the time is up what that means at that moment: busy, or no answer', () => {
    const [busy, unanswered, silent, cutOff] = [50, 100, 300, 400].map((waitMs) => open('/a', waitMs).scope);
    busy!.standsBehind(() => 'Somebody has it');
    cutOff!.standsBehind();
    clock.pass(300);
    link.isUp = false;
    clock.pass(100);
    expect([busy, unanswered, silent, cutOff].map((scope) => [scope?.error?.code, scope?.error?.details])).toEqual([
      ['LOCK_TIMEOUT', 'The lock /a was still busy after 50 ms. Somebody has it'],
      ['LOCK_TIMEOUT', expect.stringContaining('no time for an answer')],
      ['LOCK_UNAVAILABLE', expect.stringContaining('no answer came')],
      ['LOCK_UNAVAILABLE', expect.stringContaining('could not be reached')],
    ]);
  });

  it("is ended by the caller's signal, whose reason is the cause", () => {
    const abort = new AbortController();
    const { scope } = open('/a', 100, { signal: abort.signal });
    abort.abort('changed my mind');
    expect(scope.error).toBeInstanceOf(LockAbortedError);
    expect(scope.error).toMatchObject({ key: '/a', cause: 'changed my mind' });
  });

  it('does not begin the work of a call whose signal was aborted before', async () => {
    let begun = 0;
    const work = async (): Promise<number> => (begun += 1);
    const ends = { signal: AbortSignal.abort('before') };
    const error = await rejection(scopes.run('/a', Deadline.after(clock, 5_000), ends, work));
    expect(error).toBeInstanceOf(LockAbortedError);
    expect([error.cause, begun, clock.timers, scopes.isEmpty]).toEqual(['before', 0, 0, true]);
  });

  it('is ended with the very error for which what it is a part of has ended', () => {
    const end = new AbortController();
    const { scope } = open('/a', 100, { end: end.signal });
    const lost = new LockLostError('/b was lost', '/b');
    end.abort(lost);
    expect(scope.error).toBe(lost);
  });

  it('is ended together with the others that were given the same signal, unless it is over', async () => {
    const abort = new AbortController();
    const all = ['/a', '/b', '/c'].map((key) => open(key, 100, { signal: abort.signal }));
    await all[0]!.finish();
    abort.abort('shutting down');
    expect(all.map(({ scope: { error } }) => [error?.key, error?.cause])).toEqual([
      [undefined, undefined],
      ['/b', 'shutting down'],
      ['/c', 'shutting down'],
    ]);
  });

  it('leaves no timer, and is not among the open ones, where the signal cannot be listened to', async () => {
    const broken = Object.assign(new AbortController().signal, {
      addEventListener: (): void => {
        throw new Error('of the signal');
      },
    });
    const work = (): Promise<void> => Promise.resolve();
    const error = await rejection(scopes.run('/a', Deadline.after(clock, 5_000), { signal: broken }, work));
    let ended = 0;
    scopes.endAll(() => new LockClosedError(`${(ended += 1)}`));
    expect([error.message, clock.timers, ended, scopes.isEmpty]).toEqual(['of the signal', 0, 0, true]);
  });

  it('leaves no timer and no listener behind, whether it was ended or not', async () => {
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
    const [done, ended] = [1, 2].map(() => open('/a', 5_000, { signal: counted }));
    // However many wait: Node takes more than ten listeners for a leak.
    expect([listeners, clock.timers]).toEqual([1, 1]);
    await done!.finish();
    expect(listeners).toBe(1);
    scopes.endAll(() => new LockClosedError('shutting down'));
    expect([done!.scope.error, ended!.scope.error?.details]).toEqual([undefined, 'shutting down']);
    await ended!.finish();
    expect([listeners, clock.timers]).toEqual([0, 0]);
    const again = open('/a', 5_000, { signal: counted });
    abort.abort('in the end');
    expect(again.scope.error?.cause).toBe('in the end');
    await again.finish();
    expect(listeners).toBe(0);
  });

  it('runs what was left for its end once, however the work ends', async () => {
    const done: string[] = [];
    const failure = new Error('of the work');
    const failed = scopes.run('/a', Deadline.after(clock, 100), {}, (scope) => {
      scope.onDispose(() => done.push('a'));
      scope.onDispose(() => done.push('b'));
      return Promise.reject(failure);
    });
    expect(await rejection(failed)).toBe(failure);
    expect(done).toEqual(['a', 'b']);
  });

  it('is waited for until the last one is over', async () => {
    const [first, last] = [open('/a', 100), open('/b', 100)];
    let isEmpty = false;
    void scopes.whenEmpty().then(() => (isEmpty = true));
    await first.finish();
    expect(isEmpty).toBe(false);
    await last.finish();
    await scopes.whenEmpty();
    expect(isEmpty).toBe(true);
  });
});
