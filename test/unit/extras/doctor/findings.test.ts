import { describe, expect, it } from '@jest/globals';
import { CommandLines } from '../../../../lib/extras/doctor/findings/command-lines.js';
import { costliestOf } from '../../../../lib/extras/doctor/findings/costliest.js';
import {
  abandonedKeys,
  longHolds,
  longQueues,
  unlabelledWaits,
} from '../../../../lib/extras/doctor/findings/holds-and-queues.js';
import {
  crowdedHosts,
  crowdedSessions,
  nearlyFull,
  nextSequence,
} from '../../../../lib/extras/doctor/findings/limits.js';
import { orphans, staleMarkers } from '../../../../lib/extras/doctor/findings/orphans.js';
import { notReaped, strangers } from '../../../../lib/extras/doctor/findings/tidiness.js';
import { duration, MAX_OF_A_KIND, type Weighed, worstFirst } from '../../../../lib/extras/doctor/findings/weighed.js';
import { ZxidClock } from '../../../../lib/extras/doctor/findings/zxid-clock.js';
import type { AbandonedPolicy } from '../../../../lib/lock/abandoned.js';
import { listedWith, NOW_MS, seenWith } from './support/seen-keys.js';

const LIMITS = { longHoldMs: 60_000, longQueue: 2 };
const MINUTE_MS = 60_000;
const LINES = new CommandLines();

describe('Findings about holds and queues', () => {
  it('tell of holders that are older than the limit, and of none that are not', () => {
    const young = seenWith('/young', [{ owner: 'a', ageMs: 60_000 }]);
    const waits = seenWith('/waits', [
      { owner: 'a', ageMs: 1_000 },
      { owner: 'b', ageMs: 10 * MINUTE_MS },
    ]);
    expect(longHolds([young, waits], LIMITS, LINES)).toEqual([]);
    const old = seenWith('/old', [{ owner: 'a', ageMs: 60_001 }]);
    const worse = seenWith('/worse', [
      { owner: 'a', mode: 'read', ageMs: 5 * MINUTE_MS },
      { owner: 'b', mode: 'read', ageMs: 9 * MINUTE_MS, label: 'report' },
      { owner: 'c', mode: 'write', ageMs: MINUTE_MS },
    ]);
    const [one, two] = longHolds([old, worse], LIMITS, LINES);
    expect(one).toMatchObject({ severity: 'notice', key: '/old', text: expect.stringContaining('Nobody waits') });
    expect(two).toMatchObject({ severity: 'warning', key: '/worse' });
    expect(two!.text).toContain('report, web-1, pid 7');
    expect(two!.text).toContain(
      'which asked for it 9 min ago; 1 more that holds it asked over 60 s ago: it has held it since then, or waited first.',
    );
    expect(two!.advice).toContain("break '/worse' --token 2 ");
  });

  it('tell of queues that are longer than the limit', () => {
    const places = [{ owner: 'h' }, { owner: 'a', ageMs: 5_000 }, { owner: 'b', ageMs: 1_000 }];
    expect(longQueues([seenWith('/a', places)], LIMITS, LINES)).toEqual([]);
    const [found] = longQueues([seenWith('/a', [...places, { owner: 'c' }])], LIMITS, LINES);
    expect(found).toMatchObject({
      severity: 'warning',
      key: '/a',
      text: expect.stringMatching(/^3 wait .* for 5 s\. It is held/),
    });
    expect(found!.advice).toContain("zk-lock drain '/a' ");
    expect(longQueues([seenWith('/a', places)], { ...LIMITS, longQueue: Infinity }, LINES)).toEqual([]);
  });

  it('tell of waits without a label all together, and not of those that cannot have one', () => {
    const silent = seenWith('/a', [
      { owner: 'h' },
      { owner: 'a' },
      { owner: 'b', label: 'b' },
      { owner: '', data: 'x' },
    ]);
    expect(unlabelledWaits([silent])).toMatchObject([{ key: '/a', severity: 'notice', weight: 1 }]);
    expect(unlabelledWaits([silent, { ...silent, key: '/b' }])).toMatchObject([{ key: undefined, weight: 2 }]);
    expect(unlabelledWaits([seenWith('/a', [{ owner: 'h' }])])).toEqual([]);
  });

  it.each<[AbandonedPolicy, boolean, string]>([
    ['hold', false, 'critical'],
    ['recover', false, 'warning'],
    ['delay', false, 'notice'],
    ['enter', false, 'notice'],
    ['hold', true, 'notice'],
  ])('tell of what a vanished holder left with the policy %s, somebody inside: %s', (policy, isTaken, severity) => {
    const inside = { name: 'gone', token: 77n, since: 1, policy, host: 'web-9', pid: 3, label: 'pay' };
    const record = isTaken ? { abandoned: inside } : { inside };
    const [found] = abandonedKeys([seenWith('/a', isTaken ? [{ owner: 'next' }] : [], { record })], LINES);
    expect(found).toMatchObject({ severity, key: '/a', text: expect.stringContaining('pay, web-9, pid 3, token 77') });
    expect(found!.advice.includes('--token 77')).toBe(severity === 'critical' || severity === 'warning');
  });

  it('rank keys by the time that is waited for them, those without waits left out', () => {
    const waits = (key: string, ...ages: number[]) =>
      seenWith(key, [{ owner: 'h', ageMs: 90_000 }, ...ages.map((ageMs, index) => ({ owner: `${index}`, ageMs }))]);
    const costly = costliestOf([waits('/none'), waits('/one', 5_000), waits('/many', 2_000, 2_000, 2_000)], LINES);
    expect(costly.map(({ key, waitedMs, waiting }) => [key, waitedMs, waiting])).toEqual([
      ['/many', 6_000, 3],
      ['/one', 5_000, 1],
    ]);
    expect(costly[0]!.breakLine).toMatch(/ break '\/many' --token 1 --reason 'asked for it 90 s ago, and 3 wait'$/);
    const many = Array.from({ length: 50 }, (_, index) => waits(`/${index}`, index));
    expect(costliestOf(many, LINES)).toHaveLength(20);
  });
});

describe('Findings about nodes', () => {
  it('tell of contenders without a session, and of the second node of an upgrade alone', () => {
    const good = [
      { owner: 'a', mode: 'upgradeable' },
      { owner: '', upgrades: 0, readers: [] },
    ] as const;
    expect(orphans([seenWith('/a', good), seenWith('/b', [{ owner: 'w', mode: 'write' }])], NOW_MS, LINES)).toEqual([]);
    const waits = seenWith('/c', [{ owner: 'h' }, { owner: 'a', ephemeralOwner: 0n }]);
    expect(orphans([waits], NOW_MS, LINES)).toMatchObject([
      {
        severity: 'critical',
        key: '/c',
        advice: expect.stringContaining(`zkCli.sh delete '${waits.contenders[1]!.snapshot.nodePath}'`),
      },
    ]);
    expect(orphans([seenWith('/d', [{ owner: '', upgrades: 9 }])], NOW_MS, LINES)).toMatchObject([
      { severity: 'critical' },
    ]);
  });

  it('tell of a break that is over for long, and of a drain', () => {
    const breaking = { by: 'ada', reason: 'stuck', at: NOW_MS - MINUTE_MS };
    const broken = (at: number) =>
      seenWith('/a', [
        { owner: 'h', data: JSON.stringify({ clientId: 'c', owner: 'h', breaking: { ...breaking, at } }) },
      ]);
    expect(orphans([broken(NOW_MS - MINUTE_MS)], NOW_MS, LINES)).toMatchObject([{ severity: 'warning', key: '/a' }]);
    expect(orphans([broken(NOW_MS - 10_000)], NOW_MS, LINES)).toEqual([]);
    const marker = { key: '/a', path: '/app/a/~drained', drain: breaking, ageMs: 5_000, isPersistent: false };
    expect(staleMarkers([marker])).toEqual([]);
    expect(staleMarkers([{ ...marker, isPersistent: true }])[0]!.advice).toContain("delete '/app/a/~drained'");
    expect(
      staleMarkers([
        { ...marker, isPersistent: true },
        { ...marker, ageMs: 11 * MINUTE_MS },
      ]),
    ).toHaveLength(2);
  });

  it.each([
    ['of a queue in use', 2 * 5 - 1, 1, 5],
    ['of an empty one', 14, 0, 7],
    ['of a number that the servers show as negative', (2 * 1_500_000_000 - 3) | 0, 3, 1_500_000_000],
    ['of the last one', (2 * 2_147_483_647 - 1) | 0, 1, 2_147_483_647],
  ])('know the next number %s', (_what, cversion, numChildren, expected) => {
    expect(nextSequence({ cversion, numChildren })).toBe(expected);
  });

  it('tell of numbers that come to their end', () => {
    const used = (part: number, ...children: string[]) =>
      listedWith('/a', children, {
        cversion: (2 * Math.round(part * 2 ** 31) - children.length) | 0,
        numChildren: children.length,
      });
    const found = (part: number, ...children: string[]) => nearlyFull([used(part, ...children)], ({ path }) => path);
    expect(found(0.89)).toEqual([]);
    expect(found(0.91)).toMatchObject([{ severity: 'warning', key: '/a' }]);
    expect(found(0.995)).toMatchObject([{ severity: 'critical' }]);
    expect(found(0.91)[0]!.advice).not.toContain('~record');
    expect(found(0.91, '~record')[0]!.advice).toContain("zkCli.sh delete '/a/~record'");
  });

  it('tell of a session whose nodes fill half of a piece, and of a host with many sessions', () => {
    const places = (count: number, session?: number) =>
      Array.from({ length: count }, (_, at) => ({ owner: `${at}`, session: session ?? at }));
    const path = `/${'x'.repeat(996)}`;
    const [half] = crowdedSessions([seenWith(path, places(510, 1))]);
    expect(half).toMatchObject({
      severity: 'warning',
      text: expect.stringContaining('Session 0x100000001 (web-1, pid 7) has 510'),
    });
    expect(crowdedSessions([seenWith(path, places(1_000, 1))])).toMatchObject([{ severity: 'critical' }]);
    expect(crowdedSessions([seenWith(path, places(480, 1))])).toEqual([]);
    expect(crowdedHosts([seenWith('/a', places(47))])).toEqual([]);
    expect(crowdedHosts([seenWith('/a', places(48))])).toMatchObject([{ severity: 'notice', weight: 48 }]);
  });

  it('tell of strangers once for each place, however many they are', () => {
    const paths = Array.from({ length: 100_000 }, (_, index) => `/config/${index}`);
    const found = strangers([], [...paths, '/other/one']);
    expect(found.map(({ text }) => text)).toEqual([
      '100000 nodes below /config are no locks, and not of this package: /config/0, /config/1, /config/10 and 99997 more.',
      'A node below /other is no lock, and not of this package: /other/one.',
    ]);
  });

  it('tell of empty nodes only where it is known since when they are', () => {
    const old = NOW_MS - 11 * MINUTE_MS;
    const nodes = ['/unknown', '/young', '/old'].map((path) => listedWith(path, [], { cversion: 0 }));
    const since = new Map([
      ['/young', NOW_MS - MINUTE_MS],
      ['/old', old],
    ]);
    const [found, ...rest] = notReaped(nodes, ({ path }) => since.get(path), NOW_MS);
    expect(rest).toEqual([]);
    expect(found!.text).toMatch(/^An empty node stays .* 11 min: \/old\./);
  });
});

describe('The clock of transactions', () => {
  it('says of each the earliest time by which it was certainly over', () => {
    const clock = new ZxidClock();
    expect(clock.latest(1n)).toBeUndefined();
    for (const [zxid, at] of [
      [50n, 500],
      [10n, 100],
      [30n, 300],
      [30n, 310],
    ] as const)
      clock.learn(zxid, at);
    expect([5n, 10n, 11n, 30n, 50n, 51n].map((zxid) => clock.latest(zxid))).toEqual([
      100,
      100,
      300,
      300,
      500,
      undefined,
    ]);
  });
});

describe('The list of findings', () => {
  const finding = (kind: Weighed['kind'], severity: Weighed['severity'], weight = 0): Weighed => ({
    kind,
    severity,
    key: `/${weight}`,
    text: '',
    advice: '',
    weight,
  });

  it('has the worst first', () => {
    const found = worstFirst([
      finding('foreign node', 'notice'),
      finding('long hold', 'warning', 1),
      finding('long hold', 'warning', 9),
      finding('orphan', 'critical'),
      finding('deadlock', 'critical'),
    ]);
    expect(found.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      'deadlock /0',
      'orphan /0',
      'long hold /9',
      'long hold /1',
      'foreign node /0',
    ]);
    expect(found[0]).not.toHaveProperty('weight');
  });

  it('counts what is too much to be read', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => finding('long hold', 'warning', index));
    const found = worstFirst(many);
    expect(found).toHaveLength(MAX_OF_A_KIND + 1);
    expect(found[0]).toMatchObject({ key: '/9999' });
    expect(found.at(-1)!.text).toContain('9950 more findings "long hold"');
  });

  it.each([
    [0, '0 s'],
    [119_000, '119 s'],
    [150_000, '2 min'],
    [7_300_000, '2 h'],
    [200 * 3_600_000, '8 days'],
  ])('says %i ms as people do', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});
