import { describe, expect, it } from '@jest/globals';
import { type CheckName, commitTimesOf, type EnsembleMeasures } from '../../../../lib/extras/doctor/ensemble-check.js';
import { judgeEnsemble, worstOf } from '../../../../lib/extras/doctor/judge-ensemble.js';
import type { DistributedLockOptions } from '../../../../lib/options.js';
import { resolveOptions } from '../../../../lib/resolve-options.js';

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const SERVER = {
  server: 'zk1:2181',
  version: '3.8.4',
  role: 'follower',
  tlsProtocol: undefined,
  certificateUntil: undefined,
  failure: undefined,
};
const WELL: EnsembleMeasures = {
  servers: [SERVER, { ...SERVER, server: 'zk2:2181', role: 'leader' }],
  sessionTimeoutMs: { asked: 10_000, granted: 10_000 },
  sessionBoundsMs: { least: 4_000, most: 40_000 },
  commits: { count: 100, p50Ms: 2, p99Ms: 9, slowestMs: 12 },
  lockMs: 5,
  loopDelayMs: 2,
  serverClockAheadMs: 20,
};

interface Setting {
  readonly measures?: Partial<EnsembleMeasures>;
  readonly options?: Partial<DistributedLockOptions>;
  readonly maxCommitMs?: number;
}

function judge({ measures = {}, options = {}, maxCommitMs }: Setting) {
  const resolved = resolveOptions({ connect: 'zk1:2181', ...options });
  return judgeEnsemble({ ...WELL, ...measures }, { options: resolved, maxCommitMs, nowMs: NOW });
}

describe('The preflight', () => {
  it('lets one of a hundred writes be slower than p99', () => {
    const [slow, slower] = [Array.from({ length: 100 }, (_, index) => (index === 7 ? 900 : 2)), [900, 900]];
    expect(commitTimesOf(slow)).toEqual({ count: 100, p50Ms: 2, p99Ms: 2, slowestMs: 900 });
    expect(commitTimesOf([...slow.slice(0, 98), ...slower]).p99Ms).toBe(900);
    expect(commitTimesOf([3.14])).toEqual({ count: 1, p50Ms: 3.1, p99Ms: 3.1, slowestMs: 3.1 });
  });

  it('has nothing against an ensemble where all is well', () => {
    const items = judge({});
    expect(items.map(({ outcome, advice }) => [outcome, advice])).toEqual(Array(7).fill(['ok', undefined]));
    expect(worstOf(items)).toBe('ok');
  });

  it.each<[CheckName, 'warning' | 'failed', string, Setting]>([
    [
      'servers',
      'warning',
      'One server less',
      { measures: { servers: [SERVER, { ...SERVER, failure: 'connection refused' }] } },
    ],
    ['servers', 'warning', '3.8 and 3.9', { measures: { servers: [{ ...SERVER, version: '3.5.9' }] } }],
    ['servers', 'warning', 'Three survive', { measures: { servers: [{ ...SERVER, role: 'standalone' }] } }],
    ['tls', 'warning', 'plain text', { options: { auth: { username: 'ada', password: 'secret' } } }],
    [
      'tls',
      'warning',
      'Replace it',
      {
        options: { tls: {} },
        measures: { servers: [{ ...SERVER, tlsProtocol: 'TLSv1.3', certificateUntil: new Date(NOW + 13 * DAY_MS) }] },
      },
    ],
    [
      'session time-out',
      'warning',
      'Only what is granted',
      { measures: { sessionTimeoutMs: { asked: 60_000, granted: 40_000 } } },
    ],
    ['session time-out', 'warning', 'four ticks', { measures: { sessionTimeoutMs: { asked: 6_000, granted: 6_000 } } }],
    [
      'session time-out',
      'warning',
      'Ask for 8000',
      { measures: { sessionTimeoutMs: { asked: 6_000, granted: 6_000 } } },
    ],
    [
      'session time-out',
      'warning',
      'Raise maxSessionTimeout of the servers to 8000',
      { measures: { sessionTimeoutMs: { asked: 10_000, granted: 6_000 } } },
    ],
    ['ticks', 'failed', 'serverTickMs to 3000', { measures: { sessionBoundsMs: { least: 6_000, most: 60_000 } } }],
    ['ticks', 'warning', 'tickTime', { measures: { sessionBoundsMs: { least: 4_000, most: 60_000 } } }],
    ['commits', 'warning', 'dataLogDir', { measures: { commits: { count: 9, p50Ms: 2, p99Ms: 501, slowestMs: 501 } } }],
    [
      'commits',
      'failed',
      'dataLogDir',
      { measures: { commits: { count: 9, p50Ms: 2, p99Ms: 2_501, slowestMs: 3_000 } } },
    ],
    ['commits', 'failed', 'dataLogDir', { maxCommitMs: 8 }],
    ['clocks', 'warning', 'overloaded', { measures: { loopDelayMs: 1_001 } }],
    ['clocks', 'warning', 'NTP', { measures: { serverClockAheadMs: -6_000 } }],
  ])('judges %s: %s, %s', (name, outcome, advice, setting) => {
    const items = judge(setting);
    expect(items.filter((item) => item.outcome !== 'ok')).toEqual([
      { name, outcome, text: expect.any(String), advice: expect.stringContaining(advice) },
    ]);
    expect(worstOf(items)).toBe(outcome);
    expect(JSON.stringify(items)).not.toContain('secret');
  });

  it('leaves out what was not measured', () => {
    const measures = {
      sessionTimeoutMs: undefined,
      sessionBoundsMs: undefined,
      commits: undefined,
      lockMs: undefined,
      loopDelayMs: undefined,
    };
    expect(judge({ measures }).map(({ name }) => name)).toEqual(['servers', 'tls']);
  });
});
