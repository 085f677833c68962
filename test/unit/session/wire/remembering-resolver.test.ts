import { describe, expect, it } from '@jest/globals';
import { RememberingResolver } from '../../../../lib/session/wire/name-resolver.js';
import { HeldResolver } from '../../../support/sessions/held-resolver.js';
import { ManualClock, promisesSettled } from '../../support/manual-clock.js';

function given() {
  const clock = new ManualClock();
  const inner = new HeldResolver();
  const resolver = new RememberingResolver(inner, clock);
  const told: string[] = [];
  /** @returns what takes the question back */
  const ask = (host = 'zk1') => {
    const asker = new AbortController();
    resolver.resolve(host, asker.signal).then(
      (addresses) => told.push(addresses.join(' ')),
      (cause: Error) => told.push(cause.message),
    );
    return asker;
  };
  const answer = (...addresses: string[]): Promise<void> => {
    inner.answer(...addresses);
    return promisesSettled();
  };
  const fail = (cause: Error): Promise<void> => {
    inner.fail(cause);
    return promisesSettled();
  };
  const learn = async (...addresses: string[]): Promise<void> => {
    ask();
    await answer(...addresses);
    told.length = 0;
  };
  return { clock, told, ask, answer, fail, learn };
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('A name that was resolved once', () => {
  it('keeps its last addresses while nobody can be asked for new ones', async () => {
    const { told, ask, fail, learn } = given();
    await learn('10.0.0.1', '10.0.0.2');
    await learn('10.0.0.3');
    for (const cause of [new Error('the name servers do not answer'), failure('EAI_AGAIN')]) {
      ask();
      await fail(cause);
    }
    expect(told).toEqual(['10.0.0.3', '10.0.0.3']);
  });

  it('has none any more once that is said', async () => {
    const { told, ask, fail, learn } = given();
    await learn('10.0.0.1');
    ask();
    await fail(failure('ENOTFOUND'));
    ask();
    await fail(new Error('silent'));
    expect(told).toEqual(['ENOTFOUND', 'silent']);
  });

  it('is not waited for until the attempt is over when name servers are silent', async () => {
    const { clock, told, ask, learn } = given();
    await learn('10.0.0.1');
    ask();
    await clock.advance(99);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual(['10.0.0.1']);
    expect(clock.timers).toBe(0);
  });

  it('has its new addresses at the next attempt when they come too late for this one', async () => {
    const { clock, told, ask, answer, learn } = given();
    await learn('10.0.0.1');
    ask();
    await clock.advance(100);
    await answer('10.0.0.9');
    ask();
    await clock.advance(100);
    expect(told).toEqual(['10.0.0.1', '10.0.0.9']);
  });

  it('is waited for the next time: name servers may be slow, and the servers have moved', async () => {
    const { clock, told, ask, answer, learn } = given();
    await learn('10.0.0.1');
    const impatient = ask();
    await clock.advance(100);
    impatient.abort();
    ask();
    await clock.advance(1_000);
    expect(told).toEqual(['10.0.0.1']);
    await answer('10.0.0.9');
    expect(told).toEqual(['10.0.0.1', '10.0.0.9']);
  });

  it('leaves no timer behind, answered or taken back', async () => {
    const { clock, told, ask, answer, learn } = given();
    await learn('10.0.0.1');
    ask();
    await answer('10.0.0.2');
    expect([told, clock.timers]).toEqual([['10.0.0.2'], 0]);
    ask().abort();
    await promisesSettled();
    expect(clock.timers).toBe(0);
  });
});

describe('A name that was never resolved', () => {
  it('is unresolved, for the reason that is given', async () => {
    const { clock, told, ask, fail, learn } = given();
    await learn('10.0.0.1');
    ask('zk2');
    await clock.advance(1_000);
    await fail(new Error('silent'));
    expect(told).toEqual(['silent']);
  });
});
