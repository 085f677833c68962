import { describe, expect, it } from '@jest/globals';
import { VanishedHolders } from '../../../../lib/engine/policy/earlier-tries.js';
import type { Request } from '../../../../lib/session/requests.js';
import { intercept } from '../support/intercept.js';
import { useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/ledger';

describe('A try that reads the record of its key', () => {
  const { engine, one, other } = useEngineWith({}, 'one', 'other');

  it('is not refused because of a holder that released its lock between the look at the record and that at the queue', async () => {
    const held = await engine.settle(one.locks.acquire(KEY, { onAbandoned: 'hold' }));
    const readsBoth = (requests: readonly Request[]): boolean =>
      requests.at(-1)?.op === 'list' && requests.length === 3;
    intercept(other, readsBoth, async (requests, send) => {
      const [synced, record] = await send(requests.slice(0, 2));
      await held.release();
      return [synced, record, ...(await send(requests.slice(2)))];
    });
    const lock = await engine.settle(other.locks.tryAcquire(KEY, { onAbandoned: 'hold' }));
    expect([lock?.isHeld(), lock?.abandoned]).toEqual([true, undefined]);
  });
});

describe('the vanished holders that are remembered', () => {
  const clock = { time: 0, now: (): number => clock.time, setTimer: () => ({ cancel: (): void => undefined }) };

  it('age from the first one on, for each key, until another has vanished', () => {
    const vanished = new VanishedHolders(clock);
    vanished.sawGone('/a', 'x');
    clock.time += 10;
    vanished.sawGone('/a', 'x');
    expect([vanished.ageMs('/a', 'x'), vanished.ageMs('/b', 'x'), vanished.ageMs('/a', 'y')]).toEqual([10, 0, 0]);
    vanished.sawGone('/a', 'y');
    clock.time += 5;
    expect([vanished.ageMs('/a', 'x'), vanished.ageMs('/a', 'y')]).toEqual([0, 5]);
    vanished.forget('/a');
    expect(vanished.ageMs('/a', 'y')).toBe(0);
  });

  it('are remembered up to a bound, and the oldest are forgotten first', () => {
    const vanished = new VanishedHolders(clock);
    for (let index = 0; index < 10_001; index += 1) vanished.sawGone(`/${index}`, 'x');
    clock.time += 10;
    expect([vanished.ageMs('/10000', 'x'), vanished.ageMs('/1', 'x'), vanished.ageMs('/0', 'x')]).toEqual([10, 10, 0]);
  });
});
