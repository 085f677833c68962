import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LockService } from '../../../../lib/engine/lock-service.js';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { rejection } from '../support/engine-world.js';
import { useEngine } from '../support/use-engine.js';

const WHAT_COUNTS = 'All its waits together may take the waitMs of the lock service, 7000 ms.';
const OPTIONS_REFUSED = `transaction(work) takes only its work, and no options. ${WHAT_COUNTS}`;
const refusedAs = (shown: string): string =>
  `transaction(work): work must be a function of the transaction, not ${shown}. ${WHAT_COUNTS}`;

describe('transaction() as JavaScript may call it', () => {
  const { engine } = useEngine();
  let locks: LockService;
  let runs: number;
  const work = async (): Promise<number> => (runs += 1);
  const call = (...args: unknown[]): Promise<unknown> =>
    (locks.transaction as (...args: unknown[]) => Promise<unknown>).apply(locks, args);

  beforeEach(() => {
    locks = engine.start('one', { waitMs: 7_000 }).locks;
    runs = 0;
  });

  it.each<[string, string, readonly unknown[]]>([
    ['with options behind the work', OPTIONS_REFUSED, [work, { waitMs: 300 }]],
    ['with options in front of it', OPTIONS_REFUSED, [{ waitMs: 300 }, work]],
    ['with keys, as acquireAll has them', OPTIONS_REFUSED, [['/l/a'], work]],
    ['with options alone', refusedAs('[object Object]'), [{ waitMs: 300 }]],
    ['with keys alone', refusedAs('[object Array]'), [['/l/a']]],
    ['with nothing', refusedAs('undefined'), []],
  ])('is refused %s, without work, connection or time', async (_how, text, args) => {
    // The simulated time stands still: nothing that has to be waited for would come.
    const error = await rejection(call(...args));

    expect(error).toBeInstanceOf(LockConfigurationError);
    expect(error.details).toContain(text);
    expect(error.details).toContain('Write transaction(async (tx) => { ... }), and set waitMs in forRoot');
    expect(runs).toBe(0);
  });

  it('is taken with a second argument that is missing', async () => {
    expect(await engine.settle(call(work, undefined))).toBe(1);
  });
});
