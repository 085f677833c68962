import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ABANDONED_POLICIES, type AbandonedPolicy } from '../../../lib/lock/abandoned.js';
import {
  decideByRecord,
  encodeRecord,
  type KeyRecord,
  type Newcomer,
  parseRecord,
  type RecordedHolder,
  type RecordVerdict,
} from '../../../lib/queue/key-record.js';

const OWN = 'own';
const CHANGED_AT = 1_000;
const BUSY_MS = 100;
const [HOLDER_DELAY_MS, OWN_DELAY_MS] = [7, 3];

const holder = (name: string, policy: AbandonedPolicy, more: Partial<RecordedHolder> = {}): RecordedHolder => ({
  name,
  token: 5n,
  since: 900,
  policy,
  ...more,
});

const INSIDE: readonly (RecordedHolder | undefined)[] = [
  undefined,
  holder(OWN, 'hold', { busyMs: BUSY_MS, delayMs: HOLDER_DELAY_MS }),
  ...ABANDONED_POLICIES.flatMap((policy) => [
    holder('inside', policy),
    holder('inside', policy, { busyMs: BUSY_MS }),
    holder('inside', policy, { busyMs: BUSY_MS, beganAt: 950, delayMs: HOLDER_DELAY_MS }),
    holder('inside', policy, { delayMs: HOLDER_DELAY_MS, isDelayOver: true }),
  ]),
];
const ABANDONED = [undefined, ...ABANDONED_POLICIES.map((policy) => holder('abandoned', policy, { delayMs: 50 }))];
const LAST_RUNS = [undefined, { at: 940, busyMs: BUSY_MS }];
const RECORDS: readonly KeyRecord[] = INSIDE.flatMap((inside) =>
  ABANDONED.flatMap((abandoned) => LAST_RUNS.map((lastRun) => ({ inside, abandoned, lastRun }))),
);
const NEWCOMERS: readonly Newcomer[] = [undefined, ...ABANDONED_POLICIES].flatMap((policy) =>
  [undefined, 'inside', 'abandoned'].flatMap((waitedFor) =>
    [930, 945, 1_010, 1_045, 1_099, 1_100].flatMap((serverMs) =>
      [true, false].map((isClockNewer) => ({
        name: OWN,
        policy,
        canRecover: policy === 'recover',
        delayMs: policy === 'delay' ? OWN_DELAY_MS : 0,
        waitedFor,
        serverMs,
        isClockNewer,
      })),
    ),
  ),
);

/** Those that left something, the oldest first: every name in the record but the newcomer's own. */
const vanishedOf = ({ inside, abandoned }: KeyRecord): RecordedHolder[] =>
  [abandoned, inside].filter((one) => one !== undefined && one.name !== OWN) as RecordedHolder[];

/** The run that counts, and when it began. */
function runOf({ inside, lastRun }: KeyRecord): { readonly at: number; readonly busyMs: number } | undefined {
  if (inside?.name !== 'inside' || inside.busyMs === undefined) return lastRun;
  return { at: inside.beganAt ?? CHANGED_AT, busyMs: inside.busyMs };
}

describe('By the record of its key', () => {
  /** Asks in every small case there is. */
  function eachCase(check: (record: KeyRecord, newcomer: Newcomer, verdict: RecordVerdict) => boolean): number {
    const wrong: unknown[] = [];
    let cases = 0;
    for (const record of RECORDS) {
      for (const newcomer of NEWCOMERS) {
        const verdict = decideByRecord(record, CHANGED_AT, newcomer);
        cases += 1;
        if (!check(record, newcomer, verdict) && wrong.length < 3) wrong.push({ record, newcomer, verdict });
      }
    }
    expect(wrong).toEqual([]);
    return cases;
  }

  it('a contender is refused where anybody concerned wants the key closed, or recovered by one that can, and nowhere else', () => {
    const cases = eachCase((record, { policy, canRecover }, { kind }) => {
      const vanished = vanishedOf(record);
      const policies = [...vanished.map((one) => one.policy), policy];
      const isClosed = policies.includes('hold') || (policies.includes('recover') && !canRecover);
      return (kind === 'closed') === (vanished.length > 0 && isClosed);
    });
    expect(cases).toBe(RECORDS.length * NEWCOMERS.length);
  });

  it('one that enters, or is refused, is told of all that vanished, and of nobody else', () => {
    eachCase((record, _newcomer, verdict) => {
      if (verdict.kind !== 'enters' && verdict.kind !== 'closed') return true;
      const [first, second] = vanishedOf(record);
      return verdict.vanished?.holder === first && verdict.vanished?.recoverer === second;
    });
  });

  it('nobody enters before the longer of the two delays has passed after the last one that vanished', () => {
    eachCase((record, { delayMs, waitedFor }, verdict) => {
      const last = vanishedOf(record).at(-1);
      const forMs = Math.max(last?.delayMs ?? 0, delayMs);
      const isDue = last !== undefined && forMs > 0 && last.isDelayOver !== true && waitedFor !== last.name;
      if (verdict.kind === 'closed') return true;
      return verdict.kind === 'delayed' ? isDue && verdict.forMs === forMs && verdict.holder === last : !isDue;
    });
  });

  it('nobody enters who has not seen, on the clock of the servers, that the last run began long enough ago', () => {
    eachCase((record, { serverMs }, verdict) => {
      const run = runOf(record);
      return verdict.kind !== 'enters' || run === undefined || serverMs >= run.at + run.busyMs;
    });
  });

  it('the wait for that is never longer than the run was to have, and not shorter than what is known to be left of it', () => {
    eachCase((record, { serverMs }, verdict) => {
      if (verdict.kind !== 'busy') return true;
      const { at, busyMs } = runOf(record)!;
      return verdict.forMs > 0 && verdict.forMs === Math.min(busyMs, at + busyMs - serverMs);
    });
  });

  it('the clock counts as set back only for one that has looked at it since the record was changed', () => {
    eachCase((record, { serverMs, isClockNewer }, verdict) => {
      if (verdict.kind === 'closed' || verdict.kind === 'delayed') return true;
      const run = runOf(record);
      const isSetBack = run !== undefined && serverMs < run.at && isClockNewer;
      if (verdict.kind !== 'clock set back') return !isSetBack;
      return isSetBack && verdict.lastRun.at === serverMs && verdict.lastRun.busyMs === run.busyMs;
    });
  });

  it('a leader whose clock is ahead ends a run early, and one whose clock is behind lets the time count anew: never twice as long', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100_000, max: 100_000 }), fc.integer({ min: 0, max: 400 }), (jumpMs, laterMs) => {
        const at = 1_000_000;
        const newcomer = { ...NEWCOMERS[0]!, serverMs: at + laterMs + jumpMs, isClockNewer: true };
        const first = decideByRecord({ lastRun: { at, busyMs: BUSY_MS } }, at, newcomer);
        const { lastRun } = first.kind === 'clock set back' ? first : { lastRun: { at, busyMs: BUSY_MS } };
        const verdict = decideByRecord({ lastRun }, at, newcomer);
        if (verdict.kind === 'busy') expect(verdict.forMs).toBeLessThanOrEqual(BUSY_MS);
        else expect([verdict.kind, laterMs + jumpMs >= BUSY_MS]).toEqual(['enters', true]);
      }),
    );
  });
});

describe('Of what stands in the data of a key', () => {
  const policies = fc.constantFrom(...ABANDONED_POLICIES);
  const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
  const text = fc.string({ maxLength: 200 });
  const holders = fc.record({
    name: fc.string(),
    token: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
    since: fc.nat(),
    host: optional(text),
    pid: optional(fc.nat()),
    label: optional(text),
    policy: policies,
    delayMs: optional(fc.nat()),
    isDelayOver: optional(fc.constant(true)),
    busyMs: optional(fc.nat()),
    beganAt: optional(fc.nat()),
    checkpoint: optional(fc.jsonValue({ maxDepth: 2 })),
  });
  const records = fc.record({
    inside: optional(holders),
    abandoned: optional(holders),
    lastRun: optional(fc.record({ at: fc.nat(), busyMs: fc.nat() })),
  });

  it('all that was written is read again', () => {
    fc.assert(
      fc.property(records, (record) => {
        const data = encodeRecord(record);
        // JSON knows no negative zero.
        const asJson = (value: unknown): unknown =>
          JSON.parse(JSON.stringify(value, (_name, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one)));
        expect(asJson(parseRecord(data))).toEqual(asJson(record));
      }),
    );
  });

  /** Whatever is made of it must be fit to decide by, to be told, and to be written again. */
  function mustBeHarmless(data: Uint8Array): void {
    const record = parseRecord(data);
    for (const one of [record.inside, record.abandoned]) {
      if (one === undefined) continue;
      expect(ABANDONED_POLICIES).toContain(one.policy);
      expect(typeof one.token).toBe('bigint');
      for (const number of [one.since, one.delayMs ?? 0, one.busyMs ?? 0, one.beganAt ?? 0, one.pid ?? 0])
        expect(Number.isFinite(number)).toBe(true);
      // What is cut ends in an ellipsis.
      for (const shown of [one.host ?? '', one.label ?? '']) expect(shown.length).toBeLessThanOrEqual(256);
      expect(new Date(one.since).toISOString()).toBeDefined();
    }
    for (const newcomer of NEWCOMERS.slice(0, 12)) decideByRecord(record, CHANGED_AT, newcomer);
    expect(encodeRecord(record).length).toBeLessThanOrEqual(2 * Math.max(512, data.length));
  }

  it('any bytes are harmless', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), mustBeHarmless));
  });

  it('any JSON is harmless, also where the names are those of a record', () => {
    const strange = fc.oneof(fc.jsonValue(), holders, fc.constantFrom(1e308, -1, 'x'.repeat(300), [], {}));
    const strangeHolder = fc.record(
      Object.fromEntries(
        ['name', 'token', 'since', 'host', 'pid', 'label', 'policy', 'delayMs', 'busyMs', 'checkpoint'].map(
          (name) => [name, strange] as const,
        ),
      ),
      { requiredKeys: [] },
    );
    const member = fc.oneof(strange, strangeHolder);
    const value = fc.record({ inside: member, abandoned: member, lastRun: member }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), value), (data) => {
        const json = JSON.stringify(data, (_name, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
        mustBeHarmless(Buffer.from(json));
      }),
    );
  });

  it('what is too long, nested too deeply, or no text is no record', () => {
    const deep = `{"inside":${'['.repeat(16_000)}${']'.repeat(16_000)}}`;
    const long = JSON.stringify(
      { inside: holder('x', 'hold', { token: 1n }), rest: 'x'.repeat(40_000) },
      (_n, one: unknown) => (typeof one === 'bigint' ? '1' : one),
    );
    for (const data of [Buffer.from(deep), Buffer.from(long), Buffer.from([0xff, 0xfe])])
      expect(parseRecord(data)).toEqual({ inside: undefined, abandoned: undefined, lastRun: undefined });
  });
});
