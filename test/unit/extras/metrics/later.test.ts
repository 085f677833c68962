import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Later } from '../../../../lib/extras/metrics/later.js';
import { eventually } from '../../../support/process/eventually.js';

describe('Work that is put off', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('is done in its order, and not in the turn in which it is put off', async () => {
    const later = new Later();
    const done: number[] = [];
    for (const one of [1, 2, 3]) later.add(() => done.push(one));
    expect(done).toEqual([]);
    await eventually('all is done', () => done.length === 3);
    expect(done).toEqual([1, 2, 3]);
  });

  it('is done at once where somebody reads what it leads to, and only once', async () => {
    const later = new Later();
    const done: number[] = [];
    later.add(() => done.push(1));
    later.flush();
    expect(done).toEqual([1]);
    later.add(() => done.push(2));
    await eventually('the rest is done', () => done.length === 2);
    expect(done).toEqual([1, 2]);
  });

  it('lets others have their turn in between, where there is much of it', async () => {
    const later = new Later();
    let done = 0;
    let mostInOneTurn = 0;
    for (let count = 0; count < 400; count += 1) later.add(() => void (done += 1));
    while (done < 400) {
      const before = done;
      await turn();
      mostInOneTurn = Math.max(mostInOneTurn, done - before);
    }
    expect(mostInOneTurn).toBeGreaterThan(0);
    expect(mostInOneTurn).toBeLessThanOrEqual(2 * 50);
  });

  it('goes on where a part of it fails, and says so once', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const later = new Later();
    const done: number[] = [];
    for (const one of [1, 2, 3])
      later.add(() => {
        done.push(one);
        if (one < 3) throw new Error('no such label');
      });
    await eventually('all was tried', () => done.length === 3);
    expect(warned.mock.calls.map(([text]) => String(text))).toEqual([expect.stringContaining('no such label')]);
    later.add(() => done.push(4));
    await eventually('later work is done, too', () => done.length === 4);
  });
});
