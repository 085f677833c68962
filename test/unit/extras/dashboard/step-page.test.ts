import { describe, expect, it } from '@jest/globals';
import { stepPage } from '../../../../lib/extras/dashboard/pages/step-page.js';
import { lockSnapshot } from '../../../../lib/lock/snapshot.js';
import { madeUpContender, madeUpHistory, madeUpSnapshot } from '../../../support/dashboard/made-up-locks.js';

const KEY = '/locks/a';
const AT = new Date('2027-01-01T12:00:00Z');
const look = { at: AT, snapshot: madeUpSnapshot(KEY, AT), history: madeUpHistory(KEY, AT) };
const DRAIN = { type: 'drain', key: KEY, token: undefined } as const;

/** The words of a page, as somebody reads them. */
function wordsOf(page: string): string {
  return page
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ([.,])/g, '$1');
}

describe('The page that asks once more', () => {
  const drain = (holders: (typeof look.snapshot)['holders']): string =>
    wordsOf(stepPage(DRAIN, { ...look, snapshot: lockSnapshot({ ...look.snapshot, holders }) }, 'ada', 'default'));

  it('says who goes on holding the lock when its queue is drained: nobody, one, or several readers', () => {
    expect(drain([])).toContain('Nobody holds it. Whoever asks afterwards');
    const [one, other] = ['First.reads', 'Second.reads'].map((label) => madeUpContender(KEY, { label }, AT));
    expect(drain([one!])).toMatch(/First\.reads on \S+ \(token \d+, asked [^)]*ago\) goes on holding it\./);
    expect(drain([one!, other!])).toContain('The 2 readers inside go on holding it.');
  });

  it('names the connection where the application has given it a name', () => {
    expect(wordsOf(stepPage(DRAIN, look, 'ada', 'stock'))).toContain('Connection stock');
    expect(stepPage(DRAIN, look, 'ada', 'default')).not.toContain('Connection');
  });
});
