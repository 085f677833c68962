import { describe, expect, it } from '@jest/globals';
import { lockHistory } from '../../../../lib/extras/doctor/lock-history.js';
import { lockPage } from '../../../../lib/extras/dashboard/pages/lock-page.js';
import { pastHold, type PastHoldFacts } from '../../../../lib/lock/past-hold.js';
import { lockSnapshot } from '../../../../lib/lock/snapshot.js';
import { abandonedSnapshot, madeUpHistory, madeUpSnapshot } from '../../../support/dashboard/made-up-locks.js';

const KEY = '/locks/a';
const AT = new Date('2027-01-01T12:00:00Z');
const ALL = { break: true, drain: true, clear: true };
const NOTHING = { break: false, drain: false, clear: false };
const look = { at: AT, snapshot: madeUpSnapshot(KEY, AT), history: madeUpHistory(KEY, AT) };

function bars(page: string): { kind: string; x: number; width: number }[] {
  const found = page.matchAll(/<rect class="(\w+)" x="([\d.]+)" y="0" width="([\d.]+)"/g);
  return [...found].map(([, kind, x, width]) => ({ kind: kind!, x: Number(x), width: Number(width) }));
}

describe('The page of one lock', () => {
  it('has holders, queue and past in their order, each with a bar on the same scale', () => {
    const page = lockPage(look, ALL, undefined);
    const found = bars(page);
    const kinds = found.map(({ kind }) => kind);
    expect(kinds.slice(0, 5)).toEqual(['asked', 'waited', 'waited', 'waited', 'waited']);
    expect(kinds.filter((kind) => kind === 'released')).toHaveLength(8);
    expect(kinds.filter((kind) => kind === 'lost')).toHaveLength(1);
    // Who holds or waits now does so to the end of the scale, and who came earlier has the longer bar.
    for (const { x, width } of found.slice(0, 5)) expect(x + width).toBeCloseTo(1_000, 0);
    const widths = found.slice(0, 5).map(({ width }) => width);
    expect(widths).toEqual([...widths].sort((one, other) => other - one));
    for (const { x, width } of found) expect([x >= 0, x + width <= 1_000.1, width >= 4]).toEqual([true, true, true]);
  });

  it('has a button only for what the visitor may do, and only where there is something to do', () => {
    const steps = (page: string): string[] => [...page.matchAll(/step\?do=(\w+)/g)].map(([, step]) => step!);
    expect(steps(lockPage(look, ALL, undefined))).toEqual(['break', 'drain']);
    expect(steps(lockPage(look, NOTHING, undefined))).toEqual([]);
    const abandoned = { ...look, snapshot: abandonedSnapshot(KEY) };
    expect(steps(lockPage(abandoned, ALL, undefined))).toEqual(['clear']);
    expect(steps(lockPage(abandoned, NOTHING, undefined))).toEqual([]);
    // Somebody is inside, and puts it right: there is nothing to clear by hand.
    const { holders } = look.snapshot;
    const recovering = lockSnapshot({ ...abandoned.snapshot, state: 'HELD', holders });
    const page = lockPage({ ...look, snapshot: recovering }, ALL, undefined);
    expect([steps(page), page.includes('recovering')]).toEqual([['break'], true]);
  });

  it('says of who holds when it asked, and not since when it holds: its node does not say that', () => {
    const snapshot = lockSnapshot({ ...look.snapshot, holders: [{ ...look.snapshot.holders[0]!, ageMs: 192_000 }] });
    const page = lockPage({ ...look, snapshot }, ALL, undefined);
    expect(page).toContain('asked 3 min 12 s ago');
    expect(page).not.toMatch(/(?:here|held) for/);
  });

  it('says how many wait behind those that it shows', () => {
    const snapshot = lockSnapshot({ ...look.snapshot, queueLength: 1_004 });
    expect(lockPage({ ...look, snapshot }, ALL, undefined)).toContain('(1\u00a0000 more calls behind them)');
  });

  it('stands whatever somebody has written down as the past', () => {
    const times = [-1e308, -1, 0, 1, 1e308];
    const holds = times.flatMap((waitedMs) =>
      times.map((heldMs) => {
        const since = new Date(heldMs > 0 ? 8.64e15 : -8.64e15);
        const who = { label: '<b>', host: '"', pid: Number.MAX_VALUE };
        const facts: PastHoldFacts = { token: 1n, mode: 'read', ...who, since, waitedMs, heldMs, ended: 'uncertain' };
        return pastHold(facts);
      }),
    );
    const page = lockPage({ ...look, history: lockHistory({ key: KEY, holds, dropped: 7 }) }, ALL, undefined);
    expect(page).toContain('7 holds');
    expect(page).not.toMatch(/<b>|NaN|Infinity|Invalid/);
    for (const { x, width } of bars(page)) expect([x >= 0, x + width <= 1_000.1]).toEqual([true, true]);
  });
});
