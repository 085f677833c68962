import { describe, expect, it } from '@jest/globals';
import { RememberingResolver } from '../../../../lib/session/wire/remembering-resolver.js';
import type { NameResolver, ResolutionListener } from '../../../../lib/session/wire/resolve.js';
import { ManualClock } from '../../support/manual-clock.js';

/** Answers only when told to. */
class HeldResolver implements NameResolver {
  readonly listeners: ResolutionListener[] = [];
  cancelled = 0;

  resolve(_host: string, listener: ResolutionListener) {
    this.listeners.push(listener);
    return { cancel: () => void (this.cancelled += 1) };
  }
}

function given() {
  const clock = new ManualClock();
  const inner = new HeldResolver();
  const resolver = new RememberingResolver(inner, clock);
  const told: string[] = [];
  const ask = (host = 'zk1') =>
    resolver.resolve(host, {
      onResolved: (addresses) => told.push(addresses.join(' ')),
      onUnresolved: (cause) => told.push(cause.message),
    });
  const learn = (...addresses: string[]): void => {
    ask();
    inner.listeners.at(-1)!.onResolved(addresses);
    told.length = 0;
  };
  return { clock, inner, told, ask, learn };
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('A name that was resolved once', () => {
  it('keeps its last addresses while nobody can be asked for new ones', () => {
    const { inner, told, ask, learn } = given();
    learn('10.0.0.1', '10.0.0.2');
    learn('10.0.0.3');
    for (const cause of [new Error('the name servers do not answer'), failure('EAI_AGAIN')]) {
      ask();
      inner.listeners.at(-1)!.onUnresolved(cause);
    }
    expect(told).toEqual(['10.0.0.3', '10.0.0.3']);
  });

  it.each(['ENOTFOUND', 'ENODATA'])('has none any more once that is said: %s', (code) => {
    const { inner, told, ask, learn } = given();
    learn('10.0.0.1');
    ask();
    inner.listeners.at(-1)!.onUnresolved(failure(code));
    ask();
    inner.listeners.at(-1)!.onUnresolved(new Error('silent'));
    expect(told).toEqual([code, 'silent']);
  });

  it('is not waited for until the attempt is over when name servers are silent', () => {
    const { clock, inner, told, ask, learn } = given();
    learn('10.0.0.1');
    ask();
    clock.pass(99);
    expect(told).toEqual([]);
    clock.pass(1);
    expect([told, inner.cancelled]).toEqual([['10.0.0.1'], 1]);
    expect(clock.timers).toBe(0);
  });

  it('is waited for the next time: name servers may be slow, and the servers have moved', () => {
    const { clock, inner, told, ask, learn } = given();
    learn('10.0.0.1');
    ask();
    clock.pass(100);
    ask();
    clock.pass(1_000);
    expect(told).toEqual(['10.0.0.1']);
    inner.listeners.at(-1)!.onResolved(['10.0.0.9']);
    ask();
    clock.pass(100);
    ask().cancel();
    ask();
    clock.pass(100);
    expect(told).toEqual(['10.0.0.1', '10.0.0.9', '10.0.0.9', '10.0.0.9']);
  });

  it('leaves no timer behind, answered or cancelled', () => {
    const { clock, inner, told, ask, learn } = given();
    learn('10.0.0.1');
    ask();
    inner.listeners.at(-1)!.onResolved(['10.0.0.2']);
    ask().cancel();
    expect(clock.timers).toBe(0);
    clock.pass(1_000);
    expect([told, inner.cancelled]).toEqual([['10.0.0.2'], 1]);
  });
});

describe('A name that was never resolved', () => {
  it('is unresolved, for the reason that is given', () => {
    const { clock, inner, told, ask, learn } = given();
    learn('10.0.0.1');
    ask('zk2');
    clock.pass(1_000);
    inner.listeners.at(-1)!.onUnresolved(new Error('silent'));
    expect(told).toEqual(['silent']);
  });
});
